// Ctrl-C and its like in mid-batch: quickly over, nothing half-done, an honest report.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct InterruptTests {
    /// A batch that takes far longer than any test may.
    private func startLongBatch(_ runner: CommandRunner) async throws -> RunningCommand {
        try runner.folder.write(
            "renditions:\n  a: { save: { format: avif, effort: 6 }, file: \"{stem}.avif\" }\n  b: { save: { format: jpeg } }\n",
            to: "p.yaml")
        let quick = try await SamplePicture.jpeg.bytes
        let slow = try await SamplePicture.noise(width: 1600, height: 1200)
        for index in 0..<60 { try runner.folder.write(index < 4 ? quick : slow, to: "in/\(index).jpg") }
        let command = try runner.start("run", "p.yaml", "in", "-o", "out", "--jobs", "2")
        for _ in 0..<3000 {
            guard runner.files().isEmpty && !command.isEnded else { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        // The slow ones are under way by then.
        try await Task.sleep(for: .milliseconds(500))
        return command
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends a batch at once, with the shell's exit code and a complete report`(signal: CInt) async throws {
        let runner = try CommandRunner()
        let command = try await startLongBatch(runner)
        let workers = command.children
        #expect(!workers.isEmpty)
        let start = SuspendingClock.now
        command.signal(signal)
        let result = try await command.finish()
        #expect(SuspendingClock.now - start < .seconds(10))
        #expect(result.isExited, "the program was ended by the signal instead of ending itself")
        #expect(result.exit == 128 + Int(signal))
        #expect(result.errors.contains("stopped: "))

        let report = try runner.report()
        #expect(report.summary.interrupted)
        #expect(report.summary.sources == 60)
        #expect(report.summary.done == report.sources.count)
        #expect(report.summary.done >= 1 && report.summary.done < 60)
        try await expectWholePictures(runner, report)
        for worker in workers { #expect(kill(worker, 0) != 0, "a worker outlived the program") }
    }

    /// The output folder contains the files that the report names, and each of them can be decoded.
    private func expectWholePictures(_ runner: CommandRunner, _ report: BatchDocument) async throws {
        #expect(runner.files() == report.sources.flatMap { $0.renditions.map(\.path) }.sorted())
        let own = try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("out/.imagemill"))
        #expect(!own.contains { $0.hasSuffix(".part") })
        for entry in report.sources {
            for rendition in entry.renditions {
                #expect(try await runner.size(of: "out/" + rendition.path) == [rendition.width, rendition.height])
            }
        }
    }

    @Test
    func `a batch whose supervisor is killed leaves no worker and no half file, and can be run again`() async throws {
        let runner = try CommandRunner()
        let command = try await startLongBatch(runner)
        let workers = command.children
        command.signal(SIGKILL)
        let result = try await command.finish()
        #expect(!result.isExited)
        for _ in 0..<1000 where workers.contains(where: isAlive) { try await Task.sleep(for: .milliseconds(10)) }
        for worker in workers { #expect(!isAlive(worker), "a worker outlived the program") }
        #expect(!runner.files().contains { $0.contains("part") })
        for name in runner.files() { #expect(try await runner.size(of: "out/" + name).count == 2) }

        for index in 4..<60 { try FileManager.default.removeItem(atPath: runner.folder.path("in/\(index).jpg")) }
        let again = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(again.exit == 0)
        #expect(!runner.files().contains { $0.contains("-2") })
    }
}
