// PNG's filters for each set of instructions, against chapter 9 of the specification written down plainly.
import CPNGFilter
import Testing

@Suite struct PNGFilterTests {
    private static let instructions: [CInstructions] =
        cinstructions_best().rawValue >= CINSTRUCTIONS_AVX2.rawValue
        ? [CINSTRUCTIONS_BASELINE, CINSTRUCTIONS_AVX2] : [CINSTRUCTIONS_BASELINE]

    private func predicted(_ filter: Int, _ left: Int, _ above: Int, _ corner: Int) -> Int {
        switch filter {
        case 0: 0
        case 1: left
        case 2: above
        case 3: (left + above) / 2
        default: [left, above, corner].min { abs(left + above - corner - $0) < abs(left + above - corner - $1) }!
        }
    }

    private func differences(_ filter: Int, _ row: [UInt8], _ above: [UInt8], _ step: Int) -> [UInt8] {
        row.indices.map { index in
            let (left, corner) = index < step ? (0, 0) : (Int(row[index - step]), Int(above[index - step]))
            return UInt8(truncatingIfNeeded: Int(row[index]) - predicted(filter, left, Int(above[index]), corner))
        }
    }

    private func cost(_ differences: [UInt8]) -> Int { differences.reduce(0) { $0 + abs(Int(Int8(bitPattern: $1))) } }

    private func filtered(
        _ use: CInstructions, _ row: [UInt8], _ above: [UInt8], _ step: Int
    ) -> (bytes: [UInt8], cost: UInt64) {
        let zeros = [UInt8](repeating: 0, count: step)
        var out = [UInt8](repeating: 0, count: row.count + 1)
        let cost = (zeros + row).withUnsafeBufferPointer { padded in
            (zeros + above).withUnsafeBufferPointer { paddedAbove in
                cpngfilter_adaptive(
                    use, padded.baseAddress! + step, paddedAbove.baseAddress! + step, row.count, CInt(step), &out)
            }
        }
        return (out, cost)
    }

    /// Rows that each filter suits, and that are hard for arithmetic in bytes.
    private func rows(_ count: Int, _ step: Int) -> [(row: [UInt8], above: [UInt8])] {
        var state: UInt32 = UInt32(count * 31 + step)
        func noise() -> UInt8 {
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        let random: ([UInt8], [UInt8]) = ((0..<count).map { _ in noise() }, (0..<count).map { _ in noise() })
        let ramp: [UInt8] = (0..<count).map { UInt8(truncatingIfNeeded: $0 / step * 3) }
        let above: [UInt8] = (0..<count).map { _ in noise() }
        let brighter: [UInt8] = above.map { $0 &+ 1 }
        let lower: [UInt8] = ramp.map { $0 &+ 7 }
        let blend: [UInt8] = (0..<count).map { index in
            let left = index < step ? 0 : Int(ramp[index - step])
            return UInt8((left + Int(above[index])) / 2)
        }
        let extremes: [UInt8] = (0..<count).map { $0 % 3 == 0 ? 255 : 0 }
        let (middle, black) = ([UInt8](repeating: 128, count: count), [UInt8](repeating: 0, count: count))
        let mirrored: [UInt8] = extremes.reversed()
        return [
            (random.0, random.1), (ramp, above), (brighter, above), (blend, above), (extremes, mirrored),
            (middle, black), (ramp, lower),
        ]
    }

    @Test(arguments: 1...8)
    func `the filter with the smallest sum of differences is chosen, and the differences are the specification's`(
        step: Int
    ) {
        var chosen: Set<UInt8> = []
        for pixels in [1, 2, 3, 7, 15, 16, 17, 33, 100] {
            let count = pixels * step
            for (row, above) in rows(count, step) {
                let ways = (0...4).map { differences($0, row, above, step) }
                let best = ways.indices.min { cost(ways[$0]) < cost(ways[$1]) }!
                for use in Self.instructions {
                    let out = filtered(use, row, above, step)
                    #expect(out.bytes == [UInt8(best)] + ways[best], "\(use) \(pixels) pixels of \(step) bytes")
                    #expect(out.cost == UInt64(cost(ways[best])))
                }
                chosen.insert(UInt8(best))
            }
        }
        #expect(chosen.count >= 4, "the rows are to need nearly every filter: \(chosen.sorted())")
    }

    @Test(arguments: [1, 2, 3, 4, 6, 8])
    func `the pixels are counted that are as the one to the left or above`(step: Int) {
        var random = SystemRandomNumberGenerator()
        for width in [1, 2, 17, 100] {
            // Two values, so that half of the neighbors are equal, and a pixel often differs in its last byte alone.
            let rows = (0..<2).map { _ in
                (0..<width).map { _ in
                    [UInt8](repeating: 7, count: step - 1) + [UInt8.random(in: 0...1, using: &random)]
                }
            }
            let (above, row) = (rows[0], rows[1])
            func isLeft(_ index: Int) -> Bool { index > 0 && row[index] == row[index - 1] }
            let (bytes, bytesAbove) = (row.flatMap { $0 }, above.flatMap { $0 })
            let repeats = cpngfilter_repeats(bytes, bytesAbove, bytes.count, CInt(step))
            #expect(repeats.either == row.indices.filter { isLeft($0) || above[$0] == row[$0] }.count)
            #expect(repeats.both == row.indices.filter { isLeft($0) && above[$0] == row[$0] }.count)
            let first = cpngfilter_repeats(bytes, nil, bytes.count, CInt(step))
            #expect(first.either == row.indices.filter(isLeft).count && first.both == 0)
        }
    }
}
