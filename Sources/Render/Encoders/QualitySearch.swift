// The search for the quality that reaches a target, one trial after the other.
import Glibc
import Pipeline

/// The trials of a search, and the quality to try next.
struct QualitySearch: Sendable {
    /// One encoded file.
    struct Trial: Hashable, Sendable {
        let quality: Int
        let bytes: Int
        /// Nil if no similarity is asked for.
        let similarity: Double?
    }

    private let target: QualityTarget
    private let highest: Int
    private(set) var trials: [Trial] = []

    /// - Parameter highest: the highest quality that may be taken.
    init(_ target: QualityTarget, upTo highest: Int) { (self.target, self.highest) = (target, highest) }

    mutating func note(_ trial: Trial) { trials.append(trial) }

    /// The trial to take, if one has reached the target; else the one that comes nearest to it.
    var best: Trial? {
        let reached = trials.filter(isReached)
        let found =
            target.leastSimilarity == nil
            ? reached.max { $0.quality < $1.quality } : reached.min { $0.quality < $1.quality }
        return found ?? trials.min { miss(of: $0) < miss(of: $1) }
    }

    /// By how much a trial misses the target: the share of bytes that are too many, and of differences.
    private func miss(of trial: Trial) -> Double {
        let bytes = target.mostBytes.map { Double(trial.bytes) / Double(max(1, $0)) - 1 } ?? 0
        let differences =
            target.leastSimilarity.map { (1 - (trial.similarity ?? 0)) / max(1 - $0, 1e-6) - 1 } ?? 0
        return max(0, bytes) + max(0, differences)
    }

    private func fits(_ trial: Trial) -> Bool { target.mostBytes.map { trial.bytes <= $0 } ?? true }

    /// Whether a trial is as good and as small as was asked for.
    func isReached(_ trial: Trial) -> Bool {
        fits(trial) && (target.leastSimilarity.map { (trial.similarity ?? 0) >= $0 } ?? true)
    }

    /// The quality to try next; nil if there is nothing more to find.
    var next: Int? {
        guard trials.count < QualityTarget.mostTrials else { return nil }
        return target.leastSimilarity == nil ? nextByBytes : nextBySimilarity
    }

    // MARK: - Bytes

    /// Bytes grow by about so much with a step of quality, as far as their logarithm.
    private static let usualGrowth = 0.022
    /// A file that needs so much of what it may have is good enough.
    private static let enough = 0.95

    private var nextByBytes: Int? {
        let most = Double(target.mostBytes ?? .max)
        guard !trials.isEmpty else { return highest }
        let (fits, others) = (trials.filter { Double($0.bytes) <= most }, trials.filter { Double($0.bytes) > most })
        let below = fits.max { $0.quality < $1.quality }
        guard let above = others.min(by: { $0.quality < $1.quality }) else { return nil }
        if let below, Double(below.bytes) >= Self.enough * most || above.quality - below.quality <= 1 { return nil }
        if below == nil, above.quality <= target.leastQuality { return nil }
        // A little less than what just fits by the guess.
        func distance(_ trial: Trial) -> Double { log(Double(trial.bytes) / most) + 0.015 }
        guard let below else {
            // The last trial shows whether it can be reached at all.
            if trials.count == QualityTarget.mostTrials - 1 { return target.leastQuality }
            let growth = Self.growth(others, distance) ?? Self.usualGrowth
            let guess = Double(above.quality) - max(distance(above) / growth, 1)
            return max(target.leastQuality, min(above.quality - 1, rounded(guess)))
        }
        return between(below, above, distance)
    }

    // MARK: - Similarity

    private static let usualGain = 0.03
    /// Differences as large a part of those that are allowed are not worth another trial.
    private static let near = 0.93
    private static let firstQuality = 78

    private var nextBySimilarity: Int? {
        let least = target.leastSimilarity ?? 1
        guard !trials.isEmpty else { return min(highest, max(target.leastQuality, Self.firstQuality)) }
        func similarity(_ trial: Trial) -> Double { trial.similarity ?? 0 }
        let above = trials.filter { similarity($0) >= least }.min { $0.quality < $1.quality }
        let below = trials.filter { similarity($0) < least }.max { $0.quality < $1.quality }
        // Differences halve and halve again: their logarithm is what grows evenly.
        func distance(_ trial: Trial) -> Double { log(max(1 - least, 1e-6) / max(1 - similarity(trial), 1e-6)) - 0.01 }
        if let above {
            let isNear = 1 - similarity(above) >= Self.near * (1 - least)
            // One that is like the picture enough and too large may still have a smaller one below it.
            if isNear && fits(above) || above.quality <= target.leastQuality { return nil }
            if let below, above.quality - below.quality <= 1 { return nil }
            if let below { return between(below, above, distance) }
            let gain = Self.growth(trials, distance) ?? Self.usualGain
            let guess = Double(above.quality) - max(distance(above) / gain, 1)
            return max(target.leastQuality, min(above.quality - 1, rounded(guess)))
        }
        guard let below, below.quality < highest else { return nil }
        if trials.count == QualityTarget.mostTrials - 1 { return highest }
        let gain = Self.growth(trials, distance) ?? Self.usualGain
        let guess = Double(below.quality) + max(-distance(below) / gain, 1)
        return min(highest, max(below.quality + 1, rounded(guess)))
    }

    // MARK: - Between two trials

    /// How much the distance grows with a step of quality, by the two outermost trials; nil if they do not say.
    private static func growth(_ trials: [Trial], _ distance: (Trial) -> Double) -> Double? {
        guard let low = trials.min(by: { $0.quality < $1.quality }),
            let high = trials.max(by: { $0.quality < $1.quality }), high.quality > low.quality
        else { return nil }
        let growth = (distance(high) - distance(low)) / Double(high.quality - low.quality)
        return growth > 0.001 ? growth : nil
    }

    /// The quality between two at which the target is met by a straight line; after some trials the middle, since the
    /// line may be far from straight.
    private func between(_ below: Trial, _ above: Trial, _ distance: (Trial) -> Double) -> Int {
        let range = below.quality + 1...above.quality - 1
        let (low, high) = (distance(below), distance(above))
        guard trials.count < 5, high > low else { return (below.quality + above.quality) / 2 }
        let guess = Double(below.quality) - low / (high - low) * Double(above.quality - below.quality)
        return max(range.lowerBound, min(range.upperBound, rounded(guess)))
    }
}
