// How well two captures fit together at one offset, and which of two offsets fits better.

/// A capture, the one that follows it, and what does not scroll in both.
struct CapturePair {
    let first, second: CaptureRows
    let firstFixed, secondFixed: FixedPlaces

    /// Whether a place of both shows something else, although neither shows anything there that does not scroll.
    @inline(__always)
    func differs(_ firstPlace: Int, _ secondPlace: Int, tolerance: Int) -> Bool {
        apart(first.lightness[firstPlace], second.lightness[secondPlace]) > tolerance
            && !firstFixed.isCovered[firstPlace] && !secondFixed.isCovered[secondPlace]
    }
}

/// The fit of two captures at an offset.
struct OverlapFit {
    /// The content of a row of the second capture as far as the first one repeats it.
    enum Row {
        /// Nothing to see, or only what does not scroll.
        case plain
        case same, other
    }

    /// A row of the second capture shows what the row with this number more of the first one shows.
    let offset: Int
    /// Steps of 255 by which places that show the same may differ.
    let tolerance: Int
    let rows: [Row]
    /// The longest run of rows without any that shows something else.
    let run: Range<Int>
    /// Rows that show the same, and rows that show something else and are of no bar.
    let same, other: Int
    /// Rows at the top and the bottom that show something else throughout, as under a translucent bar.
    let bars: Int
    /// Rows that show something else and are of some bar.
    let excused: Int
    /// How far places of the run are apart, on average in steps of 255.
    let difference: Double
}

/// The largest share of a capture that may lie above and below the run.
private let largestMargin = 0.3
/// The largest share of a capture that a translucent bar may cover.
private let largestBar = 0.15
/// Rows that show the same, below which captures may be alike by chance.
private let leastRows = 8
/// Rows so far from each other differ in what a page shows, if anything does.
private let rowsOfContrast = 4
/// How much more a row that shows something else tells than one that shows the same.
private let weightOfOther = 16
/// So many rows beyond the smaller of two overlaps tell as much as one row that shows something else: the more if one
/// of them does.
private let (rowsBeyond, doubtfulRowsBeyond) = (5, 20)

extension CapturePair {
    /// The fit of both at an offset; nil if they share too little, or if too much of it is different.
    func fit(_ offset: Int, tolerance: Int) -> OverlapFit? {
        let count = min(first.count - offset, second.count)
        // Captures that were compressed with losses differ a little here and there.
        let allowed = tolerance == losslessTolerance ? 0 : 1
        var rows: [OverlapFit.Row] = []
        var isBar: [Bool] = []
        for row in 0..<count {
            let (differing, hasEdges) = compare(row: row, offset: offset, tolerance: tolerance)
            rows.append(differing > allowed ? .other : hasEdges ? .same : .plain)
            isBar.append(secondFixed.isBar[row] || firstFixed.isBar[row + offset])
        }
        let run = longestRun(in: rows)
        guard Double(run.lowerBound) <= largestMargin * Double(second.count),
            Double(count - run.upperBound) <= largestMargin * Double(first.count)
        else { return nil }
        // Within the tolerance for losses, captures with little contrast are alike everywhere.
        let (difference, contrast) = differences(in: run, offset: offset)
        guard tolerance == losslessTolerance || difference <= contrast else { return nil }
        let same = rows.count { $0 == .same }
        let differing = rows.count { $0 == .other }
        for row in rows.indices where rows[row] == .other && isBar[row] { rows[row] = .plain }
        let top = barLength(rows, most: Int(largestBar * Double(second.count)))
        let bottom = barLength(rows.reversed(), most: Int(largestBar * Double(first.count)))
        let other = rows.dropFirst(top).dropLast(bottom).count { $0 == .other }
        guard same >= leastRows, other * 2 < same else { return nil }
        return OverlapFit(
            offset: offset, tolerance: tolerance, rows: rows, run: run, same: same, other: other, bars: top + bottom,
            excused: differing - other, difference: difference)
    }

