// Programs that others have installed, and what keeps the system from starting them.
import Glibc
import Pipeline
import System

/// A program as a hook names it.
struct Program {
    /// With a slash it is a path; without one it is looked for where programs are.
    let name: String

    /// Why it cannot be started; nil if nothing is known that speaks against it.
    var problem: String? {
        if name.contains("/") { return problem(of: BytePath(name)) }
        let places = places.map { BytePath($0) }
        if places.contains(where: { Self.mayRun($0) && problem(of: $0) == nil }) { return nil }
        // The first one is what the system would try.
        return places.first(where: Self.mayRun).flatMap(problem)
            ?? "there is no program '\(name)' in the folders of PATH (\(Self.folders))"
    }

    /// The paths that it may be at, in the order in which they are tried.
    var places: [String] {
        name.contains("/") ? [name] : Self.folders.split(separator: ":").map { "\($0)/\(name)" }
    }

    private static var folders: String { getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin" }

    private func problem(of path: BytePath) -> String? {
        let shown = "'\(path.printable)'"
        do throws(SystemError) {
            guard let status = try FileSystem.status(path) else { return "there is no program \(shown)" }
            guard status.kind == .regular else { return "\(shown) is no file, so it cannot be run" }
            guard Self.mayRun(path) else { return "\(shown) is not executable for this user; chmod +x makes it so" }
        } catch {
            return "\(error)"
        }
        // A program may be executable and not readable.
        guard let beginning = try? OpenFile.reading(path).bytes(at: 0, count: 256) else { return nil }
        return interpreterProblem(shown, beginning)
    }

    /// The interpreter that the first line of a script names must be there too.
    private func interpreterProblem(_ shown: String, _ beginning: [UInt8]) -> String? {
        guard beginning.starts(with: "#!".utf8) else {
            guard !beginning.contains(0) else { return nil }
            return "\(shown) is a text without a first line such as #!/bin/sh, so it cannot be run"
        }
        let line = beginning.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }.drop { $0 == 0x20 || $0 == 0x09 }
        let interpreter = BytePath(Array(line.prefix { $0 != 0x20 && $0 != 0x09 }))
        return Self.mayRun(interpreter) ? nil : "\(shown) is a script for '\(interpreter.printable)', which is missing"
    }

    private static func mayRun(_ path: BytePath) -> Bool {
        guard (try? FileSystem.status(path))??.kind == .regular else { return false }
        return withPath(path) { faccessat(AT_FDCWD, $0, X_OK, AT_EACCESS) } == 0
    }
}
