// Arguments as the bytes they were: a file name need not be UTF-8, but Swift's strings are.
import Glibc
import Pipeline

enum RawArguments {
    /// The paths that these arguments stand for, as the user typed them.
    ///
    /// An argument that is not UTF-8 reaches the parser with U+FFFD in it; the original is found again among the
    /// process's own arguments.
    static func paths(_ arguments: [String]) -> [BytePath] {
        var originals: [String: [[UInt8]]] = [:]
        for index in 0..<Int(CommandLine.argc) {
            guard let pointer = CommandLine.unsafeArgv[index] else { continue }
            let bytes = UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map { UInt8(bitPattern: $0) }
            let text = String(decoding: bytes, as: UTF8.self)
            if Array(text.utf8) != bytes { originals[text, default: []].append(bytes) }
        }
        return arguments.map { argument in
            guard let bytes = originals[argument]?.first else { return BytePath(argument) }
            originals[argument]?.removeFirst()
            return BytePath(bytes)
        }
    }
}
