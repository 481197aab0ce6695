// Pipelines and sources drawn by a seed, through the whole program: bugs live where two features meet.
import Foundation
import Pipeline
import Stages
import Synchronization
import TestSupport
import Testing
import Vips

@Suite struct ExplorerTests {
    /// `1-1000`, or how many from 1; `make explore` sets it.
    private static let asked = ProcessInfo.processInfo.environment["IMAGEMILL_SEEDS"]

    static let seeds: ClosedRange<Int> = {
        let ends = (asked ?? "200").split(separator: "-").compactMap { Int($0) }
        return ends.count > 1 ? ends[0]...max(ends[0], ends[1]) : 1...max(1, ends.first ?? 200)
    }()

    /// So many are in one drop folder.
    static let batches = stride(from: seeds.lowerBound, through: seeds.upperBound, by: 20).map {
        $0...min($0 + 19, seeds.upperBound)
    }

    @Test(arguments: batches)
    func `what random pipelines make is as promised`(seeds: ClosedRange<Int>) async throws {
        let formats = try await inVipsTurn { try DrawnSource.writable() }
        let explored = try await withThrowingTaskGroup(of: Explored.self) { group in
            var all: [Explored] = []
            for (index, seed) in seeds.enumerated() {
                // Two at a time: while one waits for the program, the other one's pictures are compared.
                if index >= 2, let next = try await group.next() { all.append(next) }
                group.addTask { try await Self.explore(seed, formats) }
            }
            for try await next in group { all.append(next) }
            return all.sorted { $0.seed < $1.seed }
        }
        let watched = try await DropFolderTrial(explored).findings()
        var count = 0
        for one in explored {
            // A consequence of a failure, or a finding in several files, is reported once.
            let first = one.findings.first { $0.property == .outcome }.map { [$0] } ?? one.findings
            let findings = Dictionary(grouping: first + (watched[one.seed] ?? []), by: \.property)
            for property in Property.allCases {
                guard let finding = findings[property]?.first else { continue }
                count += 1
                try await report(finding, one)
            }
        }
        let comparisons = explored.map { $0.exploration.comparisons.withLock { $0 } }
        let (all, undecided) = comparisons.reduce((0, 0)) { ($0.0 + $1.all, $0.1 + $1.undecided) }
        #expect(undecided * 10 <= all, "\(undecided) of \(all) comparisons decided nothing")
        guard Self.asked != nil else { return }
        let vain = explored.flatMap(\.vain)
        print(
            "seeds \(seeds.lowerBound)-\(seeds.upperBound): \(count) findings, \(undecided) of \(all) comparisons undecided;",
            "asked for in vain: \(vain)")
        fflush(nil)
    }

    /// A seed, and what came of it.
    struct Explored: Sendable {
        let seed: Int
        let exploration: Exploration
        let outcome: Exploration.Outcome
        /// The codes of pipelines drawn before that asked for what cannot be.
        let vain: [String]
        let findings: [Finding]
    }

    private static func explore(_ seed: Int, _ formats: [SourceFormat]) async throws -> Explored {
        var random = SeededGenerator(seed: seed)
        var drawing = PipelineDrawing()
        let source = DrawnSource(formats: formats, &random)
        var properties = Set(Property.allCases)
        if !isThroughAllDoors(seed) { properties.remove(.shard) }
        // They take more runs.
        properties.remove(seed % 2 == 0 ? .conditions : .parameters)
        var vain: [String] = []
        while true {
            let drawn = DrawnCase(pipeline: try drawing.draw(for: source, &random), source: source)
            let exploration = try Exploration(drawn)
            let (outcome, findings) = try await exploration.findings(properties, sample: seed)
            guard case .refused(let code) = outcome, findings.isEmpty, vain.count < 3 else {
                return Explored(
                    seed: seed, exploration: exploration, outcome: outcome, vain: vain, findings: findings)
            }
            // A pipeline that asks for the impossible shows little; another one for the same source may show more.
            vain.append(code)
        }
    }

    /// Every fifth seed goes through a shard and a drop folder too.
    static func isThroughAllDoors(_ seed: Int) -> Bool { seed % 5 == 0 }

    private func report(_ finding: Finding, _ one: Explored) async throws {
        var words =
            "seed \(one.seed): not so: \(finding.property.rawValue)\n\(finding.detail)\n\(one.exploration.drawn)"
        // A drop folder takes long to start.
        if finding.property != .watch {
            let shorter = try await Shrinking.shortest(one.exploration.drawn, finding.property, sample: one.seed)
            let detail = try await Exploration(shorter).findings([finding.property], sample: one.seed).findings.first?
                .detail
            words += "made shorter: \(detail ?? "?")\n\(shorter)"
        }
        Issue.record(Comment(rawValue: words))
    }

    @Test func `the fixed seeds draw every stage, format and kind there is, and few draws are refused`() async throws {
        let formats = try await inVipsTurn { try DrawnSource.writable() }
        // Not every libvips writes the formats that the program only reads.
        #expect(Set(OutputFormat.allCases.compactMap(\.asSource) + [.svg, .pdf]).isSubset(of: formats))
        var drawing = PipelineDrawing()
        let cases = try (1...200).map { seed in
            var random = SeededGenerator(seed: seed)
            let source = DrawnSource(formats: formats, &random)
            return DrawnCase(pipeline: try drawing.draw(for: source, &random), source: source)
        }
        let stages = Set(cases.flatMap(\.pipeline.stages))
        #expect(stages == Set(StageCatalogue.all.names), "\(Set(StageCatalogue.all.names).subtracting(stages))")
        let savers = Set(cases.flatMap { $0.pipeline.saves.compactMap { $0["format"]?.word } })
        #expect(savers == Set(SaveFormat.allCases.map(\.rawValue)))
        let sources = cases.map(\.source)
        #expect(Set(sources.map(\.format)) == Set(formats))
        #expect(Set(sources.map(\.colour)) == Set(DrawnSource.Colour.allCases))
        #expect(Set(sources.map(\.depth)) == Set(DrawnSource.Depth.allCases))
        #expect(Set(sources.map(\.orientation)) == Set(1...8))
        #expect(sources.contains { $0.isSet } && sources.contains { $0.frames > 1 && $0.orientation > 4 })
        #expect(sources.filter(\.hasAlpha).count >= 40)
        #expect(sources.contains { $0.hasGainMap })
        #expect(sources.contains { $0.stated == .pq } && sources.contains { $0.stated == .p3 })
        let share = Double(drawing.refused) / Double(drawing.draws)
        #expect(share < 0.5, "\(drawing.refused) of \(drawing.draws) draws were refused")
    }
}
