// How far captures of a scrolled page repeat each other. Rows are compared as wholes: in captures that were not compressed with losses, what
// repeats is equal to the bit; in others it is alike.
import Glibc
import Pipeline
import Vips

/// A capture as rows that can be compared.
struct CaptureRows {
    /// A number for each row that is equal where rows are.
    let hashes: [UInt64]
    /// How often the colour changes along each row: a row of one colour says nothing, one through a line of text much.
    let changes: [Int]
    /// Each row's lightness in `columns` places, one row after the other.
    let lightness: [Float]
    /// In how many places each row occurs; equal rows that follow each other are one place.
    let places: [UInt64: Int]

    static let columns = 48
    var count: Int { hashes.count }

    init(_ image: Image) throws {
        let bytes = try image.pixels()
        let stride = bytes.count / image.height
        let pixel = stride / image.width
        var hashes: [UInt64] = []
        var changes: [Int] = []
        bytes.withUnsafeBytes { bytes in
            for row in 0..<image.height {
                let line = UnsafeRawBufferPointer(rebasing: bytes[(row * stride)..<((row + 1) * stride)])
                hashes.append(hash(line))
                changes.append(countChanges(line, pixel: pixel))
            }
        }
        (self.hashes, self.changes) = (hashes, changes)
        let starts = hashes.indices.filter { $0 == 0 || hashes[$0] != hashes[$0 - 1] }
        places = Dictionary(starts.map { (hashes[$0], 1) }, uniquingKeysWith: +)
        let grey = try image.droppingAlpha().colourspace("b-w").cast(.uchar)
        lightness = try grey.scaled(to: PixelSize(Self.columns, image.height), kernel: .linear).pixels().map(Float.init)
    }
}

private func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var index = 0
    while index + 8 <= bytes.count {
        hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        index += 8
    }
    for byte in bytes[index...] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
}

private func countChanges(_ line: UnsafeRawBufferPointer, pixel: Int) -> Int {
    guard let start = line.baseAddress, memcmp(start, start + pixel, line.count - pixel) != 0 else { return 0 }
    return stride(from: pixel, to: line.count, by: pixel).reduce(0) { $0 + (memcmp(start + $1 - pixel, start + $1, pixel) == 0 ? 0 : 1) }
}

/// Changes of colour, in rows that differ from each other, below which two captures may be equal by chance: lines and boxes have few.
private let leastChanges = 24
/// How much more a row tells that each capture has in one place only: what a page repeats, such as a line between entries, is met again and again.
private let weightOfRareRow = 4

/// Which rows of each capture are new. A capture that repeats nothing of the one before begins at its first row.
func newParts(of captures: [CaptureRows]) -> [Range<Int>] {
    var parts = captures.map { 0..<$0.count }
    for index in captures.indices.dropFirst() {
        // What stands still shows in the neighbours: a header may appear with the second capture only, a footer end with the last but one.
        let headers = [0, sameTop(captures, index - 1, index), sameTop(captures, index, index + 1)]
        let footers = [0, sameBottom(captures, index - 1, index), sameBottom(captures, index - 2, index - 1)]
        guard let overlap = overlap(captures[index - 1], captures[index], headers: headers, footers: footers) else { continue }
        parts[index - 1] = parts[index - 1].lowerBound..<max(parts[index - 1].lowerBound, captures[index - 1].count - overlap.footer)
        parts[index] = (overlap.header + overlap.rows)..<captures[index].count
    }
    return parts
}

/// How two captures meet.
struct Overlap: Equatable {
    /// Rows at the top of the second that stand still.
    let header: Int
    /// Rows at the bottom of the first that stand still.
    let footer: Int
    /// Rows below the header that the first has shown.
    let rows: Int
}

private func sameTop(_ captures: [CaptureRows], _ first: Int, _ second: Int) -> Int {
    guard captures.indices.contains(first), captures.indices.contains(second) else { return 0 }
    return zip(captures[first].hashes, captures[second].hashes).prefix { $0 == $1 }.count
}

private func sameBottom(_ captures: [CaptureRows], _ first: Int, _ second: Int) -> Int {
    guard captures.indices.contains(first), captures.indices.contains(second) else { return 0 }
    return zip(captures[first].hashes.reversed(), captures[second].hashes.reversed()).prefix { $0 == $1 }.count
}

/// How the second capture repeats the first; nil where no repetition is certain.
private func overlap(_ first: CaptureRows, _ second: CaptureRows, headers: [Int], footers: [Int]) -> Overlap? {
    var best: (overlap: Overlap, evidence: Int)?
    for header in Set(headers).sorted() {
        for footer in Set(footers).sorted() {
            guard let (rows, evidence) = equalRows(first, second, header: header, footer: footer), evidence > best?.evidence ?? 0 else { continue }
            best = (Overlap(header: header, footer: footer, rows: rows), evidence)
        }
    }
    return best?.overlap ?? alikeRows(first, second)
}

