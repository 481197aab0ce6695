// Runs a program of the user's, for a limited time. Whatever it has started ends with it.
import Glibc
import Pipeline
import System

/// A program that is started without a shell, in a process group of its own.
struct HookProcess {
    let arguments: [String]
    /// Environment variables in addition to the usual few.
    var variables: [String: String] = [:]
    /// The bytes of its standard input.
    let input: [UInt8]
    /// The bytes of /dev/fd/3; nil if it is not open.
    var more: [UInt8]?
    let timeout: Duration
    /// How long the guard may take to end all. One that is still there then is held by the system.
    var patienceWithGuard = Duration.seconds(20)
    /// Why it failed, in a sentence; nil if it did not.
    var judge: @Sendable (Ending) -> String? = { $0.failure }

    /// How the program has ended by itself.
    struct Ending {
        /// As the user named it.
        let program: String
        /// Nil if a signal ended it.
        let code: CInt?
        let signal: CInt
        /// The last line that it wrote.
        let lastLine: String?

        var failure: String? {
            if code == 0 { return nil }
            let how = code.map { "ended with \($0)" } ?? "was ended by signal \(signal)"
            return "'\(program)' \(how)\(lastLine.map { ": \($0)" } ?? "")"
        }
    }

    enum Outcome: Equatable {
        case done
        /// A sentence, with what it said.
        case failed(String)
        /// The daemon stops.
        case interrupted
    }

    /// Bytes of its output that are kept.
    private static let longestOutput = 2048
    /// Between SIGTERM and the end of all that it has started, in milliseconds.
    private static let patienceAfterTerm: CInt = 2_000

    /// Waits until it has ended, or has taken too long. Blocks the thread.
    func run(by starter: ProcessStarter, _ cancellation: Cancellation) -> Outcome {
        do throws(SystemError) {
            let (reading, writing) = try OpenFile.socketPair()
            return wait(for: try starter.start(launch(output: writing)), reading, cancellation)
        } catch {
            return .failed(BytePath("\(error)").printable)
        }
    }

    /// Its input is in files in memory, so that a program that never reads it does not block us.
    private func launch(output: OpenFile) throws(SystemError) -> ProgramLaunch {
        let files = try [input, more].compactMap(\.self).map { bytes throws(SystemError) in
            try OpenFile.inMemory("imagemill-hook", bytes)
        }
        return ProgramLaunch(
            attempt: "start '\(BytePath(arguments[0]).printable)'", paths: Program(name: arguments[0]).places,
            arguments: arguments, environment: environment.map { ($0.key, $0.value) },
            descriptors: [files[0], output, output] + files.dropFirst(), patienceOfGuard: Self.patienceAfterTerm)
    }

    /// None of the daemon's secrets.
    private var environment: [String: String] {
        let kept = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"]
        let passed = kept.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        return Dictionary(passed) { first, _ in first }.merging(variables) { _, own in own }
    }

    /// - Parameter program: its process is the guard of the program, which ends as the program does.
    private func wait(for program: LaunchedProgram, _ reading: OpenFile, _ cancellation: Cancellation) -> Outcome {
        let (process, end) = (program.process, Moment.now + timeout)
        var (said, hasEnded, term) = ([UInt8](), false, Moment?.none)
        var isInterrupted = false
        _ = fcntl(reading.descriptor, F_SETFL, O_NONBLOCK)
        while true {
            var waiting = [reading.descriptor, term == nil ? cancellation.descriptor : -1].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            if hasEnded { waiting[0].fd = -1 }
            // The end of a process is no event of a descriptor: it may close its output long before, or leave it to
            // others.
            _ = poll(&waiting, 2, 20)
            hasEnded = read(reading, &said) || hasEnded
            var status: CInt = 0
            if waitpid(process, &status, WNOHANG) != 0 {
                _ = read(reading, &said)
                if isInterrupted { return .interrupted }
                if let error = program.refusal { return .failed("\(error)") }
                return term == nil ? judged(status, said) : .failed(tooLong(said))
            }
            if let term {
                guard .now < term + patienceWithGuard else {
                    program.end()
                    return isInterrupted ? .interrupted : .failed(tooLong(said))
                }
            } else if cancellation.isRaised || .now >= end {
                isInterrupted = cancellation.isRaised
                kill(process, SIGTERM)
                term = .now
            }
        }
    }

    /// - Returns: whether nothing more comes.
    private func read(_ file: OpenFile, _ said: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        // A program that floods has to wait: in one turn no more is thrown away than fits.
        let got = Glibc.read(file.descriptor, &chunk, chunk.count)
        if got > 0 { said = Array((said + chunk[..<got]).suffix(Self.longestOutput)) }
        return got == 0
    }

    private func judged(_ status: CInt, _ said: [UInt8]) -> Outcome {
        let (signal, code) = (status & 0x7F, (status >> 8) & 0xFF)
        let ending = Ending(
            program: BytePath(arguments[0]).printable, code: signal == 0 ? code : nil, signal: signal,
            lastLine: lastLine(of: said))
        return judge(ending).map { .failed($0) } ?? .done
    }

    private func tooLong(_ said: [UInt8]) -> String {
        "'\(BytePath(arguments[0]).printable)' took longer than \(timeout.written) and was stopped"
            + (lastLine(of: said).map { ": \($0)" } ?? "")
    }

    private func lastLine(of said: [UInt8]) -> String? {
        let lines = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.last.map { BytePath(String($0.suffix(300))).printable }
    }
}
