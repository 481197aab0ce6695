// A program under way: started with plain signals and with arguments as bytes, which Foundation's Process does not do.
package import Foundation
import Synchronization

/// The result of a program that has ended.
package struct CommandResult: Sendable {
    /// The exit code, or 128 and the signal's number as shells count.
    package let exit: Int
    /// It ended by itself, and not by a signal.
    package let isExited: Bool
    package let output: String
    package let errors: String
    package let seconds: Double

    /// The lines of standard error.
    package var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
}

package struct CommandError: Error, CustomStringConvertible {
    package let description: String
}

/// A program that runs. It is killed with this object.
package final class RunningCommand: Sendable {
    package let process: pid_t
    private let start = SuspendingClock.now
    private let output: CInt
    private let errors: CInt
    private let status = Mutex<CInt?>(nil)

    /// - Parameter variables: more of the environment, as `NAME=value`.
    package init(
        program: String, _ arguments: [[UInt8]], folder: String, user: CommandRunner.User = .same,
        variables: [String] = []
    ) throws {
        output = namelessFile()
        errors = namelessFile()
        let words = Self.prefix(folder, user, variables) + [Array(program.utf8)] + arguments
        process = try Self.spawn(words, output: output, errors: errors)
    }

    deinit {
        if !isEnded { kill(-process, SIGKILL) }
        close(output)
        close(errors)
    }

    /// The words that put a program into its folder and make it somebody else's.
    private static func prefix(_ folder: String, _ user: CommandRunner.User, _ variables: [String]) -> [[UInt8]] {
        var words = ["/usr/bin/env", "-C", folder] + variables
        if user == .unprivileged, geteuid() == 0 {
            words += ["/usr/bin/setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        }
        return words.map { Array($0.utf8) }
    }

    private static func spawn(_ words: [[UInt8]], output: CInt, errors: CInt) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads of this process hold signals back, and a child would inherit that.
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)

        let arguments = words.map(copied) + [nil]
        let variables = ProcessInfo.processInfo.environment.merging(["IMAGEMILL": CommandRunner.executable]) { _, new in
            new
        }
        let environment = variables.map { copied(Array("\($0.key)=\($0.value)".utf8)) } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        var process = pid_t()
        let result = posix_spawnp(&process, arguments[0]!, &actions, &attributes, arguments, environment)
        guard result == 0 else {
            throw CommandError(
                description: "cannot start \(String(decoding: words[0], as: UTF8.self)): error \(result)")
        }
        return process
    }

    /// Sends a signal to the program alone, not to its children.
    package func signal(_ number: CInt) { kill(process, number) }

    package var isEnded: Bool {
        status.withLock { status in
            if status != nil { return true }
            var word: CInt = 0
            guard waitpid(process, &word, WNOHANG) == process else { return false }
            status = word
            return true
        }
    }

    /// The workers that the program has started and that still run.
    package var children: [pid_t] {
        let tasks = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.flatMap { thread in
            let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/children", encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }.filter { child in
                // It starts workers.
                (try? String(contentsOfFile: "/proc/\(child)/comm", encoding: .utf8)) != "imagemill-start\n"
            }
        }
    }

    /// The text that it has written to standard error so far.
    package var errorsSoFar: String { contents(errors) }

    /// Waits for the end.
    /// - Throws: if it takes longer than `seconds`; the program is killed then.
    package func finish(withinSeconds seconds: Double = 60) async throws -> CommandResult {
        while !isEnded {
            guard SuspendingClock.now - start < .seconds(seconds) else {
                kill(-process, SIGKILL)
                kill(process, SIGKILL)
                throw CommandError(
                    description: "the program did not end within \(seconds) s; it wrote: \(contents(errors))")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        let word = status.withLock { $0 } ?? 0
        let signal = word & 0x7F
        let taken = (SuspendingClock.now - start).components
        return CommandResult(
            exit: signal == 0 ? Int(word >> 8 & 0xFF) : 128 + Int(signal), isExited: signal == 0,
            output: contents(output),
            errors: contents(errors), seconds: Double(taken.seconds) + Double(taken.attoseconds) / 1e18)
    }
}

/// A file without a name, which a program can fill without anybody reading.
private func namelessFile() -> CInt {
    var path = (FileManager.default.temporaryDirectory.path + "/imagemill-output-XXXXXX").utf8CString.map { $0 }
    let descriptor = mkstemp(&path)
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
}

private func contents(_ descriptor: CInt) -> String {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while case let got = pread(descriptor, &block, block.count, off_t(bytes.count)), got > 0 { bytes += block[..<got] }
    return String(decoding: bytes, as: UTF8.self)
}

private func copied(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { strdup($0.baseAddress!) }
}

/// Whether a process runs. A zombie whose new parent does not care does not.
package func isAlive(_ process: pid_t) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    return !status.isEmpty && !status.contains("State:\tZ")
}
