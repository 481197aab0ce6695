// Sources that change while they are decoded. The worker is stopped in the middle, so that each change comes at the same moment each time.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine

@Suite struct ChangedSourceTests {
    /// When the worker stops.
    enum Moment: CaseIterable {
        /// Before it reads the source for the fifth time. WebP and GIF are read by fewer calls, and so not stopped.
        case reading
        /// Before the first byte of the rendition is written.
        case writing
        case never

        fileprivate var variables: String {
            switch self {
            case .reading: "STOP_READ=5 STOP_WRITE=0"
            case .writing: "STOP_READ=0 STOP_WRITE=1"
            case .never: "STOP_READ=0 STOP_WRITE=0"
            }
        }
    }

    enum Change: CaseIterable {
        case truncated, overwritten, replaced

        fileprivate func make(_ path: String, _ other: [UInt8]) throws {
            let url = URL(fileURLWithPath: path)
            switch self {
            case .truncated:
                let handle = try FileHandle(forUpdating: url)
                try handle.truncate(atOffset: handle.seekToEnd() / 2)
            case .overwritten:
                let handle = try FileHandle(forUpdating: url)
                try handle.write(contentsOf: Data(other))
                try handle.truncate(atOffset: UInt64(other.count))
            case .replaced:
                try Data(other).write(to: url, options: .atomic)
            }
        }
    }

    /// A picture that is large enough to be read in several pieces.
    private static func picture(_ kind: SamplePicture, seed: Int) async throws -> [UInt8] {
        try await kind.encode(
            TestPicture.make(width: 320, height: 240) { x, y in
                let noise = (x &* 73_856_093) ^ (y &* 19_349_663) ^ (seed &* 83_492_791)
                return [UInt8(truncatingIfNeeded: noise), UInt8(truncatingIfNeeded: noise >> 8), UInt8(truncatingIfNeeded: noise >> 16)]
            })
    }

    /// Runs the pipeline over the one source, which changes when the worker has stopped.
    /// - Returns: the rendition, if there is one, and whether the worker has stopped.
    private func run(_ runner: CommandRunner, _ name: String, _ moment: Moment, change: () throws -> Void = {}) async throws -> (
        rendition: [UInt8]?, hasStopped: Bool
    ) {
        let path = runner.folder.path("in/" + name)
        let script = """
            echo $$ >> '\(runner.folder.path("pids"))'
            STOP_SOURCE='\(path)' \(moment.variables) LD_PRELOAD='\(runner.folder.path("stop.so"))' exec "$0" __worker
            """
        let command = WorkerCommand(executable: "/bin/sh", arguments: ["-c", script, CommandRunner.executable])
        let isFinished = Mutex(false)
        let out = "out-\(UUID().uuidString)"
        async let reports = {
            defer { isFinished.withLock { $0 = true } }
            return try await runner.run(to: out, workers: command, lanes: 1)
        }()
        var hasStopped = false
        while !isFinished.withLock({ $0 }), !hasStopped {
            if let worker = stoppedWorker(runner) {
                hasStopped = true
                try change()
                kill(worker, SIGCONT)
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        _ = try await reports
        return (try runner.files(in: out).first.map { try runner.bytes(out + "/" + $0) }, hasStopped)
    }

    private func stoppedWorker(_ runner: CommandRunner) -> pid_t? {
        let pids = ((try? runner.folder.text("pids")) ?? "").split(separator: "\n").compactMap { pid_t($0) }
        return pids.first { pid in
            let status = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
            return status.split(separator: ")").last?.hasPrefix(" T") == true
        }
    }

    @Test("A source that is truncated, overwritten or replaced while it is decoded is never published in part", arguments: SamplePicture.allCases)
    func changes(kind: SamplePicture) async throws {
        let runner = try CommandRunner()
        let compiling = try await runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -o stop.so '\(Checkout.path)/Tests/Fixtures/stop.c' -ldl")
        try #require(compiling.exit == 0, "\(compiling)")
        try runner.pipeline(size: "300x300", format: "png")
        let name = "a." + kind.fileExtension
        let pictures = [try await Self.picture(kind, seed: 1), try await Self.picture(kind, seed: 2)]
        var whole: [[UInt8]] = []
        for picture in pictures {
            try runner.folder.write(picture, to: "in/" + name)
            whole.append(try #require(try await run(runner, name, .never).rendition))
        }
        #expect(whole[0] != whole[1])
        for moment in [Moment.reading, .writing] {
            for change in Change.allCases {
                try runner.folder.write(pictures[0], to: "in/" + name)
                let path = runner.folder.path("in/" + name)
                let (rendition, hasStopped) = try await run(runner, name, moment) { try change.make(path, pictures[1]) }
                #expect(hasStopped || (moment == .reading && (kind == .webp || kind == .gif)), "\(moment)")
                // What is published is the picture of before or that of afterwards, as a whole.
                if let rendition { #expect(whole.contains(rendition), "\(change) while \(moment)") }
                if change == .truncated && hasStopped { #expect(rendition?.count == nil, "while \(moment)") }
            }
        }
    }
}
