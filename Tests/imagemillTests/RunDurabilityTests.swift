// `run` has its renditions written to the disk once, before it says that it is done.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct RunDurabilityTests {
    private let runner: CommandRunner

    init() throws {
        runner = try CommandRunner()
        try runner.pipeline(format: "jpeg")
    }

    /// Runs over `in`, with everything that is synced written down.
    private func run(failing path: String = "") async throws -> (result: CommandResult, syncs: [String]) {
        let built = try await runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -o syncs.so '\(Checkout.path)/Tests/Fixtures/syncs.c' -ldl"
        )
        try #require(built.exit == 0, "\(built.errors)")
        _ = try await runner.shell("rm -f log")
        let variables = "SYNC_LOG=$PWD/log SYNC_REPORT=$PWD/report.json \(path.isEmpty ? "" : "SYNC_FAILS=\(path)")"
        let result = try await runner.shell(
            "\(variables) LD_PRELOAD=$PWD/syncs.so \"$IMAGEMILL\" run p.yaml in -o out --keep-tree --report report.json"
        )
        let log = runner.exists("log") ? String(decoding: try runner.bytes("log"), as: UTF8.self) : ""
        return (result, log.split(separator: "\n").map(String.init))
    }

    @Test func `a few renditions are synced one by one, with their folders, before the report has its name`()
        async throws
    {
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/sub/deep/b.jpg")
        let (result, syncs) = try await run()
        #expect(result.exit == 0, "\(result.errors)")
        let out = runner.folder.path + "/out"
        for name in ["/a.jpg", "/sub/deep/b.jpg", "/sub/deep", "/sub", ""] {
            #expect(syncs.filter { $0 == "fsync \(out)\(name)" }.count == 1, "\(name): \(syncs)")
        }
        #expect(syncs.contains("fsync \(runner.folder.path)"), "\(syncs)")
        #expect(!syncs.contains { $0.hasPrefix("syncfs") || $0.hasSuffix("late") }, "\(syncs)")
        // A second run has nothing to do.
        let again = try await run()
        #expect(again.result.exit == 0 && !again.syncs.contains { $0.contains("out/a.jpg") }, "\(again.syncs)")
    }

    /// One call may be made while the last ones are rendered.
    @Test func `many renditions are synced at once`() async throws {
        try await runner.picture("in/0.jpg")
        _ = try await runner.shell("for i in $(seq 1 70); do cp in/0.jpg in/$i.jpg; done")
        let (result, syncs) = try await run()
        #expect(result.exit == 0, "\(result.errors)")
        let whole = syncs.filter { $0.hasPrefix("syncfs ") }
        #expect(Set(whole) == ["syncfs \(runner.folder.path)/out"] && whole.count <= 2, "\(syncs)")
        #expect(!syncs.contains { $0.hasSuffix(".jpg") }, "\(syncs)")
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `each file system below the output folder that has renditions is synced`() async throws {
        try await runner.picture("in/sub/0.jpg")
        let mounted = try await runner.shell(
            "for i in $(seq 1 20); do cp in/sub/0.jpg in/$i.jpg; done; mkdir -p out/sub; mount -t tmpfs tmpfs out/sub")
        try #require(mounted.exit == 0, "\(mounted.errors)")
        let (result, syncs) = try await run()
        _ = try await runner.shell("umount --lazy out/sub")
        #expect(result.exit == 0, "\(result.errors)")
        let out = runner.folder.path + "/out"
        #expect(Set(syncs.filter { $0.hasPrefix("syncfs ") }) == ["syncfs \(out)", "syncfs \(out)/sub"], "\(syncs)")
    }

    @Test func `very many renditions are synced while others are rendered too`() async throws {
        try await runner.picture("in/0.jpg")
        _ = try await runner.shell("for i in $(seq 1 1100); do cp in/0.jpg in/$i.jpg; done")
        let (result, syncs) = try await run()
        #expect(result.exit == 0, "\(result.errors)")
        let whole = syncs.filter { $0.hasPrefix("syncfs ") }
        #expect(Set(whole) == ["syncfs \(runner.folder.path)/out"] && (2...3).contains(whole.count), "\(syncs)")
    }

    @Test(arguments: [2, 70, 1100])
    func `if they cannot be written to the disk, the run says so and ends with 75, and the next one does them again`(
        count: Int
    ) async throws {
        try await runner.picture("in/1.jpg")
        _ = try await runner.shell("for i in $(seq 2 \(count)); do cp in/1.jpg in/$i.jpg; done")
        let (result, _) = try await run(failing: count == 2 ? "out/2.jpg" : "/out")
        let name = count == 2 ? "out/2.jpg" : "out"
        #expect(result.exit == 75, "\(result.errors)")
        #expect(
            result.errors.contains("cannot write '\(name)' to the disk: No space left on device"), "\(result.errors)")
        #expect(!runner.exists("report.json"))
        let next = try await run()
        #expect(next.result.exit == 0, "\(next.result.errors)")
        #expect(try runner.report("report.json").summary.done == count)
    }

    @Test func `nothing is synced for a dry run, and for what goes to standard output`() async throws {
        try await runner.picture("in/a.jpg")
        _ = try await run()
        _ = try await runner.shell("rm -rf out log")
        for line in ["run p.yaml in -o out --dry-run", "run p.yaml in/a.jpg -o - > a.jpg"] {
            let result = try await runner.shell(
                "SYNC_LOG=$PWD/log SYNC_REPORT=$PWD/none LD_PRELOAD=$PWD/syncs.so \"$IMAGEMILL\" \(line)")
            #expect(result.exit == 0, "\(result.errors)")
            let log = runner.exists("log") ? String(decoding: try runner.bytes("log"), as: UTF8.self) : ""
            #expect(!log.contains(".jpg") && !log.contains("/out\n"), "\(line): \(log)")
        }
    }

    @Test(.enabled(if: canMount, "skipped: only root can mount by /dev/fuse"))
    func `on a network file system a rendition that cannot be written ends the run, and is not in place`() async throws
    {
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/b.jpg")
        _ = try await runner.shell("mkdir real out")
        let mount = Task {
            try await runner.shell("/usr/bin/python3 '\(Checkout.path)/Tests/Chaos/passthrough' real out > mounted")
        }
        defer { mount.cancel() }
        for _ in 0..<3000 where (try? runner.bytes("mounted"))?.isEmpty != false {
            try await Task.sleep(for: .milliseconds(20))
        }
        // It has no name yet when it is synced.
        let (result, syncs) = try await run(failing: "/out/.imagemill-")
        let files = try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("real"))
        _ = try await runner.shell("umount -l out")
        #expect(result.exit == 75, "\(result.errors)")
        #expect(
            result.errors.contains("cannot write into 'out': No space left on device; make room there"),
            "\(result.errors)")
        #expect(try runner.report("report.json").outcomes.isEmpty)
        #expect(files.filter { !$0.hasPrefix(".") } == [], "\(syncs)")
    }

    private static var canMount: Bool { TestMachine.isRoot && access("/dev/fuse", R_OK | W_OK) == 0 }
}
