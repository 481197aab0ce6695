// Whether what two captures share is shown nowhere else: the same picture on every card of a page proves nothing.

/// Rows that are looked for elsewhere together.
private let rowsOfBand = 16
/// Places by which a band must differ from every other one to count, since neighbours shine through.
private let leastDifference = 3
/// Rows around a place that are the same place.
private let leastDistance = 3

/// A capture in which other places are looked for, and by how many rows it begins above the one that is examined.
struct CaptureBeside {
    let capture: CaptureRows
    let shift: Int
}

extension CaptureRows {
    /// In how many places some rows differ from what is shown anywhere else, counted up to a number that is enough.
    func evidence(in rows: Range<Int>, against others: [CaptureBeside], tolerance: Int, enough: Int) -> Int {
        var evidence = 0
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: rowsOfBand) {
            guard evidence < enough else { break }
            let band = start..<min(rows.upperBound, start + rowsOfBand)
            guard edges[places(band.lowerBound).lowerBound..<places(band.upperBound - 1).upperBound].contains(true)
            else { continue }
            let difference = others.reduce(Int.max) {
                smallestDifference(of: band, in: $1, tolerance: tolerance, below: $0)
            }
            if difference < .max { evidence += max(0, difference - leastDifference) }
        }
        return evidence
    }

    /// In how many places a band differs from the rows of a capture that are most like it, but for its own.
    private func smallestDifference(
        of band: Range<Int>, in beside: CaptureBeside, tolerance: Int, below limit: Int
    ) -> Int {
        let other = beside.capture
        guard other.count >= band.count else { return limit }
        let own = band.lowerBound + beside.shift
        let columns = Self.columns
        return lightness.withUnsafeBufferPointer { mine in
            other.lightness.withUnsafeBufferPointer { theirs in
                var least = limit
                for place in 0...(other.count - band.count) where abs(place - own) > leastDistance {
                    var differing = 0
                    for row in 0..<band.count where differing < least {
                        let (a, b) = ((band.lowerBound + row) * columns, (place + row) * columns)
                        for column in 0..<columns where apart(mine[a + column], theirs[b + column]) > tolerance {
                            differing += 1
                        }
                    }
                    least = min(least, differing)
                    if least == 0 { break }
                }
                return least
            }
        }
    }
}
