// A capture as rows that can be compared with those of another one.
import Glibc
import Pipeline
import Vips

/// The rows of a capture: numbers for whole rows and for parts of them, and their lightness.
struct CaptureRows {
    let width: Int
    /// A number for each row that is equal if rows are.
    let hashes: [UInt64]
    /// How often the colour changes along each row: a row of one colour says nothing, one through a line of text much.
    let changes: [Int]
    /// A row is divided into so many parts of the same width.
    let parts: Int
    /// A number for each part of each row, one row after the other; 0 for a part of one colour.
    let partHashes: [UInt64]
    /// The colour of parts that have one only; 0 for the others.
    private let partColours: [UInt64]
    /// Each row's lightness in `columns` places, one row after the other.
    let lightness: [Float]
    /// In how many places each row occurs; equal rows that follow each other are one place.
    let places: [UInt64: Int]
    /// In how many places a row is followed by another one.
    private let steps: [UInt64: Int]

    static let columns = 48
    private static let mostParts = 16
    /// The fewest pixels of a part.
    private static let leastPart = 4

    var count: Int { hashes.count }

    init(_ image: Image) throws {
        let bytes = try image.pixels()
        let stride = bytes.count / image.height
        let pixel = stride / image.width
        width = image.width
        let parts = max(1, min(Self.mostParts, image.width / Self.leastPart))
        var hashes: [UInt64] = []
        var changes: [Int] = []
        var partHashes: [UInt64] = []
        var partColours: [UInt64] = []
        bytes.withUnsafeBytes { bytes in
            for row in 0..<image.height {
                let line = UnsafeRawBufferPointer(rebasing: bytes[(row * stride)..<((row + 1) * stride)])
                hashes.append(hash(line))
                changes.append(countChanges(line, pixel: pixel))
                for part in 0..<parts {
                    let bounds = (part * image.width / parts * pixel)..<((part + 1) * image.width / parts * pixel)
                    let piece = UnsafeRawBufferPointer(rebasing: line[bounds])
                    let isPlain = hasOneColour(piece, pixel: pixel)
                    partHashes.append(isPlain ? 0 : hash(piece))
                    partColours.append(isPlain ? hash(UnsafeRawBufferPointer(rebasing: piece[..<pixel])) : 0)
                }
            }
        }
        self.parts = parts
        (self.hashes, self.changes, self.partHashes, self.partColours) = (hashes, changes, partHashes, partColours)
        let starts = hashes.indices.filter { $0 == 0 || hashes[$0] != hashes[$0 - 1] }
        places = Dictionary(starts.map { (hashes[$0], 1) }, uniquingKeysWith: +)
        steps = Dictionary(hashes.indices.dropLast().map { (Self.step(hashes, $0), 1) }, uniquingKeysWith: +)
        let grey = try image.droppingAlpha().colourspace(.bw).cast(.uchar)
        lightness = try grey.scaled(to: PixelSize(Self.columns, image.height), kernel: .linear).pixels().map(Float.init)
    }

    private static func step(_ hashes: [UInt64], _ row: Int) -> UInt64 {
        (hashes[row] &* 0x9E37_79B9_7F4A_7C15) ^ hashes[row + 1]
    }

    /// How often the colour changes along rows at which the capture changes as it does nowhere else, and the other one
    /// at most once.
    func uniqueChanges(in rows: Range<Int>, and other: CaptureRows) -> Int {
        rows.dropLast().reduce(0) { sum, row in
            let step = Self.step(hashes, row)
            let isUnique = hashes[row] != hashes[row + 1] && steps[step] == 1 && other.steps[step] ?? 1 == 1
            return isUnique ? sum + max(changes[row], changes[row + 1]) : sum
        }
    }

    /// How many parts of a row are equal to those of a row of another capture, and how many of these are not of one
    /// colour.
    func equalParts(row: Int, _ other: CaptureRows, row otherRow: Int) -> (all: Int, telling: Int) {
        var counts = (all: 0, telling: 0)
        for part in 0..<parts {
            let (a, b) = (row * parts + part, otherRow * parts + part)
            guard partHashes[a] == other.partHashes[b], partColours[a] == other.partColours[b] else { continue }
            counts.all += 1
            if partHashes[a] != 0 { counts.telling += 1 }
        }
        return counts
    }

    /// The rows at which a part shows something that it shows nowhere else, by a number for what it shows.
    func uniquePlaces(part: Int) -> [UInt64: Int] {
        var places: [UInt64: Int] = [:]
        guard count >= Self.rowsOfPlace else { return [:] }
        for row in 0...(count - Self.rowsOfPlace) {
            let window = (row..<(row + Self.rowsOfPlace)).map { $0 * parts + part }
            guard window.contains(where: { partHashes[$0] != 0 }) else { continue }
            let number = window.reduce(into: UInt64(1)) {
                $0 = ($0 &* 0x9E37_79B9_7F4A_7C15) ^ partHashes[$1] ^ (partColours[$1] << 1)
            }
            places[number] = places[number] == nil ? row : -1
        }
        return places.filter { $0.value >= 0 }
    }

    /// So many rows one below the other make what is shown at a place.
    private static let rowsOfPlace = 4
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

private func hasOneColour(_ line: UnsafeRawBufferPointer, pixel: Int) -> Bool {
    guard let start = line.baseAddress else { return true }
    return memcmp(start, start + pixel, line.count - pixel) == 0
}

private func countChanges(_ line: UnsafeRawBufferPointer, pixel: Int) -> Int {
    guard let start = line.baseAddress, !hasOneColour(line, pixel: pixel) else { return 0 }
    return stride(from: pixel, to: line.count, by: pixel).reduce(0) {
        $0 + (memcmp(start + $1 - pixel, start + $1, pixel) == 0 ? 0 : 1)
    }
}
