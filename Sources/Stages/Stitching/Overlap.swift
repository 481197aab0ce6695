// How far captures of a scrolled page repeat each other, and where one is cut and the next one goes on.

/// Where two captures of a page meet.
struct Seam: Equatable {
    /// A row of the second capture shows what the row with this number more of the first one shows.
    let offset: Int
    /// The first row that is taken from the second capture.
    var row: Int
    /// Other overlaps fit as well.
    var isAmbiguous = false
}

/// A capture, and the one that follows it.
struct CapturePair {
    let first, second: CaptureRows
}

/// What is taken of a capture.
struct CapturePart: Equatable {
    var rows: Range<Int>
    /// How it goes on from the capture before.
    var kind = Kind.joined

    enum Kind: Double {
        case joined = 0
        /// Other overlaps fit as well.
        case ambiguous = 0.5
        /// It repeats nothing of the capture before.
        case lost = 1
    }
}

/// Which rows of each capture are taken. A capture that repeats nothing of the one before begins at its first row.
func newParts(of captures: [CaptureRows]) -> [CapturePart] {
    var parts = captures.map { CapturePart(rows: 0..<$0.count) }
    for index in captures.indices.dropFirst() {
        guard let seam = seam(before: index, in: captures) else {
            parts[index].kind = .lost
            continue
        }
        // The first capture may begin below the place that would be best.
        let row = min(captures[index].count, max(seam.row, parts[index - 1].rows.lowerBound - seam.offset))
        parts[index - 1].rows =
            parts[index - 1].rows.lowerBound..<max(parts[index - 1].rows.lowerBound, row + seam.offset)
        parts[index] = CapturePart(rows: row..<captures[index].count, kind: seam.isAmbiguous ? .ambiguous : .joined)
    }
    return parts
}

/// Where a capture meets the one before; nil if no repetition is certain.
private func seam(before index: Int, in captures: [CaptureRows]) -> Seam? {
    // What is fixed on the screen shows in the neighbours: a header may appear with the second capture only, a footer
    // end with the last but one.
    let headers = [
        0, sameTop(of: index - 1, and: index, in: captures), sameTop(of: index, and: index + 1, in: captures),
    ]
    let footers = [
        0, sameBottom(of: index - 1, and: index, in: captures), sameBottom(of: index - 2, and: index - 1, in: captures),
    ]
    let pair = CapturePair(first: captures[index - 1], second: captures[index])
    return pair.equalSeam(headers: headers, footers: footers) ?? pair.votedSeam ?? pair.alikeSeam
}

private func sameTop(of first: Int, and second: Int, in captures: [CaptureRows]) -> Int {
    guard captures.indices.contains(first), captures.indices.contains(second) else { return 0 }
    return zip(captures[first].hashes, captures[second].hashes).prefix { $0 == $1 }.count
}

private func sameBottom(of first: Int, and second: Int, in captures: [CaptureRows]) -> Int {
    guard captures.indices.contains(first), captures.indices.contains(second) else { return 0 }
    return zip(captures[first].hashes.reversed(), captures[second].hashes.reversed()).prefix { $0 == $1 }.count
}

// MARK: - Rows that are equal as a whole

/// Changes of colour, in rows that differ from each other, below which two captures may be equal by chance: lines and
/// boxes have few.
private let leastChanges = 24
/// How much more a row tells that each capture has in one place only: what a page repeats, such as a line between
/// entries, is met again and again.
private let weightOfRareRow = 4

extension CapturePair {
    /// The seam in the middle of rows that are equal to the bit; nil if there are none that tell enough.
    fileprivate func equalSeam(headers: [Int], footers: [Int]) -> Seam? {
        var best: (seam: Seam, evidence: Int)?
        for header in Set(headers).sorted() {
            for footer in Set(footers).sorted() {
                guard let (seam, evidence) = equalSeam(header: header, footer: footer), evidence > best?.evidence ?? 0
                else { continue }
                best = (seam, evidence)
            }
        }
        return best?.seam
    }

    /// The seam if so many rows at the top of the second, and at the bottom of the first, are fixed on the screen; and
    /// how much there is to see in what repeats.
    private func equalSeam(header: Int, footer: Int) -> (seam: Seam, evidence: Int)? {
        let end = first.count - footer
        guard end > 0, header < second.count else { return nil }
        let matches = prefixMatches(of: Array(second.hashes[header...]), in: Array(first.hashes[..<end]))
        // From such a row of the first on, all is equal to what the second begins with.
        let starts = matches.indices.filter { matches[$0] == end - $0 }
        // The earliest row makes the longest overlap.
        func changes(_ start: Int) -> Int? { evidence(in: header..<(header + end - start)) }
        guard let longest = starts.first, let evidence = changes(longest) else { return nil }
        // A change that each capture has in one place leaves no doubt. Else the smallest overlap leaves nothing of the
        // page out.
        let isUnique =
            second.uniqueChanges(in: header..<(header + end - longest), and: first) * weightOfRareRow >= leastChanges
        let smallest = isUnique ? longest : starts[lastIndex(of: starts) { changes($0) != nil }]
        let seam = Seam(offset: smallest - header, row: header + (end - smallest) / 2, isAmbiguous: smallest != longest)
        return (seam, evidence)
    }

    /// All changes of colour in rows of the second capture that the first has too; nil if they are too few to tell
    /// anything.
    private func evidence(in rows: Range<Int>) -> Int? {
        let distinct = Dictionary(rows.map { (second.hashes[$0], second.changes[$0]) }) { changes, _ in changes }
        let told = distinct.reduce(0) { sum, row in
            let isRare = second.places[row.key] == 1 && first.places[row.key] ?? 1 == 1
            return sum + row.value * (isRare ? weightOfRareRow : 1)
        }
        return told < leastChanges ? nil : rows.reduce(0) { $0 + second.changes[$1] }
    }
}

/// The last index of a list that begins with elements of which something is true, and ends with those of which it is
/// not.
private func lastIndex(of list: [Int], where isTrue: (Int) -> Bool) -> Int {
    var (low, high) = (0, list.count)
    while high - low > 1 {
        let middle = (low + high) / 2
        if isTrue(list[middle]) { low = middle } else { high = middle }
    }
    return low
}

/// How many elements from each place on are those that the pattern begins with (the Z function).
private func prefixMatches(of pattern: [UInt64], in text: [UInt64]) -> [Int] {
    let all = pattern.map(Optional.some) + [nil] + text.map(Optional.some)
    var lengths = [Int](repeating: 0, count: all.count)
    var (left, right) = (0, 0)
    for index in all.indices.dropFirst() {
        if index < right { lengths[index] = min(right - index, lengths[index - left]) }
        while index + lengths[index] < all.count, all[lengths[index]] == all[index + lengths[index]],
            all[lengths[index]] != nil
        {
            lengths[index] += 1
        }
        if index + lengths[index] > right { (left, right) = (index, index + lengths[index]) }
    }
    return Array(lengths[(pattern.count + 1)...])
}
