// Sources that change while they are decoded. The worker is stopped in the middle, so that each change comes at the
// same moment each time.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing
import Vips

@testable import Engine
@testable import Messages
@testable import System

@Suite struct ChangedSourceTests {
    /// When the worker stops.
    enum Moment: CaseIterable {
        /// Before it reads the fifth piece of the source.
        case reading
        /// Before the first byte of the rendition is written.
        case writing

        /// How many pieces are read, and how many writes begin, until it stops; 0 is never.
        fileprivate var counts: String { self == .reading ? "5 0" : "0 1" }
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

    /// A source that changes.
    private struct Case {
        let moment: Moment
        let change: Change
        var name: String { "\(moment)-\(change)" }

        static let all = Moment.allCases.flatMap { moment in Change.allCases.map { Case(moment: moment, change: $0) } }
    }

    /// Pictures that are large enough to be read in several pieces: two that differ, and another length.
    private static func picture(_ format: SourceFormat, seed: Int) async throws -> [UInt8] {
        func noise(_ x: Int, _ y: Int) -> [UInt8] {
            let noise = (x &* 73_856_093) ^ (y &* 19_349_663) ^ (seed &* 83_492_791)
            return [
                UInt8(truncatingIfNeeded: noise), UInt8(truncatingIfNeeded: noise >> 8),
                UInt8(truncatingIfNeeded: noise >> 16),
            ]
        }
        let squares = (0..<30 + seed).flatMap { y in (0..<40).map { x in (x: 8 * x, y: 8 * y, color: noise(x, y)) } }
        switch format {
        case .raw:
            return CameraDNG(width: 320, height: 8 * (30 + seed)).file { x, y in noise(x / 8, y / 8) }
        case .svg:
            let rectangles = squares.map {
                "<rect x='\($0.x)' y='\($0.y)' width='8' height='8' fill='rgb(\($0.color.map(String.init).joined(separator: ",")))'/>"
            }
            return Array(
                ("<svg xmlns='http://www.w3.org/2000/svg' width='320' height='240'>" + rectangles.joined() + "</svg>")
                    .utf8)
        case .pdf:
            let page = squares.map { square in
                square.color.map { String(Double($0) / 255) + " " }.joined() + "rg \(square.x) \(square.y) 8 8 re f"
            }
            return Array(SmallPDF.file(pages: [page.joined(separator: "\n")], width: 320, height: 240).utf8)
        default:
            let (saver, options): (String, [(String, Argument)]) =
                switch format {
                case .heic: ("heifsave_target", [("compression", "hevc"), ("effort", 0)])
                case .avif: ("heifsave_target", [("compression", "av1"), ("effort", 0)])
                case .jp2: ("jp2ksave_target", [])
                default: ("\(format.rawValue)save_target", [])
                }
            return try await inVipsTurn {
                let picture = try TestPicture.make(width: 320, height: 240, noise)
                let folder = try TemporaryFolder()
                let path = try TestPicture.save(picture, as: saver, options, to: folder.path("picture"))
                return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            }
        }
    }

    /// Runs the pipeline over all sources with one worker.
    /// - Parameter change: called each time that the worker has stopped.
    private func run(
        _ runner: CommandRunner, _ format: SourceFormat, change: (Case) throws -> Void
    ) async throws -> [String: SourceReport] {
        let lines = Case.all.map { "\($0.moment.counts) \(runner.folder.path("in/\($0.name)"))" }
        let state = try runner.folder.write([0], to: "state")
        let script = """
            echo $$ >> '\(runner.folder.path("pids"))'
            STOP_STATE='\(state)' STOP_SOURCES='\(lines.joined(separator: "\n"))' LD_PRELOAD='\(runner.folder.path("stop.so"))' exec "$0" __worker
            """
        let command = WorkerCommand(executable: "/bin/sh", arguments: ["-c", script, CommandRunner.executable])
        var limits = Limits()
        if format.isOnRequest { limits.allowed = [format] }
        let isFinished = Mutex(false)
        async let reports = {
            defer { isFinished.withLock { $0 = true } }
            return try await runner.run(workers: command, lanes: 1, limits: limits)
        }()
        var left = Set(Case.all.indices)
        while !isFinished.withLock({ $0 }) {
            if let worker = stoppedWorker(runner) {
                // Read after it was seen to have stopped; it may be the one that just went on.
                let index = Int(try runner.bytes("state")[0]) - 1
                if left.remove(index) != nil { try change(Case.all[index]) }
                kill(worker, SIGCONT)
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(left.isEmpty, "the worker has not stopped at \(left.map { Case.all[$0].name })")
        return try await reports
    }

    private func stoppedWorker(_ runner: CommandRunner) -> pid_t? {
        let pids = ((try? runner.folder.text("pids")) ?? "").split(separator: "\n").compactMap { pid_t($0) }
        return pids.first { pid in
            let status = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
            return status.split(separator: ")").last?.hasPrefix(" T") == true
        }
    }

    @Test(arguments: SourceFormat.allCases)
    func `a source that is truncated, overwritten or replaced while it is decoded is never published in part`(
        format: SourceFormat
    ) async throws {
        let runner = try CommandRunner()
        let compiling = try await runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -o stop.so '\(Checkout.path)/Tests/Fixtures/stop.c' -ldl"
        )
        try #require(compiling.exit == 0, "\(compiling)")
        try runner.pipeline(size: "300x300", format: "png", file: "{stem}.png")
        let pictures = [try await Self.picture(format, seed: 1), try await Self.picture(format, seed: 2)]
        for changing in Case.all { try runner.folder.write(pictures[0], to: "in/" + changing.name) }
        for (picture, name) in zip(pictures, ["x-before", "x-after"]) {
            try runner.folder.write(picture, to: "in/" + name)
        }
        let reports = try await run(runner, format) {
            try $0.change.make(runner.folder.path("in/" + $0.name), pictures[1])
        }
        let whole = try ["x-before", "x-after"].map { try runner.bytes("out/\($0).png") }
        #expect(whole[0] != whole[1])
        for changing in Case.all {
            // The published picture is that of before or that of afterwards, as a whole.
            let rendition =
                runner.exists("out/\(changing.name).png") ? try runner.bytes("out/\(changing.name).png") : nil
            if let rendition { #expect(whole.contains(rendition), "\(changing.name)") }
            #expect((rendition == nil) == (reports[changing.name]?.status == .failed), "\(changing.name)")
            if changing.change == .truncated { #expect(rendition == nil, "\(changing.name)") }
        }
        #expect(runner.files().allSatisfy { $0.hasSuffix(".png") }, "\(runner.files())")
    }
}
