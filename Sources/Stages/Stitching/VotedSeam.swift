// Captures with something fixed or floating over them: a button, a translucent bar, the line that leads home. What most
// columns show decides.

/// What only one place of each capture shows votes for the offset between the two; so many votes are no chance.
private let leastVotes = 16
/// The largest share of a capture that a bar may cover.
private let largestBar = 0.3
/// Offsets that are looked at more closely.
private let mostCandidates = 4

extension CapturePair {
    /// The seam at which most columns agree; nil if no offset is certain.
    var votedSeam: Seam? {
        guard first.width == second.width else { return nil }
        let candidates = votes.filter { $0.value >= leastVotes }.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
        // What is fixed on the screen votes for no offset at all, and has the most votes.
        let moved = candidates.filter { $0.key > 0 }.prefix(mostCandidates)
        let seams = (moved + candidates.filter { $0.key == 0 }).compactMap { candidate in
            agreeingSeam(offset: candidate.key).map { (seam: $0, votes: candidate.value) }
        }
        guard var best = seams.first?.seam else { return nil }
        best.isAmbiguous = seams.dropFirst().contains { $0.seam.offset > 0 && $0.votes * 2 > seams[0].votes }
        return best
    }

    /// How many places of the two captures show the same at each offset, from 0.
    private var votes: [Int: Int] {
        var votes: [Int: Int] = [:]
        for part in 0..<first.parts {
            let places = first.uniquePlaces(part: part)
            for (number, row) in second.uniquePlaces(part: part) {
                guard let other = places[number], other >= row else { continue }
                votes[other - row, default: 0] += 1
            }
        }
        return votes
    }

    /// The seam at an offset: in the middle of the longest run of rows that agree as a whole, within the rows that
    /// agree in most columns.
    /// - Returns: nil if these rows are not all of the overlap but for a bar at the top of the second and one at the
    ///   bottom of the first.
    private func agreeingSeam(offset: Int) -> Seam? {
        let rows = min(first.count - offset, second.count)
        let equal = (0..<rows).map { second.equalParts(row: $0, first, row: $0 + offset) }
        let agreeing = longestRun(in: 0..<rows) { equal[$0].all * 2 > first.parts }
        let telling = agreeing.reduce(0) { $0 + equal[$1].telling }
        guard telling >= leastVotes, Double(agreeing.lowerBound) <= largestBar * Double(second.count),
            Double(rows - agreeing.upperBound) <= largestBar * Double(first.count)
        else { return nil }
        let clean = longestRun(in: agreeing) { equal[$0].all == first.parts }
        return Seam(offset: offset, row: (clean.isEmpty ? agreeing : clean).middle)
    }
}

/// The longest run of rows of which something is true; empty if it is of none.
func longestRun(in rows: Range<Int>, where isPart: (Int) -> Bool) -> Range<Int> {
    var (longest, start) = (rows.lowerBound..<rows.lowerBound, rows.lowerBound)
    for row in rows {
        guard isPart(row) else {
            start = row + 1
            continue
        }
        if row + 1 - start > longest.count { longest = start..<(row + 1) }
    }
    return longest
}

extension Range<Int> {
    var middle: Int { lowerBound + count / 2 }
}
