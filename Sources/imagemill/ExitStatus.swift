// The exit codes that scripts rely on.
import ArgumentParser
import Engine
import Glibc
import Pipeline
import System

enum ExitStatus {
    static let someFailed = ExitCode(1)
    static let allFailed = ExitCode(2)
    static let usage = ExitCode(64)
    static let tryAgain = ExitCode(75)
    static let configuration = ExitCode(78)

    /// The code for an interrupting signal, as shells count: 128 and the signal's number.
    static func stopped(by signal: CInt) -> ExitCode { ExitCode(128 + signal) }

    /// Says why a file that the user wrote cannot be used, and the code to end with: a mistake in it, or a file that is
    /// missing or cannot be read.
    /// - Parameter ending: what follows from mistakes in the file.
    static func explaining(
        _ error: any Error, reading file: String, ending: String = "; nothing was written"
    ) -> ExitCode {
        guard let error = error as? SystemError else { return explaining(error, pipeline: file, ending: ending) }
        tell(error)
        return error.mayPass ? tryAgain : configuration
    }

    /// Says why a command cannot go on, and the code to end with. Trouble with the output folder or the state folder
    /// may pass.
    static func explaining(_ error: any Error, pipeline: String, ending: String = "; nothing was written") -> ExitCode {
        switch error {
        case let diagnostics as Diagnostics:
            printError(diagnostics.painted(Paint(2)))
            printError("\(counted(diagnostics.items.count, "mistake")) in \(diagnostics.file)\(ending)")
            return configuration
        case let problems as MillProblems:
            problems.mistakes.forEach { printError($0.painted(Paint(2))) }
            problems.refusals.forEach { printError("imagemill: \($0)") }
            if let sentence = problems.count { printError(sentence + ending) }
            return configuration
        case let error as SystemError:
            tell(error)
            return error.isEnvironmental ? tryAgain : configuration
        case let failure as Failure:
            printError("imagemill: " + oneLine(failure.message + (failure.detail.map { " (\($0))" } ?? "")))
            printError("  \(failure.remedy(in: .command))")
            return someFailed
        case is PlanMismatch:
            printError("imagemill: \(error)")
            return configuration
        case let error as RunObstructed:
            printError("imagemill: \(error)")
            printError("  the sources that are left are for another run; what was done stays")
            return tryAgain
        case is OutboxInUse, is StoreError:
            printError("imagemill: \(error)")
            return tryAgain
        default:
            printError("imagemill: \(pipeline): \(error)")
            return tryAgain
        }
    }
}

/// Says what the system does not do, and who lacks the right if that is why.
private func tell(_ error: SystemError) {
    printError("imagemill: \(error)")
    guard [EACCES, EPERM].contains(error.code), !error.isExplained else { return }
    printError("  give \(ThisUser.title) the right to it, or run this as another user")
}

extension MillProblems {
    /// How many mistakes there are, and in which files; nil if none has a place in a file.
    fileprivate var count: String? {
        guard !mistakes.isEmpty else { return nil }
        let files = mistakes.reduce(into: [String]()) { if !$0.contains($1.file) { $0.append($1.file) } }
        return "\(counted(mistakes.reduce(refusals.count) { $0 + $1.items.count }, "mistake")) in \(listed(files))"
    }
}

extension Diagnostics {
    /// The description with the word `error` and the caret in color.
    fileprivate func painted(_ paint: Paint) -> String {
        description.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.hasPrefix("  "), line.allSatisfy({ " \t^".contains($0) }) { return paint.green(String(line)) }
            guard !line.hasPrefix("  "), let range = line.firstRange(of: ": error: ") else { return String(line) }
            return line[..<range.lowerBound] + ": " + paint.red("error:") + " " + line[range.upperBound...]
        }.joined(separator: "\n")
    }
}

/// A line on standard error.
func printError(_ line: String) {
    writeAll(2, line + "\n")
}

/// Text on standard output.
func printOutput(_ text: String) {
    writeAll(1, text)
}

private func writeAll(_ descriptor: CInt, _ text: String) {
    var bytes = Array(Terminal.shown(text, on: descriptor).utf8)[...]
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written < 0 && errno == EINTR { continue }
        // Nobody reads any more; there is nobody to tell.
        guard written > 0 else { return }
        bytes = bytes.dropFirst(written)
    }
}
