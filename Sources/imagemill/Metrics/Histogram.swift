import System

/// How many times were how long, in the buckets of a Prometheus histogram.
struct Histogram: Equatable, Sendable {
    /// Upper bounds in milliseconds.
    static let bounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 1_800_000]

    /// How many were at most as long as each bound, and how many there are.
    private(set) var counts = [Int](repeating: 0, count: bounds.count)
    private(set) var total = 0
    private(set) var milliseconds = 0

    mutating func add(milliseconds time: Int) {
        for (index, bound) in Self.bounds.enumerated() where time <= bound { counts[index] += 1 }
        total += 1
        milliseconds += max(0, time)
    }
}
