// The behaviour under a limit of too few processes and threads: `ulimit -u`, or TasksMax= of a service.
import Foundation
import TestSupport
import Testing

@testable import System

/// Only root can become a user whose limit holds.
@Suite(.enabled(if: geteuid() == 0)) struct ThreadLimitTests {
    private static let pipeline = """
        renditions:
          small: { stages: [resize: { width: 30 }], save: { format: webp } }
          cut: { stages: [trim: {}, resize: { width: 20 }], save: { format: avif } }
        """

    private func folder() async throws -> CommandRunner {
        let runner = try CommandRunner()
        for name in ["a.jpg", "b.png", "c.jpg", "d.png"] { try await runner.picture("in/" + name) }
        try runner.folder.write(Self.pipeline, to: "p.yaml")
        #expect(try await runner.shell("chmod -R a+rwX .").exit == 0)
        return runner
    }

    @Test
    func `a run with too few threads blames no picture, ends by itself with 75, and the next run does what is left`()
        async throws
    {
        let runner = try await folder()
        let limited = "setpriv --reuid=nobody --regid=nogroup --clear-groups prlimit --nproc"
        var statuses: Set<Int> = []
        for limit in [1, 4, 7, 10, 13, 16, 20, 25, 30, 36, 45] {
            _ = try await runner.shell("rm -rf out")
            let result = try await runner.shell(
                "\(limited)=\(limit) \"$IMAGEMILL\" run p.yaml in -o out --jobs 2", seconds: 100)
            #expect(result.exit == 0 || result.exit == 75, "\(limit): \(result)")
            #expect(result.exit == 0 || result.errors.contains("cannot start a"), "\(limit): \(result.errors)")
            statuses.insert(result.exit)
            guard runner.exists("out/.imagemill/report.json") else { continue }
            let outcomes = try runner.report().outcomes
            #expect(outcomes.values.allSatisfy { $0 == "done" }, "\(limit): \(outcomes)")
        }
        #expect(statuses.contains(75), "no limit was too low")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result)")
    }

    @Test
    func `a drop folder without threads and processes pauses, fails nothing, and goes on when it gets them again`()
        async throws
    {
        let drop = try WatchedFolder()
        try drop.runner.folder.write(Self.pipeline, to: "p.yaml")
        #expect(try await drop.runner.shell("chmod -R a+rwX .").exit == 0)
        let watch = try drop.runner.start(["watch", "mill.yaml"], user: .unprivileged)
        try await drop.until("it has started: \(watch.errorsSoFar)") { watch.errorsSoFar.contains("notice: started") }
        try await limit(watch, "1", drop)
        // A worker that has its threads already could go on.
        #expect(try await drop.runner.shell("pkill -KILL -x exe -P \(watch.process)").exit == 0)
        for name in ["a.jpg", "b.png", "c.jpg"] { try await drop.drop(name) }
        try await drop.until("it is paused") { watch.errorsSoFar.contains("paused") }
        // Long enough for several attempts.
        try await Task.sleep(for: .seconds(8))
        #expect(
            drop.files("state/failed").isEmpty && drop.files("out").isEmpty && !watch.isEnded, "\(watch.errorsSoFar)")
        try await limit(watch, "1000", drop)
        for name in ["a.jpg", "b.png", "c.jpg"] { try await drop.until("out/\(name).json", "state/done/in/\(name)") }
        #expect(drop.files("state/failed").isEmpty)
        #expect(try await drop.stop(watch).exit == 0)
    }

    /// Changes how many processes and threads the program, what starts its workers, and its workers may have. Each user
    /// may do so to processes of his own.
    private func limit(_ watch: RunningCommand, _ count: String, _ drop: WatchedFolder) async throws {
        let user = "setpriv --reuid=nobody --regid=nogroup --clear-groups"
        let result = try await drop.runner.shell(
            "for p in \(watch.process) $(pgrep -P \(watch.process)); do \(user) prlimit --pid=$p --nproc=\(count): || exit 1; done"
        )
        #expect(result.exit == 0, "\(result)")
    }
}
