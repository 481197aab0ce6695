// The cases of a batch of seeds through one drop folder with an inbox for each.
import Foundation
import Pipeline
import TestSupport

/// Watches an inbox for each case that is to go through all doors, and holds its files against those of `run`.
struct DropFolderTrial {
    /// A case, and the parameters that its pipeline is to have; nil if it is to be as it was drawn.
    private struct Case {
        let seed: Int
        let exploration: Exploration
        let outputs: [Exploration.Output]
        let values: DrawnParameters?

        var pipeline: String { exploration.runner.folder.path(values == nil ? "p.yaml" : "values.yaml") }
        /// The other settings of its inbox.
        var settings: String {
            let given = (values?.options ?? []).filter { $0 != "--set" }.map { option in
                let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
                return "\(parts[0]): \"\(parts.count > 1 ? parts[1] : "")\""
            }
            return given.isEmpty ? "" : ", set: { \(given.joined(separator: ", ")) }"
        }
    }

    private let cases: [Case]

    init(_ explored: [ExplorerTests.Explored]) {
        cases = explored.compactMap { one in
            guard ExplorerTests.isThroughAllDoors(one.seed), case .rendered(let outputs) = one.outcome else {
                return nil
            }
            // They come with their sidecars, every other one.
            let values = one.seed % 10 == 0 ? one.exploration.parameters(one.seed) : nil
            return Case(seed: one.seed, exploration: one.exploration, outputs: outputs, values: values)
        }
    }

    /// The differences from the files that `run` made, by seed.
    func findings() async throws -> [Int: [Finding]] {
        guard !cases.isEmpty else { return [:] }
        for one in cases where one.values != nil {
            try one.exploration.runner.folder.write(one.values?.pipeline ?? "", to: "values.yaml")
        }
        let formats = SourceFormat.onRequest.map(\.rawValue).joined(separator: ", ")
        let inboxes = cases.map { one in
            "  - { path: in-\(one.seed), outbox: out-\(one.seed), pipeline: \(one.pipeline), settle: 200ms, allow: [\(formats)]\(one.settings) }\n"
        }
        let folder = try WatchedFolder(mill: "state: state\nworkers: 2\ninboxes:\n" + inboxes.joined())
        for one in cases { try folder.makeFolder("in-\(one.seed)") }
        let watch = try await folder.start()
        for one in cases {
            if let values = one.values {
                try one.exploration.write(values, into: "in-\(one.seed)", of: folder.runner)
            }
            try drop(one.exploration, into: folder.runner.folder.path("in-\(one.seed)"), folder)
        }
        // The renditions of a source that has failed never arrive.
        try? await folder.until("everything has arrived", withinSeconds: 90) {
            cases.allSatisfy { one in
                one.outputs.allSatisfy { folder.runner.exists("out-\(one.seed)/\($0.path)") }
                    || !folder.files("state/failed/in-\(one.seed)").isEmpty
            }
        }
        try await folder.stop(watch)
        var findings: [Int: [Finding]] = [:]
        for one in cases {
            findings[one.seed] = try one.exploration.different(
                one.outputs, in: folder.runner, "out-\(one.seed)", .watch)
        }
        return findings
    }

    /// Renames a copy of the source into an inbox.
    private func drop(_ exploration: Exploration, into inbox: String, _ folder: WatchedFolder) throws {
        let place = exploration.drawn.source.place
        let waiting = folder.runner.folder.path("waiting-\(UUID().uuidString)")
        try FileManager.default.copyItem(atPath: exploration.runner.folder.path("in/s/" + place), toPath: waiting)
        try FileManager.default.moveItem(atPath: waiting, toPath: inbox + "/" + place)
    }
}
