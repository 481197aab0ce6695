// Captures that were compressed with losses: no row is equal to the bit, and the overlap is where rows are alike.

/// Steps of 255 by which rows that are the same may differ.
private let tolerance: Float = 4
/// Rows that are compared at each overlap, so that the search takes time in proportion to the rows of a capture.
private let mostSamples = 48
/// The share of columns, and of rows if bars are expected, that may show something else.
private let columnsThatDiffer = 0.35
private let rowsThatDiffer = 0.3

extension CapturePair {
    /// The seam where the rows of both captures differ least; nil if they differ too much, or as little elsewhere.
    var alikeSeam: Seam? {
        let header = alikeCount(fromBottom: false)
        let footer = alikeCount(fromBottom: true)
        let still = [(0, 0), (header, 0), (0, footer), (header, footer)].filter {
            $0.0 < second.count && $0.1 < first.count
        }
        for rowsThatDiffer in [0, rowsThatDiffer] {
            let found = still.compactMap {
                AlikeRows(pair: self, header: $0.0, footer: $0.1, rowsThatDiffer: rowsThatDiffer).best
            }
            if let best = found.min(by: { $0.difference < $1.difference }) { return best.seam }
        }
        return nil
    }

    /// How many rows are alike from the top or the bottom of both.
    private func alikeCount(fromBottom: Bool) -> Int {
        let limit = min(first.count, second.count)
        return (0..<limit).first { row in
            let (firstRow, secondRow) = fromBottom ? (first.count - 1 - row, second.count - 1 - row) : (row, row)
            return difference(ofRow: firstRow, toRow: secondRow) > tolerance
        } ?? 0
    }

    /// The mean difference of a row of the first capture to one of the second, in steps of 255.
    fileprivate func difference(ofRow a: Int, toRow b: Int) -> Float {
        let columns = CaptureRows.columns
        return first.lightness.withUnsafeBufferPointer { left in
            second.lightness.withUnsafeBufferPointer { right in
                var sum: Float = 0
                for column in 0..<columns { sum += abs(left[a * columns + column] - right[b * columns + column]) }
                return sum / Float(columns)
            }
        }
    }

}

/// The search for an overlap between the fixed parts at the top of the second capture and at the bottom of the first.
private struct AlikeRows {
    let pair: CapturePair
    let header, footer: Int
    let rowsThatDiffer: Double

    private var first: CaptureRows { pair.first }
    private var second: CaptureRows { pair.second }
    private var end: Int { first.count - footer }

    /// The overlap at which the rows differ least, if that is little, and far less than at most others.
    var best: (seam: Seam, difference: Float)? {
        let most = min(end, second.count - header - footer)
        let least = max(8, most / 50)
        guard least < most else { return nil }
        // An overlap in which nothing changes from row to row, such as white, fits everywhere.
        let looks = (least...most).map { (rows: $0, look: look(rows: $0)) }
        let usual = looks.map(\.look.difference).sorted()[looks.count / 2]
        let fits = looks.filter {
            $0.look.variation > 2 * tolerance && $0.look.difference < tolerance && $0.look.difference * 3 < usual
        }
        guard let best = fits.min(by: { $0.look.difference < $1.look.difference }) else { return nil }
        let others = fits.filter {
            abs($0.rows - best.rows) > 3 && $0.look.difference < best.look.difference * 1.3 + 0.2
        }
        let rows = others.isEmpty ? best.rows : min(best.rows, others.map(\.rows).min() ?? best.rows)
        return (seam(rows: rows, isAmbiguous: !others.isEmpty), best.look.difference)
    }

    private func seam(rows: Int, isAmbiguous: Bool) -> Seam {
        let offset = end - rows - header
        let bounds = header..<(header + rows)
        let agreeing = longestRun(in: bounds) { pair.difference(ofRow: $0 + offset, toRow: $0) <= tolerance }
        return Seam(offset: offset, row: (agreeing.isEmpty ? bounds : agreeing).middle, isAmbiguous: isAmbiguous)
    }

    /// How much some of the rows differ if so many are the overlap, and how much they change from one to the next.
    private func look(rows: Int) -> (difference: Float, variation: Float) {
        let columns = CaptureRows.columns
        let count = min(rows, mostSamples)
        var samples = [[Float]](repeating: [Float](repeating: 0, count: columns), count: count)
        var variation: Float = 0
        first.lightness.withUnsafeBufferPointer { left in
            second.lightness.withUnsafeBufferPointer { right in
                var before = header * columns
                for sample in 0..<count {
                    let row = (2 * sample + 1) * rows / (2 * count)
                    let (a, b) = ((end - rows + row) * columns, (header + row) * columns)
                    for column in 0..<columns {
                        samples[sample][column] = abs(left[a + column] - right[b + column])
                        variation += abs(right[b + column] - right[before + column])
                    }
                    before = b
                }
            }
        }
        samples.sort { $0.reduce(0, +) < $1.reduce(0, +) }
        let kept = samples.prefix(max(1, count - Int(rowsThatDiffer * Double(count))))
        let means = (0..<columns).map { column in kept.reduce(0) { $0 + $1[column] } / Float(kept.count) }.sorted()
        let trusted = means.prefix(columns - Int(columnsThatDiffer * Double(columns)))
        return (trusted.reduce(0, +) / Float(trusted.count), variation / Float(count * columns))
    }
}
