// A drop folder at work, in a folder of its own, as its user and its operator see it.
import Foundation

/// `imagemill watch` over the inbox `in`, the outbox `out`, the state folder `state` and the pipeline `p.yaml`, unless
/// the mill file says otherwise.
package final class WatchedFolder: Sendable {
    package let runner: CommandRunner

    /// - Parameters:
    ///   - inbox: more settings of the inbox, in YAML's flow style, such as `originals: keep`.
    ///   - mill: the whole mill file, instead.
    package init(inbox: String = "", mill: String? = nil) throws {
        runner = try CommandRunner()
        try runner.pipeline()
        let settings = inbox.isEmpty ? "" : ", \(inbox)"
        let usual =
            "state: state\nworkers: 2\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms\(settings) }\n"
        try runner.folder.write(mill ?? usual, to: "mill.yaml")
        try makeFolder("in")
    }

    package func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: runner.folder.path(name), withIntermediateDirectories: true)
    }

    /// Starts the program, and waits until it watches.
    /// - Parameter variables: more of the environment, as `NAME=value`.
    package func start(variables: [String] = []) async throws -> RunningCommand {
        let watch = try runner.start(["watch", "mill.yaml"], variables: variables)
        try await until("it has started: \(watch.errorsSoFar)") {
            watch.errorsSoFar.contains("notice: started") || watch.isEnded
        }
        if watch.isEnded { throw CommandError(description: "it has ended: \(watch.errorsSoFar)") }
        return watch
    }

    /// Lets it finish what runs.
    /// - Returns: how it ended.
    @discardableResult
    package func stop(_ watch: RunningCommand) async throws -> CommandResult {
        watch.signal(SIGTERM)
        return try await watch.finish()
    }

    /// Renames a complete file into the inbox.
    package func drop(_ name: String, _ bytes: [UInt8], into inbox: String = "in") throws {
        let waiting = try runner.folder.write(bytes, to: "waiting-\(UUID().uuidString)")
        let path = runner.folder.path(inbox + "/" + name)
        try makeFolder((inbox + "/" + name).split(separator: "/").dropLast().joined(separator: "/"))
        guard rename(waiting, path) == 0 else { throw CommandError(description: "cannot rename to \(path)") }
    }

    /// Drops a small picture; the extension says which.
    package func drop(_ name: String, into inbox: String = "in") async throws {
        let kind = SamplePicture.allCases.first { name.hasSuffix("." + $0.fileExtension) } ?? .jpeg
        try drop(name, try await kind.bytes, into: inbox)
    }

    /// Waits until something is so. The deadline is for programs that hang: a slow machine may take its time.
    package func until(
        _ what: @autoclosure () -> String, withinSeconds seconds: Double = 60, _ condition: () async throws -> Bool
    ) async throws {
        let end = SuspendingClock.now + .seconds(seconds)
        while try await !condition() {
            guard SuspendingClock.now < end else {
                throw CommandError(description: "not so within \(seconds) s: \(what())")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until files are there.
    package func until(_ names: String...) async throws {
        try await until("\(names) in \(runner.files(in: "."))") { names.allSatisfy(runner.exists) }
    }

    /// The status document.
    package func status() async throws -> [String: Any] {
        let result = try await runner.run("status", "--state", "state", "--json")
        return try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any] ?? [:]
    }

    /// The status of the only inbox.
    package func inbox() async throws -> [String: Any] {
        (try await status()["inboxes"] as? [[String: Any]])?.first ?? [:]
    }

    /// Why the inbox is paused; nil if it is not.
    package func pause() async throws -> String? {
        (try await inbox()["paused"] as? [String: Any])?["reason"] as? String
    }

    /// The contents of a folder, without its sub-folders' own names.
    package func files(_ name: String) -> [String] { runner.files(in: name) }
}
