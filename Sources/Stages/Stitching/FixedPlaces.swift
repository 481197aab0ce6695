// The parts of a page that do not scroll: bars at the top and the bottom, a floating button, the line that leads home.

/// The places and rows of a capture that show the same on the screen as those of its neighbours.
final class FixedPlaces {
    /// For each place of each row, whether it is covered by something that does not scroll, or lies next to it.
    let isCovered: [Bool]
    /// For each row, whether it is of a bar at the top or the bottom.
    let isBar: [Bool]

    /// Steps of 255 by which the same may differ.
    private static let tolerance = 4
    /// Places of a row that may change in a bar, such as a clock.
    private static let mostChanges = 4
    private static let largestBar = 0.3
    /// The largest button, in places: a quarter of a row. What is wider and of one colour may be the page.
    private static let widestButton = 12

    /// Nothing is fixed.
    init(none capture: CaptureRows) {
        isCovered = [Bool](repeating: false, count: capture.lightness.count)
        isBar = [Bool](repeating: false, count: capture.count)
    }

    init(of capture: CaptureRows, neighbours: [CaptureRows]) {
        let covered = neighbours.map { Self.covered(capture, $0) }
        let isCovered = (0..<capture.lightness.count).map { place in
            !covered.isEmpty && covered.allSatisfy { $0[place] }
        }
        let bars = neighbours.map { Self.bars(capture, $0, isCovered) }
        isBar = (0..<capture.count).map { row in bars.contains { $0[row] } }
        self.isCovered = isCovered
    }

    /// The row of the other capture at the same distance from the top, or from the bottom if it is nearer.
    private static func sameRow(_ row: Int, of capture: CaptureRows, in other: CaptureRows) -> Int? {
        let same = row < capture.count / 2 ? row : row + other.count - capture.count
        return (0..<other.count).contains(same) ? same : nil
    }

    private static func bars(_ capture: CaptureRows, _ other: CaptureRows, _ isCovered: [Bool]) -> [Bool] {
        let isAlike = (0..<capture.count).map { row in
            guard let same = sameRow(row, of: capture, in: other) else { return false }
            return zip(capture.places(row), other.places(same)).count {
                !isCovered[$0] && apart(capture.lightness[$0], other.lightness[$1]) > tolerance
            } <= mostChanges
        }
        let most = Int(largestBar * Double(capture.count))
        let top = min(most, isAlike.prefix { $0 }.count)
        let bottom = min(most, isAlike.reversed().prefix { $0 }.count)
        return isAlike.indices.map { $0 < top || $0 >= capture.count - bottom }
    }

    private static func covered(_ capture: CaptureRows, _ other: CaptureRows) -> [Bool] {
        // A row shows less in captures with more pixels.
        let unit = max(1, capture.count / 700)
        let (isAlike, isSeen) = seen(capture, other, thinnest: 8 * unit)
        let seenAround = PlaceCounts(of: isSeen, across: 2, along: unit)
        let alikeAround = PlaceCounts(of: zip(isSeen, isAlike).map { $0 && $1 }, across: 2, along: unit)
        let isCore = isSeen.indices.map { place in
            isSeen[place] && isAlike[place] && seenAround.counts[place] >= 6 * (unit + 1)
                && alikeAround.counts[place] * 20 >= seenAround.counts[place] * 19
        }
        return PlaceCounts(of: isCore, across: 5, along: 6 * unit).counts.map { $0 > 0 }
    }

    /// Where both captures show the same, and where there is something to see: a change of lightness, or a small
    /// thing of one colour.
    private static func seen(_ capture: CaptureRows, _ other: CaptureRows, thinnest: Int) -> ([Bool], [Bool]) {
        let columns = CaptureRows.columns
        var isAlike = [Bool](repeating: false, count: capture.lightness.count)
        var (isSeen, isPlain) = (isAlike, isAlike)
        for row in 0..<capture.count {
            guard let same = sameRow(row, of: capture, in: other) else { continue }
            for (place, otherPlace) in zip(capture.places(row), other.places(same)) {
                let value = capture.lightness[place]
                isAlike[place] = apart(value, other.lightness[otherPlace]) <= tolerance
                let isBackground = capture.background.map { apart(value, $0) <= CaptureRows.leastContrast } ?? false
                isPlain[place] = isAlike[place] && !isBackground
                isSeen[place] = changes(capture, place) || changes(other, otherPlace)
            }
        }
        func mark(from start: Int, step: Int, count: Int, most: Int) {
            var first = 0
            for index in 0...count {
                let place = start + index * step
                let goesOn =
                    index > first && index < count && isPlain[place] && isPlain[place - step]
                    && apart(capture.lightness[place], capture.lightness[place - step]) < CaptureRows.leastContrast
                guard !goesOn, index > first else { continue }
                if index - first <= most {
                    for other in first..<index where isPlain[start + other * step] {
                        isSeen[start + other * step] = true
                    }
                }
                first = index
            }
        }
        for row in 0..<capture.count { mark(from: row * columns, step: 1, count: columns, most: widestButton) }
        for column in 0..<columns { mark(from: column, step: columns, count: capture.count, most: thinnest) }
        return (isAlike, isSeen)
    }

    private static func changes(_ capture: CaptureRows, _ place: Int) -> Bool {
        let below = place + CaptureRows.columns
        return capture.edges[place]
            || below < capture.lightness.count
                && apart(capture.lightness[place], capture.lightness[below]) >= CaptureRows.leastContrast
    }
}

/// For each place, of how many places around it something is true.
private struct PlaceCounts {
    let counts: [Int]

    init(of isTrue: [Bool], across: Int, along: Int) {
        let columns = CaptureRows.columns
        let rows = isTrue.count / columns
        var wide = [Int](repeating: 0, count: isTrue.count)
        for place in isTrue.indices where isTrue[place] {
            let (row, column) = place.quotientAndRemainder(dividingBy: columns)
            for near in max(0, column - across)...min(columns - 1, column + across) { wide[row * columns + near] += 1 }
        }
        var counts = wide
        for column in 0..<columns {
            var sum = (0..<min(rows, along)).reduce(0) { $0 + wide[$1 * columns + column] }
            for row in 0..<rows {
                if row + along < rows { sum += wide[(row + along) * columns + column] }
                counts[row * columns + column] = sum
                if row >= along { sum -= wide[(row - along) * columns + column] }
            }
        }
        self.counts = counts
    }
}
