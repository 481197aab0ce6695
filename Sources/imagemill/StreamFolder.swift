// One picture from standard input, or one rendition to standard output (`-`), by way of a private folder.
import Engine
import Glibc
import Pipeline
import System

/// A folder of this run alone, below the one for temporary files.
final class StreamFolder: Sendable {
    private let path: BytePath

    init() throws(SystemError) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((base + "/imagemill-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a folder for temporary files in '\(base)'") }
        path = BytePath(template.dropLast().map { UInt8(bitPattern: $0) })
    }

    deinit { _ = try? Directory(path.directory).removeTree(path.lastComponent) }

    /// The folder for renditions.
    var output: BytePath { path.appending(BytePath("out")) }

    /// A report that is only needed until the run ends.
    var report: BytePath { path.appending(BytePath("report.json")) }

    /// Writes standard input into a file.
    /// - Parameter limit: bytes after which reading ends; one more than a source may have.
    /// - Returns: the file, which is named `stdin`.
    func takeInput(limit: Int) throws(SystemError) -> BytePath {
        let file = try Directory(path).making(BytePath("stdin"))
        _ = try copy(from: 0, to: file.descriptor, limit: limit)
        return path.appending(BytePath("stdin"))
    }

    /// Writes the one rendition to standard output.
    /// - Returns: false if there is none.
    func giveOutput() throws(SystemError) -> Bool {
        guard let rendition = try Self.file(in: output) else { return false }
        let file = try OpenFile.reading(rendition)
        _ = try copy(from: file.descriptor, to: 1, limit: Int.max)
        return true
    }

    /// The file in a folder or below, which has no other besides the record of names.
    private static func file(in folder: BytePath) throws(SystemError) -> BytePath? {
        let directory = try Directory(folder)
        for name in try directory.names().map({ BytePath($0) }) where name != OutboxLocation.stateName {
            switch try directory.status(name)?.kind {
            case .directory: if let found = try file(in: folder.appending(name)) { return found }
            case .regular: return folder.appending(name)
            default: break
            }
        }
        return nil
    }

    private func copy(from source: CInt, to target: CInt, limit: Int) throws(SystemError) -> Int {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while total < limit {
            let got = read(source, &block, min(block.count, limit - total))
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw SystemError("read standard input") }
            if got == 0 { break }
            var rest = block[..<got]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else {
                    throw SystemError(
                        target == 1 ? "write to standard output" : "keep standard input in '\(path.printable)'")
                }
                rest = rest.dropFirst(written)
            }
            total += got
        }
        return total
    }
}
