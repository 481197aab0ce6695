// Random numbers that a seed decides, the same on every machine.
import Foundation

/// SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x2545_F491_4F6C_DD1D }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }

    mutating func whole(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func chance(_ probability: Double) -> Bool { number(0...1) < probability }

    /// One of these; the same one may be there several times, to be drawn more often.
    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[whole(0...choices.count - 1)] }

    /// Small numbers as often as large ones.
    mutating func magnitude(_ range: ClosedRange<Double>) -> Double {
        let low = max(range.lowerBound, 1e-3)
        return min(max(exp2(number(log2(low)...log2(max(range.upperBound, low)))), range.lowerBound), range.upperBound)
    }
}
