// Signals that come while the daemon is still starting.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct EarlySignalTests {
    /// Waits until the program has a handler for SIGTERM, or has ended.
    private func untilItListens(_ watch: RunningCommand) async throws {
        for _ in 0..<60_000 where !watch.isEnded {
            let status = (try? String(contentsOfFile: "/proc/\(watch.process)/status", encoding: .utf8)) ?? ""
            let caught = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?.split(separator: "\t").last
            if let caught, let mask = UInt64(caught, radix: 16), mask & (1 << (SIGTERM - 1)) != 0 { return }
            usleep(1_000)
        }
    }

    /// A daemon that waits for its mill file, which is a pipe.
    private func waiting(_ drop: WatchedFolder) async throws -> (RunningCommand, FileHandle) {
        let path = drop.runner.folder.path("pipe.yaml")
        try #require(mkfifo(path, 0o600) == 0)
        let writing = FileHandle(fileDescriptor: open(path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        let watch = try drop.runner.start(["watch", "pipe.yaml"])
        try await drop.until("it reads the mill file") {
            let folder = "/proc/\(watch.process)/fd"
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return descriptors.contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
            }
        }
        return (watch, writing)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a daemon that still waits for its mill file is stopped in an orderly way`(signal: CInt) async throws {
        let (watch, writing) = try await waiting(WatchedFolder())
        watch.signal(signal)
        let result = try await watch.finish()
        #expect(result.exit == 0 && result.isExited && result.errors == "", "\(result)")
        withExtendedLifetime(writing) {}
    }

    @Test func `a hangup while the mill file is read ends nothing, and the file is read again`() async throws {
        let drop = try WatchedFolder()
        let (watch, writing) = try await waiting(drop)
        watch.signal(SIGHUP)
        try await Task.sleep(for: .milliseconds(200))
        #expect(!watch.isEnded)
        let (path, text) = (drop.runner.folder.path("pipe.yaml"), try drop.runner.bytes("mill.yaml"))
        // The file that it reads again is a plain one.
        try drop.runner.folder.write(text, to: "plain.yaml")
        #expect(rename(drop.runner.folder.path("plain.yaml"), path) == 0)
        try writing.write(contentsOf: text)
        try writing.close()
        try await drop.until("it reads the file again: \(watch.errorsSoFar)") {
            watch.errorsSoFar.contains("read 'pipe.yaml' again") || watch.isEnded
        }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `a daemon that was started with hangups ignored, as by nohup, reads its file again at one`() async throws
    {
        let drop = try WatchedFolder()
        let script = "trap '' HUP; exec '\(CommandRunner.executable)' watch mill.yaml"
        let watch = try RunningCommand(
            program: "/bin/sh", ["-c", script].map { Array($0.utf8) }, folder: drop.runner.folder.path)
        try await drop.until("it has started") { watch.errorsSoFar.contains("notice: started") }
        watch.signal(SIGHUP)
        try await drop.until("it reads the file again: \(watch.errorsSoFar)") {
            watch.errorsSoFar.contains("read 'mill.yaml' again")
        }
        #expect(try await drop.stop(watch).exit == 0)
    }

    @Test func `a signal at any moment of the start ends the daemon in an orderly way`() async throws {
        let drop = try WatchedFolder()
        try await drop.drop("a.jpg")
        for number in 0..<30 {
            let watch = try drop.runner.start(["watch", "mill.yaml"])
            try await untilItListens(watch)
            usleep(useconds_t(number * number * 400))
            watch.signal(SIGHUP)
            watch.signal(number.isMultiple(of: 2) ? SIGTERM : SIGINT)
            let result = try await watch.finish()
            #expect(result.exit == 0 && result.isExited, "the \(number)th: \(result)")
        }
        #expect(drop.files("state/failed").isEmpty)
    }
}
