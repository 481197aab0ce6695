// A pipeline with conditions makes what one without them makes from which the parts that do not apply were removed.
import TestSupport

extension Exploration {
    /// - Parameter sample: draws the conditions.
    func compareConditions(sample: Int) async throws -> [Finding] {
        var random = SeededGenerator(seed: sample &* 31 &+ 7)
        let (conditional, plain) = drawn.pipeline.withConditions(for: source, &random)
        guard conditional.file != nil else {
            return [Finding(property: .conditions, detail: "refused:\n\(conditional.text)")]
        }
        let isNothingLeft = plain.written["renditions"]?.entries.isEmpty ?? true
        // The pipeline that is left may have a mistake, such as scales without a size in points.
        guard isNothingLeft || plain.file != nil else { return [] }
        let made = try await outcome(of: conditional, in: "conditional")
        let expected: Outcome? = isNothingLeft ? .rendered([]) : try await outcome(of: plain, in: "plain")
        func finding(_ words: String) -> [Finding] {
            [Finding(property: .conditions, detail: "\(words)\n\(conditional.text)\nexpected:\n\(plain.text)")]
        }
        switch (made, expected) {
        case (.refused(let one), .refused(let other)): return one == other ? [] : finding("\(one), and not \(other)")
        case (.rendered(let one), .rendered(let other)):
            guard one.map(\.path).sorted() == other.map(\.path).sorted() else {
                return finding("\(one.map(\.path)), and not \(other.map(\.path))")
            }
            let differing = try one.first {
                try runner.bytes("conditional/s/" + $0.path) != runner.bytes("plain/s/" + $0.path)
            }
            return differing.map { finding("\($0.path) has other bytes") } ?? []
        default: return finding("\(String(describing: made)), and not \(String(describing: expected))")
        }
    }

    private func outcome(of pipeline: DrawnPipeline, in folder: String) async throws -> Outcome? {
        try runner.folder.write(pipeline.text, to: folder + ".yaml")
        var findings: [Finding] = []
        return try await run(folder + ".yaml", "in", to: folder, only: "s/**", &findings)["s"]
    }
}
