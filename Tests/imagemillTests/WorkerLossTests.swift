// A worker that dies costs one attempt of one source, and nothing else.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct WorkerLossTests {
    @Test
    func `a worker that is killed in mid-batch is replaced, and its source is rendered all the same`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write("renditions:\n  a: { save: { format: avif, effort: 6 } }\n", to: "p.yaml")
        let slow = try await SamplePicture.noise(width: 600, height: 450)
        for index in 0..<4 { try runner.folder.write(slow, to: "in/\(index).jpg") }
        let command = try runner.start("run", "p.yaml", "in", "-o", "out", "--jobs", "2")
        while !command.isEnded && runner.files().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        // The first source is published, so the workers are at the next ones.
        try await Task.sleep(for: .milliseconds(50))
        let victim = try #require(command.children.first)
        #expect(kill(victim, SIGKILL) == 0)
        let result = try await command.finish()
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        #expect(report.summary.done == 4)
        // B18: what the system kills costs its source no attempt.
        #expect(report.sources.map(\.attempt) == [1, 1, 1, 1])
        #expect(runner.files() == ["0.avif", "1.avif", "2.avif", "3.avif"])
        for name in runner.files() { #expect(try await runner.size(of: "out/" + name) == [600, 450]) }
    }

    /// Its picture once failed for good as `timed-out`.
    @Test func `a worker that somebody has stopped is replaced, and its source is rendered all the same`() async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write("renditions:\n  a: { save: { format: avif, effort: 6 } }\n", to: "p.yaml")
        let slow = try await SamplePicture.noise(width: 600, height: 450)
        for index in 0..<3 { try runner.folder.write(slow, to: "in/\(index).jpg") }
        let command = try runner.start("run", "p.yaml", "in", "-o", "out", "--jobs", "2")
        while !command.isEnded && runner.files().isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        let victims = command.children
        #expect(!victims.isEmpty)
        for victim in victims { #expect(kill(victim, SIGSTOP) == 0) }
        let result = try await command.finish()
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try runner.report().sources.map(\.attempt) == [1, 1, 1])
    }

    @Test
    func `workers have nothing open but their socket and their errors, and see none of the user's secrets`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write("renditions:\n  a: { save: { format: avif, effort: 7 } }\n", to: "p.yaml")
        try runner.folder.write(try await SamplePicture.noise(width: 1600, height: 1200), to: "in/a.jpg")
        setenv("IMAGEMILL_TEST_SECRET", "secret", 1)
        let command = try runner.start("run", "p.yaml", "in", "-o", "out", "--jobs", "1")
        while !command.isEnded && command.children.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(300))
        let worker = try #require(command.children.first)
        let environment = try String(contentsOfFile: "/proc/\(worker)/environ", encoding: .utf8)
        #expect(!environment.contains("secret"))
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/fd")
        let targets = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(worker)/fd/\($0)")
        }
        #expect(
            !targets.contains { $0.hasSuffix("names.sqlite") || $0.hasSuffix("p.yaml") || $0.contains("report.json") })
        command.signal(SIGINT)
        _ = try await command.finish()
    }
}