/// The most rows with which the second goes on where the first ends, and how much there is to see in them.
private func equalRows(_ first: CaptureRows, _ second: CaptureRows, header: Int, footer: Int) -> (rows: Int, evidence: Int)? {
    let end = first.count - footer
    guard end > 0, header < second.count else { return nil }
    let repeated = second.hashes[header...]
    let matches = prefixMatches(of: Array(repeated), in: Array(first.hashes[..<end]))
    // The earliest row of the first from which on all is equal makes the longest overlap.
    guard let start = matches.indices.first(where: { matches[$0] == end - $0 }) else { return nil }
    let rows = end - start
    guard let evidence = evidence(first, second, header..<(header + rows)) else { return nil }
    return (rows, evidence)
}

/// All changes of colour in rows of the second capture that the first has too; nil where they are too few to tell anything.
private func evidence(_ first: CaptureRows, _ second: CaptureRows, _ rows: Range<Int>) -> Int? {
    let distinct = Dictionary(rows.map { (second.hashes[$0], second.changes[$0]) }) { changes, _ in changes }
    let told = distinct.reduce(0) { sum, row in
        let isRare = second.places[row.key] == 1 && first.places[row.key] ?? 1 == 1
        return sum + row.value * (isRare ? weightOfRareRow : 1)
    }
    return told < leastChanges ? nil : rows.reduce(0) { $0 + second.changes[$1] }
}

/// How many elements from each place on are those that the pattern begins with (the Z function).
private func prefixMatches(of pattern: [UInt64], in text: [UInt64]) -> [Int] {
    let all = pattern.map(Optional.some) + [nil] + text.map(Optional.some)
    var lengths = [Int](repeating: 0, count: all.count)
    var (left, right) = (0, 0)
    for index in all.indices.dropFirst() {
        if index < right { lengths[index] = min(right - index, lengths[index - left]) }
        while index + lengths[index] < all.count, all[lengths[index]] == all[index + lengths[index]], all[lengths[index]] != nil {
            lengths[index] += 1
        }
        if index + lengths[index] > right { (left, right) = (index, index + lengths[index]) }
    }
    return Array(lengths[(pattern.count + 1)...])
}

// MARK: - Captures that were compressed with losses

/// Steps of 255 by which rows that are the same may differ.
private let tolerance: Float = 4

private func alikeRows(_ first: CaptureRows, _ second: CaptureRows) -> Overlap? {
    let header = alikeCount(first, second, fromBottom: false)
    let footer = alikeCount(first, second, fromBottom: true)
    var best: (overlap: Overlap, difference: Float)?
    for (header, footer) in [(0, 0), (header, 0), (0, footer), (header, footer)] where header < second.count && footer < first.count {
        guard let found = alikeRows(first, second, header: header, footer: footer) else { continue }
        if found.difference < best?.difference ?? tolerance { best = found }
    }
    return best?.overlap
}

private func alikeCount(_ first: CaptureRows, _ second: CaptureRows, fromBottom: Bool) -> Int {
    let limit = min(first.count, second.count)
    return (0..<limit).first { row in
        difference(first, fromBottom ? first.count - 1 - row : row, second, fromBottom ? second.count - 1 - row : row, rows: 1) > tolerance
    } ?? 0
}

/// The overlap at which the rows differ least, where that is little, and far less than at the others.
private func alikeRows(_ first: CaptureRows, _ second: CaptureRows, header: Int, footer: Int) -> (overlap: Overlap, difference: Float)? {
    let end = first.count - footer
    let most = min(end, second.count - header - footer)
    let least = max(8, most / 50)
    guard least < most else { return nil }
    let differences = (least...most).map { difference(first, end - $0, second, header, rows: $0) }
    guard let (index, smallest) = differences.enumerated().min(by: { $0.element < $1.element }), smallest < tolerance else { return nil }
    let usual = differences.sorted()[differences.count / 2]
    let rows = least + index
    guard smallest * 3 < usual, evidence(first, second, header..<(header + rows)) != nil else { return nil }
    return (Overlap(header: header, footer: footer, rows: rows), smallest)
}

/// The mean difference of so many rows, in steps of 255.
private func difference(_ first: CaptureRows, _ a: Int, _ second: CaptureRows, _ b: Int, rows: Int) -> Float {
    let columns = CaptureRows.columns
    return first.lightness.withUnsafeBufferPointer { left in
        second.lightness.withUnsafeBufferPointer { right in
            var sum: Float = 0
            let (x, y) = (a * columns, b * columns)
            for index in 0..<(rows * columns) { sum += abs(left[x + index] - right[y + index]) }
            return sum / Float(rows * columns)
        }
    }
}