    /// How far the places of some rows are apart from those of the first capture, and from those of the second one a few
    /// rows further down: what shows two places of an even page is about as far apart as these. Both are averages.
    private func differences(in run: Range<Int>, offset: Int) -> (difference: Double, contrast: Double) {
        let columns = CaptureRows.columns
        var (difference, contrast, count) = (0, 0, 0)
        for row in run where row + rowsOfContrast < second.count {
            for place in second.places(row) where !secondFixed.isCovered[place] {
                let value = second.lightness[place]
                difference += apart(first.lightness[place + offset * columns], value)
                contrast += apart(second.lightness[place + rowsOfContrast * columns], value)
                count += 1
            }
        }
        return (Double(difference) / Double(max(count, 1)), Double(contrast) / Double(max(count, 1)))
    }

    /// The row in the middle of those that are alike throughout, where the second capture may go on without a trace.
    func bestCut(_ fit: OverlapFit) -> Int {
        var (longest, start) = (fit.run.lowerBound..<fit.run.lowerBound, fit.run.lowerBound)
        for row in fit.run {
            let isAlike = second.places(row).allSatisfy { place in
                let firstPlace = place + fit.offset * CaptureRows.columns
                return apart(first.lightness[firstPlace], second.lightness[place]) <= fit.tolerance
            }
            if !isAlike { start = row + 1 } else if row + 1 - start > longest.count { longest = start..<(row + 1) }
        }
        let rows = longest.isEmpty ? fit.run : longest
        return rows.lowerBound + rows.count / 2
    }

    /// In how many places a row differs, and whether there is anything to see in the others.
    private func compare(row: Int, offset: Int, tolerance: Int) -> (differing: Int, hasEdges: Bool) {
        var (differing, hasEdges) = (0, false)
        for place in second.places(row) {
            let firstPlace = place + offset * CaptureRows.columns
            if differs(firstPlace, place, tolerance: tolerance) {
                differing += 1
            } else if second.edges[place], !secondFixed.isCovered[place], !firstFixed.isCovered[firstPlace] {
                hasEdges = true
            }
        }
        return (differing, hasEdges)
    }

    /// The run in which most rows show the same, and hardly any something else.
    private func longestRun(in rows: [OverlapFit.Row]) -> Range<Int> {
        var best = (sum: 0, run: 0..<0)
        var (sum, start) = (0, 0)
        for (index, row) in rows.enumerated() {
            if sum <= 0 { (sum, start) = (0, index) }
            sum += row == .other ? -weightOfOther : row == .same ? 1 : 0
            if sum > best.sum { best = (sum, start..<(index + 1)) }
        }
        var (top, end) = (best.run.lowerBound, best.run.upperBound)
        while top > 0, rows[top - 1] != .other { top -= 1 }
        while end < rows.count, rows[end] != .other { end += 1 }
        return top..<end
    }

    /// How many of the first rows are of a bar: most of them show something else.
    private func barLength(_ rows: [OverlapFit.Row], most: Int) -> Int {
        var (length, others) = (0, 0)
        for (index, row) in rows.prefix(most).enumerated() where row == .other {
            others += 1
            if others * 10 >= (index + 1) * 6 { length = index + 1 }
        }
        return length
    }
}

extension OverlapFit {
    /// The evidence for this fit, and for the other one: only what is different about them.
    func comparison(with other: OverlapFit) -> (own: Int, others: Int) {
        guard offset <= other.offset else {
            let (others, own) = other.comparison(with: self)
            return (own, others)
        }
        var (own, others, beyond, othersBeyond) = (0, 0, 0, 0)
        for (index, row) in rows.enumerated() {
            if index < other.rows.count {
                if row == .same, other.rows[index] == .other { own += 1 }
                if row == .other, other.rows[index] == .same { others += 1 }
            } else {
                if row == .same { beyond += 1 }
                if row == .other { othersBeyond += 1 }
            }
        }
        return (own + beyond / (othersBeyond == 0 ? rowsBeyond : doubtfulRowsBeyond), others + othersBeyond)
    }

    func isBetter(than other: OverlapFit) -> Bool {
        let (own, others) = comparison(with: other)
        return own > others
    }

    /// Whether this fit leaves no doubt about the other one.
    func excludes(_ other: OverlapFit) -> Bool {
        if self.other > 0, other.other == 0, other.same * 5 > same { return false }
        let (own, others) = comparison(with: other)
        return own >= max(3, 3 * others)
    }
}
