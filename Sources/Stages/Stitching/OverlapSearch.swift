// Where two captures of a page may overlap, and where they do so best.

/// Steps of 255 by which captures differ that were not, and that were, compressed with losses.
let losslessTolerance = 1
private let lossyTolerance = 20
/// Rows that are compared at each offset, so that the search takes time in proportion to the rows of a capture.
private let mostSamples = 64
/// Offsets that are looked at closely.
private let mostCandidates = 48
/// And so many of those at which the rows differ least.
private let mostNearest = 16
/// Offsets as near to each other as this are one.
private let leastDistance = 4

/// The offset at which two captures fit best, and others.
struct OverlapChoice {
    var best: OverlapFit
    /// Others that the best one does not exclude.
    var rivals: [OverlapFit]
    /// All others at which no more rows differ than at the best, be they of a bar or not.
    let equals: [OverlapFit]

    /// Whether so much differs that the captures may have been compressed with losses.
    fileprivate var isDoubtful: Bool { best.same < 3 * best.other + best.bars / 2 }
}

extension CapturePair {
    /// The offset at which both fit best; nil if they fit nowhere.
    var choice: OverlapChoice? {
        guard first.width == second.width else { return nil }
        // On a page that repeats itself, much of it seems not to scroll.
        return likelyChoice ?? scrollingAsAWhole.likelyChoice
    }

    private var scrollingAsAWhole: CapturePair {
        CapturePair(
            first: first, second: second, firstFixed: FixedPlaces(none: first), secondFixed: FixedPlaces(none: second))
    }

    private var likelyChoice: OverlapChoice? {
        let lossless = choice(tolerance: losslessTolerance)
        guard lossless?.isDoubtful ?? true else { return lossless }
        guard let lossy = choice(tolerance: lossyTolerance) else { return lossless }
        if let lossless, let fit = fit(lossless.best.offset, tolerance: lossyTolerance), !lossy.best.excludes(fit) {
            return lossless
        }
        return lossy
    }

    /// Whether the second capture shows what the first one shows, but for a bar at the top.
    var showsNothingNew: Bool {
        guard first.count == second.count, first.width == second.width else { return false }
        return (0..<second.count).allSatisfy { row in
            secondFixed.isBar[row] && row * 10 < second.count
                || second.places(row).allSatisfy {
                    apart(first.lightness[$0], second.lightness[$0]) <= losslessTolerance
                }
        }
    }

    private func choice(tolerance: Int) -> OverlapChoice? {
        let all = candidates(tolerance: tolerance).compactMap { fit($0, tolerance: tolerance) }
        // The most alike of neighbours.
        let fits = all.filter { fit in
            !all.contains { abs($0.offset - fit.offset) <= leastDistance && $0.difference < fit.difference }
        }
        let ranked = fits.map { fit in (fit: fit, wins: fits.count { fit.isBetter(than: $0) }) }
        guard let best = ranked.max(by: { ($0.wins, $0.fit.offset) < ($1.wins, $1.fit.offset) })?.fit else {
            return nil
        }
        let others = fits.filter { $0.offset != best.offset }
        return OverlapChoice(
            best: best, rivals: others.filter { !best.excludes($0) },
            equals: others.filter { $0.other <= best.other && $0.excused <= best.excused })
    }

    /// The offsets at which the longest runs of rows show the same, and those at which all rows differ least: of captures
    /// with little contrast that were compressed with losses, all are the same within the tolerance. They are judged by
    /// some of the rows.
    private func candidates(tolerance: Int) -> [Int] {
        let telling = (0..<second.count).filter { row in
            second.places(row).contains { second.edges[$0] && !secondFixed.isCovered[$0] }
        }
        var (longest, nearest): (Scores, Scores) = ([], [])
        var available = telling.count
        for offset in stride(from: 1, to: first.count, by: 1) {
            while available > 0, telling[available - 1] + offset >= first.count { available -= 1 }
            guard available > 0 else { break }
            let samples = min(available, mostSamples)
            let rows = (0..<samples).lazy.map { telling[(2 * $0 + 1) * available / (2 * samples)] }
            let found = compare(rows, offset: offset, tolerance: tolerance)
            longest.append((offset, Double(found.longestRun * available) / Double(samples)))
            nearest.append((offset, -Double(found.difference) / Double(samples)))
        }
        let chosen = best(mostCandidates, of: longest)
        guard tolerance == lossyTolerance else { return chosen }
        return chosen + best(mostNearest, of: nearest).filter { !chosen.contains($0) }
    }

    private typealias Scores = [(offset: Int, score: Double)]

    /// The offsets with the highest scores that are not next to each other.
    private func best(_ most: Int, of scores: Scores) -> [Int] {
        var chosen: [Int] = []
        for (offset, _) in scores.sorted(by: { ($0.score, $0.offset) > ($1.score, $1.offset) }) {
            guard !chosen.contains(where: { abs($0 - offset) <= leastDistance }) else { continue }
            chosen.append(offset)
            if chosen.count == most { break }
        }
        return chosen
    }

    /// How much the rows that follow each other and show the same outweigh those that do not, and the sum of all
    /// differences.
    private func compare(
        _ rows: some Sequence<Int>, offset: Int, tolerance: Int
    ) -> (longestRun: Int, difference: Int) {
        let columns = CaptureRows.columns
        return first.lightness.withUnsafeBufferPointer { left in
            second.lightness.withUnsafeBufferPointer { right in
                var (sum, longest, difference) = (0, 0, 0)
                for row in rows {
                    let (a, b) = ((row + offset) * columns, row * columns)
                    var differing = 0
                    for column in 0..<columns {
                        let distance = apart(left[a + column], right[b + column])
                        difference += distance
                        if distance > tolerance, differs(a + column, b + column, tolerance: tolerance) {
                            differing += 1
                        }
                    }
                    sum = max(0, sum + max(2 - differing, -4))
                    longest = max(longest, sum)
                }
                return (longest, difference)
            }
        }
    }
}
