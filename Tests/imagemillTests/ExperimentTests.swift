// The experiments of Tests/Chaos on the drop folder, those that are quick enough, in their short versions. `make chaos` runs all at length.
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct ExperimentTests {
    @Test(
        "An experiment holds in its short version",
        arguments: [
            "kill-points", "failing-calls", "power-loss", "kill-loop", "disk-full", "slow-writers", "overflow", "odd-names", "reload", "terminate",
        ])
    func short(name: String) async throws {
        let runner = try CommandRunner()
        let result = try await runner.shell(
            "/usr/bin/python3 '\(Checkout.path)/Tests/Chaos/run' --short --imagemill \"$IMAGEMILL\" \(name)", seconds: 240)
        #expect(result.exit == 0, "\(result.output)\(result.errors)")
        // What was skipped says so; what says nothing has not run.
        #expect(result.output.hasPrefix("\(name): "), "\(result.output)\(result.errors)")
    }

    @Test("Every experiment is in the runner's list and in the table of README.md")
    func listed() async throws {
        let runner = try CommandRunner()
        let folder = Checkout.path + "/Tests/Chaos"
        let listed = try await runner.shell("/usr/bin/python3 '\(folder)/run' --list").output.split(separator: "\n").map(String.init)
        let scripts = try await runner.shell("cd '\(folder)' && grep -l '^main(experiment' *").output.split(separator: "\n").map(String.init)
        #expect(listed.sorted() == scripts.filter { $0 != "experiment.py" }.sorted() && !listed.isEmpty)
        let table = try String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        for name in listed { #expect(table.contains("| `\(name)` |"), "\(name)") }
    }

    @Test("An experiment that fails, and a name that is none, are told by the exit code")
    func failing() async throws {
        let runner = try CommandRunner()
        let script = "/usr/bin/python3 '\(Checkout.path)/Tests/Chaos/run'"
        let failed = try await runner.shell("\(script) --short --imagemill /bin/false outbox-removed")
        #expect(
            failed.exit == 1 && failed.output.contains("outbox-removed: FAILED: the daemon does not say that it runs: the daemon has ended with 1"))
        #expect(failed.errors.contains("failed: outbox-removed"))
        let unknown = try await runner.shell("\(script) kill-lop")
        #expect(unknown.exit == 2 && unknown.errors.contains("no such experiment: kill-lop"))
    }
}
