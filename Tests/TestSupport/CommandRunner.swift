// Runs the built `imagemill` as a user would, in a folder of its own. It knows nothing of the program's inside.
import Foundation

/// Runs `imagemill` with a working folder of its own, which is removed with this object.
package final class CommandRunner: Sendable {
    package enum User: Sendable {
        /// Whoever runs the tests.
        case same
        /// Nobody if root runs the tests, since root reads and writes everything; else whoever runs them.
        case unprivileged
    }

    package let folder: TemporaryFolder

    package init() throws { folder = try TemporaryFolder() }

    /// The program that `IMAGEMILL_PROGRAM` names, else the built one, which lies beside the bundle of tests.
    package static var executable: String {
        if let named = ProcessInfo.processInfo.environment["IMAGEMILL_PROGRAM"] { return named }
        let places = CommandLine.arguments + [Bundle.main.bundlePath, #filePath + "/../../../.build/debug/x"]
        let candidates = places.flatMap { place in
            sequence(first: URL(fileURLWithPath: place)) {
                $0.pathComponents.count > 1 ? $0.deletingLastPathComponent() : nil
            }
            .prefix(4).map { $0.appendingPathComponent("imagemill").standardizedFileURL.path }
        }
        return candidates.first { isExecutableFile($0) } ?? "imagemill"
    }

    private static func isExecutableFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
            return false
        }
        return FileManager.default.isExecutableFile(atPath: path)
    }

    /// Runs `imagemill` to its end.
    /// - Parameter seconds: after which it is killed, so that no test can hang.
    package func run(_ arguments: String..., user: User = .same, seconds: Double = 60) async throws -> CommandResult {
        try await run(arguments, user: user, seconds: seconds)
    }

    package func run(_ arguments: [String], user: User = .same, seconds: Double = 60) async throws -> CommandResult {
        try await run(program: Self.executable, arguments.map { Array($0.utf8) }, user: user, seconds: seconds)
    }

    /// Runs `imagemill` with arguments that need not be UTF-8.
    package func run(bytes arguments: [[UInt8]], seconds: Double = 60) async throws -> CommandResult {
        try await run(program: Self.executable, arguments, user: .same, seconds: seconds)
    }

    /// Runs another program, or a shell's line with `$IMAGEMILL` in it.
    package func shell(_ line: String, seconds: Double = 60) async throws -> CommandResult {
        try await run(program: "/bin/sh", ["-c", line].map { Array($0.utf8) }, user: .same, seconds: seconds)
    }

    /// Starts `imagemill` and lets it run. Hold on to the result: the program is killed with it.
    package func start(_ arguments: String...) throws -> RunningCommand { try start(arguments) }

    /// - Parameter variables: more of the environment, as `NAME=value`.
    package func start(_ arguments: [String], user: User = .same, variables: [String] = []) throws -> RunningCommand {
        try RunningCommand(
            program: Self.executable, arguments.map { Array($0.utf8) }, folder: folder.path, user: user,
            variables: variables)
    }

    private func run(program: String, _ arguments: [[UInt8]], user: User, seconds: Double) async throws -> CommandResult
    {
        await CommandGate.shared.enter()
        do {
            let command = try RunningCommand(program: program, arguments, folder: folder.path, user: user)
            let result = try await command.finish(withinSeconds: seconds)
            await CommandGate.shared.leave()
            return result
        } catch {
            await CommandGate.shared.leave()
            throw error
        }
    }
}

/// Lets a few programs run at once, so that a machine with two cores is not asked to do the work of fifty.
package actor CommandGate {
    package static let shared = CommandGate()

    private var free = 3
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package func enter() async {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    package func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
