// The search for a quality finds the one that reaches its target, in few trials, whatever the encoder makes of it.
import Glibc
import Testing

@testable import Pipeline
@testable import Render

/// An encoder whose files grow with the quality, by curves that a seed draws.
private struct DrawnEncoder {
    private let sizes: [Int]
    private let similarities: [Double]

    init(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func number() -> Double {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Double(state % 10_000) / 10_000
        }
        var (size, difference) = (2000 + 20_000 * number(), 0.4 * number() + 0.01)
        let (growth, gain) = (0.004 + 0.05 * number(), 0.005 + 0.08 * number())
        var (sizes, similarities): ([Int], [Double]) = ([], [])
        for _ in 0...100 {
            sizes.append(Int(size))
            similarities.append(1 - difference)
            // Steps of different height, sometimes none.
            size *= exp(growth * 2 * number())
            difference *= exp(-gain * 2 * number())
        }
        (self.sizes, self.similarities) = (sizes, similarities)
    }

    func trial(_ quality: Int, measured: Bool) -> QualitySearch.Trial {
        QualitySearch.Trial(
            quality: quality, bytes: sizes[quality], similarity: measured ? similarities[quality] : nil)
    }
}

@Suite struct QualitySearchTests {
    private func search(_ target: QualityTarget, upTo highest: Int, _ encoder: DrawnEncoder) -> QualitySearch {
        var search = QualitySearch(target, upTo: highest)
        while let quality = search.next {
            let isTried = search.trials.contains { $0.quality == quality }
            #expect(!isTried && (target.leastQuality...highest).contains(quality), "\(quality)")
            search.note(encoder.trial(quality, measured: target.leastSimilarity != nil))
        }
        return search
    }

    @Test func `bytes are never exceeded if that can be, with a file that is nearly as large or a quality next to it`()
        throws
    {
        var counts: [Int] = []
        for seed in 1...400 as ClosedRange<UInt64> {
            let encoder = DrawnEncoder(seed: seed)
            let (small, large) = (encoder.trial(30, measured: false).bytes, encoder.trial(80, measured: false).bytes)
            let most = small - small / 20 + Int(seed) * (large + large / 5 - small) / 400
            let target = QualityTarget(mostBytes: most, leastSimilarity: nil, leastQuality: 30)
            let found = search(target, upTo: 80, encoder)
            let best = try #require(found.best)
            #expect(found.trials.count <= QualityTarget.mostTrials)
            #expect(found.isReached(best) == (small <= most), "\(seed): \(found.trials), \(most)")
            guard small <= most else { continue }
            counts.append(found.trials.count)
            let isNear = Double(best.bytes) >= 0.95 * Double(most) || best.quality == 80
            let isNext = encoder.trial(min(best.quality + 1, 80), measured: false).bytes > most
            #expect(isNear || isNext || found.trials.count == QualityTarget.mostTrials, "\(seed): \(found.trials)")
        }
        #expect(counts.sorted()[counts.count / 2] <= 4)
    }

    @Test func `a similarity is reached if it can be, and by little more than it has to be`() throws {
        var counts: [Int] = []
        for seed in 1...400 as ClosedRange<UInt64> {
            let encoder = DrawnEncoder(seed: seed)
            let least = 0.9 + Double(seed % 97) / 1000
            let target = QualityTarget(mostBytes: nil, leastSimilarity: least, leastQuality: 30)
            let found = search(target, upTo: 100, encoder)
            let best = try #require(found.best)
            let canBe = try #require(encoder.trial(100, measured: true).similarity) >= least
            #expect(found.isReached(best) == canBe, "\(seed): \(found.trials), \(least)")
            guard canBe else { continue }
            counts.append(found.trials.count)
            let reached = try #require(best.similarity)
            let isNext = try #require(encoder.trial(max(best.quality - 1, 30), measured: true).similarity) < least
            #expect(
                1 - reached >= 0.93 * (1 - least) || isNext || best.quality == 30
                    || found.trials.count == QualityTarget.mostTrials, "\(seed): \(found.trials), \(least)")
        }
        #expect(counts.sorted()[counts.count / 2] <= 5)
    }

    @Test func `both targets are held together`() throws {
        let encoder = DrawnEncoder(seed: 5)
        let reached = try #require(encoder.trial(60, measured: true).similarity)
        let enough = QualityTarget(
            mostBytes: encoder.trial(70, measured: false).bytes, leastSimilarity: reached, leastQuality: 30)
        let good = search(enough, upTo: 100, encoder)
        #expect(try good.isReached(#require(good.best)))
        let tooFew = QualityTarget(
            mostBytes: encoder.trial(40, measured: false).bytes, leastSimilarity: reached, leastQuality: 30)
        let bad = search(tooFew, upTo: 100, encoder)
        #expect(try !bad.isReached(#require(bad.best)))
    }
}
