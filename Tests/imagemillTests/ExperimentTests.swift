// The experiments of Tests/Chaos on the drop folder, those that are quick enough, in their short versions. `make chaos`
// runs all at length.
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct ExperimentTests {
    // A test for each, not one with arguments: a case of such a test cannot be skipped visibly.
    @Test func `kill-points`() async throws { try await holds("kill-points") }
    @Test func `failing-calls`() async throws { try await holds("failing-calls") }
    @Test func `lost-answer`() async throws { try await holds("lost-answer") }
    @Test func `power-loss`() async throws { try await holds("power-loss") }
    @Test func `kill-loop`() async throws { try await holds("kill-loop") }
    @Test func `kept-set`() async throws { try await holds("kept-set") }
    @Test func `kill-sets`() async throws { try await holds("kill-sets") }
    @Test func `late-members`() async throws { try await holds("late-members") }
    @Test func `swapped-member`() async throws { try await holds("swapped-member") }
    @Test func `second-rename`() async throws { try await holds("second-rename") }
    @Test func `droppers`() async throws { try await holds("droppers") }
    @Test func `disk-full`() async throws { try await holds("disk-full") }
    @Test func `no-room`() async throws { try await holds("no-room") }
    @Test func `hanging-file-system`() async throws { try await holds("hanging-file-system") }
    @Test func `hanging-outbox`() async throws { try await holds("hanging-outbox") }
    @Test func `hanging-start`() async throws { try await holds("hanging-start") }
    @Test func `failing-reads`() async throws { try await holds("failing-reads") }
    @Test func `slow-sources`() async throws { try await holds("slow-sources") }
    @Test func `slow-writers`() async throws { try await holds("slow-writers") }
    @Test func `overflow`() async throws { try await holds("overflow") }
    @Test func `odd-names`() async throws { try await holds("odd-names") }
    @Test func `reload`() async throws { try await holds("reload") }
    @Test func `terminate`() async throws { try await holds("terminate") }
    @Test func `explore`() async throws { try await holds("explore") }

    /// Runs an experiment in its short version.
    private func holds(_ name: String) async throws {
        let runner = try CommandRunner()
        let result = try await runner.shell(
            "/usr/bin/python3 '\(Checkout.path)/Tests/Chaos/run' --short --imagemill \"$IMAGEMILL\" \(name)",
            seconds: 900)
        #expect(result.exit == 0 || result.exit == Self.skipped, "\(result.output)\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        // One line for each variant, and the count of all; what says nothing has not run.
        #expect(
            lines.count > 1 && lines.dropLast().allSatisfy { $0.hasPrefix(name) }, "\(result.output)\(result.errors)")
        for line in lines where line.contains("not done here: ") { print(line) }
        let reasons = lines.dropLast().filter { $0.contains(": skipped: ") }
        if !reasons.isEmpty { try skip(reasons.joined(separator: "; ")) }
    }

    /// The exit code of an experiment that cannot be done here.
    private static let skipped: Int32 = 77

    /// Ends a test as skipped, in the summary too: a check that was not made has not passed.
    private func skip(_ reason: String) throws {
        #if compiler(>=6.3)
            try Test.cancel("\(reason)")
        #else
            // Older toolchains cannot skip a test that has begun.
            Issue.record("\(reason)")
        #endif
    }

    @Test func `every experiment is in the runner's list and in the table of README.md`() async throws {
        let runner = try CommandRunner()
        let folder = Checkout.path + "/Tests/Chaos"
        let listed = try await runner.shell("/usr/bin/python3 '\(folder)/run' --list").output.split(separator: "\n")
            .map(String.init)
        let scripts = try await runner.shell("cd '\(folder)' && grep -l '^main(experiment' *").output.split(
            separator: "\n"
        ).map(String.init)
        // A script that runs inside of an experiment's virtual machine is no experiment by itself.
        let experiments = scripts.filter { $0 != "experiment.py" && !$0.hasSuffix("-guest") }
        #expect(listed.sorted() == experiments.sorted() && !listed.isEmpty)
        let table = try String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        for name in listed { #expect(table.contains("| `\(name)` |"), "\(name)") }
    }

    @Test
    func `an experiment that fails, is skipped or does not exist shows in the exit code and the last line`()
        async throws
    {
        let runner = try CommandRunner()
        let script = "/usr/bin/python3 '\(Checkout.path)/Tests/Chaos/run'"
        // The files that a failed experiment leaves for a look are removed with the runner's folder.
        let failed = try await runner.shell("TMPDIR=\"$PWD\" \(script) --short --imagemill /bin/false outbox-removed")
        #expect(
            failed.exit == 1
                && failed.output.contains(
                    "outbox-removed: FAILED: the daemon does not say that it runs: the daemon has ended with 1")
        )
        #expect(failed.output.contains("\n0 held, 1 failed (outbox-removed), 0 skipped, in "), "\(failed.output)")
        // Without any program in its path, it finds no compiler.
        let skipped = try await runner.shell(
            "TMPDIR=\"$PWD\" PATH=\"$PWD\" \(script) --short --imagemill /bin/false kept-set power-loss")
        #expect(
            skipped.exit == 1 && skipped.output.contains("power-loss: skipped: there is no C compiler"),
            "\(skipped.output)\(skipped.errors)")
        let none = try await runner.shell(
            "TMPDIR=\"$PWD\" PATH=\"$PWD\" \(script) --short --imagemill /bin/false failing-calls")
        #expect(
            none.exit == Self.skipped
                && none.output.contains("\n0 held, 0 failed, 3 skipped (failing-calls --runs 6, "), "\(none.output)")
        let unknown = try await runner.shell("\(script) kill-lop")
        #expect(unknown.exit == 2 && unknown.errors.contains("no such experiment: kill-lop"))
    }
}
