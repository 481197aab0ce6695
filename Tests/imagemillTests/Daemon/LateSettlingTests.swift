// Sources whose original leaves the spool later than planned: everybody hears the same as if it had left at once.
import Foundation
import TestSupport
import Testing

@Suite struct LateSettlingTests {
    /// The way in which a drop folder treats its sources.
    enum World: String, CaseIterable, Sendable {
        case moves, keeps, putsReportsAside, takesSets, fails

        var inbox: String {
            switch self {
            case .moves, .takesSets: "attempts: 1"
            case .keeps: "attempts: 1, originals: keep"
            case .putsReportsAside: "attempts: 1, reports: folder"
            case .fails: "attempts: 1, limits: { max-pixels: 100 }"
            }
        }

        var event: String { self == .fails ? "failure" : "success" }

        func start() throws -> WatchedFolder {
            let drop = try WatchedFolder()
            let hooks = ["success", "failure"].map { "on-\($0): [sh, -c, 'cat >> \(drop.runner.folder.path("told"))']" }
            let inbox =
                "{ path: in, outbox: out, pipeline: p.yaml, settle: 100ms, \(inbox), \(hooks.joined(separator: ", ")) }"
            try drop.runner.folder.write(
                "state: state\nworkers: 1\nhttp: ./web.sock\ninboxes:\n  - \(inbox)\n", to: "mill.yaml")
            let stages = self == .takesSets ? "source: set\nstages: [ stitch ]\n" : ""
            try drop.runner.folder.write(
                stages + "renditions: { one: { save: { format: png } }, two: { save: { format: webp } } }\n",
                to: "p.yaml")
            return drop
        }

        func drop(into drop: WatchedFolder) async throws {
            guard self == .takesSets else { return try await drop.drop("a.jpg") }
            for name in ["1.png", "2.png"] { try await drop.runner.picture("waiting/\(name)") }
            _ = try await drop.runner.shell("mv waiting in/a")
        }
    }

    /// The messages about the only source that a hook, the journal, the dashboard, Prometheus and the log got.
    struct Told {
        let hook: NSDictionary
        let journal: NSArray
        let results: NSArray
        let metrics: [String]
        let log: [String]

        /// Waits until the hook has run.
        init(_ drop: WatchedFolder, _ watch: RunningCommand) async throws {
            try await drop.until("a hook is told: \(watch.errorsSoFar)") {
                try drop.runner.exists("told") && drop.runner.bytes("told").last == UInt8(ascii: "\n")
            }
            try await drop.until("it is over") { try await drop.inbox()["in-progress"] as? Int == 0 }
            func get(_ path: String) async throws -> String {
                try await drop.runner.shell("curl -s --max-time 20 --unix-socket web.sock 'http://localhost\(path)'")
                    .output
            }
            hook = try Self.lines(drop, "told").first ?? [:]
            journal = try Self.lines(drop, "state/journal.jsonl") as NSArray
            let dashboard = try JSONSerialization.jsonObject(with: Data(try await get("/api/dashboard").utf8))
            let results = (dashboard as? [String: Any])?["results"] as? [[String: Any]] ?? []
            self.results = results.map { $0.filter { !["time", "milliseconds"].contains($0.key) } } as NSArray
            metrics = try await get("/metrics").split(separator: "\n").map(String.init).filter {
                $0.hasPrefix("imagemill_renditions_total") || $0.hasPrefix("imagemill_rendition_bytes_total")
                    || $0.hasPrefix("imagemill_jobs_total") && !$0.contains("retried")
                    || $0.hasPrefix("imagemill_failures_total")
            }
            log = watch.errorsSoFar.split(separator: "\n").map(String.init).filter { $0.contains("done: ") }.map {
                String($0[$0.range(of: "done: ")!.lowerBound...].prefix { $0 != "r" })
            }
        }

        private static func lines(_ drop: WatchedFolder, _ file: String) throws -> [NSDictionary] {
            guard drop.runner.exists(file) else { return [] }
            let lines = String(decoding: try drop.runner.bytes(file), as: UTF8.self).split(separator: "\n")
            return try lines.map {
                try plain(JSONSerialization.jsonObject(with: Data($0.utf8))) as? NSDictionary ?? [:]
            }
        }

        /// Without what no two attempts have in common.
        private static func plain(_ value: Any) -> Any {
            guard let object = value as? [String: Any] else { return value }
            let own = ["id", "time", "started", "milliseconds", "peak-memory-bytes"]
            return object.filter { !own.contains($0.key) }.mapValues(plain) as NSDictionary
        }
    }

    private func told(_ world: World, at fault: String?) async throws -> Told {
        let drop = try world.start()
        try await world.drop(into: drop)
        if let fault, fault.hasSuffix("kill") {
            _ = try await drop.runner.shell("IMAGEMILL_FAULT=\(fault) \"$IMAGEMILL\" watch mill.yaml")
            #expect(!drop.runner.exists("told"), "it was not killed in time")
        }
        let isKilled = fault?.hasSuffix("kill") ?? true
        let watch = try await drop.start(variables: isKilled ? [] : ["IMAGEMILL_FAULT=\(fault!)"])
        let told = try await Told(drop, watch)
        #expect(try await drop.stop(watch).exit == 0)
        if !isKilled { #expect(watch.errorsSoFar.contains("the original cannot be put away"), "\(watch.errorsSoFar)") }
        return told
    }

    private static let faults = [
        "before-source-commit:1:error:EACCES", "after-outcome-record:1:kill", "before-source-commit:1:kill",
        "after-source-commit:1:kill", "after-journal-line:1:kill",
    ]

    @Test(.timeLimit(.minutes(3)), arguments: World.allCases)
    func `what is put away later is reported as what is put away at once`(world: World) async throws {
        let expected = try await told(world, at: nil)
        #expect(expected.hook["event"] as? String == world.event)
        #expect(expected.results.count == (world == .fails ? 0 : 1) && expected.journal.count == 1)
        for fault in Self.faults {
            let late = try await told(world, at: fault)
            #expect(late.hook == expected.hook, "\(fault)")
            #expect(late.journal == expected.journal, "\(fault)")
            #expect(late.results == expected.results, "\(fault)")
            #expect(late.metrics == expected.metrics, "\(fault)")
            #expect(late.log == expected.log, "\(fault)")
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: [World.moves, .fails])
    func
        `if the program is killed after the last record of a source, its hook gets the report, and so does the journal`(
            world: World
        ) async throws
    {
        let expected = try await told(world, at: nil)
        let late = try await told(world, at: "after-finish-record:2:kill")
        #expect(late.hook == expected.hook && late.journal == expected.journal)
    }
}
