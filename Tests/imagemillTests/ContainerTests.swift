// In a container the program is often the first process of all, and always the same one.
import Foundation
import TestSupport
import Testing

@Suite struct ContainerTests {
    /// Whether this process may make process namespaces, as a container has one.
    private static let canUnshare: Bool = {
        guard TestMachine.isRoot else { return false }
        let probe = Process()
        probe.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        probe.arguments = ["--pid", "--fork", "--mount-proc", "true"]
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()

    private func runAsFirstProcess(_ runner: CommandRunner) async throws -> CommandResult {
        try await runner.shell("exec unshare --pid --fork --mount-proc \"$IMAGEMILL\" run p.yaml in -o out --jobs 1")
    }

    @Test(.enabled(if: canUnshare))
    func `the program works as process 1`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        let result = try await runAsFirstProcess(runner)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report().outcomes == ["a.jpg": "done"])
    }

    @Test(.enabled(if: canUnshare))
    func `what a killed process of the same number left behind is in nobody's way`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        for number in 1...3 { try runner.folder.write("half", to: "out/.imagemill-1-0-\(number).part") }
        let result = try await runAsFirstProcess(runner)
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.exists("out/a.webp"))
    }

    @Test(.enabled(if: TestMachine.canUnshareMounts))
    func `without /proc no argument reaches the program, and it says so`() async throws {
        let runner = try CommandRunner()
        let result = try await runner.shell(
            "unshare -m sh -c 'mount -t tmpfs tmpfs /proc && exec \"$IMAGEMILL\" --version'")
        #expect(result.exit == 75)
        #expect(result.errors == "imagemill: /proc is not mounted here; in a chroot: mount -t proc proc /proc\n")
    }
}
