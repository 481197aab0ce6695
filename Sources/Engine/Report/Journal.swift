// STATE/journal.jsonl: a line for every source that was finished or has failed, added at the end, and put aside when it
// has grown large.
import CLinux
import Glibc
package import Pipeline
import Synchronization
package import System

/// The journal. For any thread; a call waits for the disk.
///
/// It is a record for people and programs, not a promise: a loss of power can cost the last lines. The ledger and the
/// reports are exact.
package final class Journal: Sendable {
    private let path: BytePath
    private let largest: Int
    private let kept: Int
    private let file: Mutex<OpenFile>

    /// Bytes in which a line is looked for.
    private static let last = 1 << 20

    /// - Parameters:
    ///   - largest: bytes after which the file is put aside as `.1`.
    ///   - kept: how many such files there are at most.
    package init(path: BytePath, largest: Int = 64 << 20, kept: Int = 5) throws(SystemError) {
        (self.path, self.largest, self.kept) = (path, largest, kept)
        try DurableFile.makeFolders(DurableFile.folder(of: path))
        let file = try Self.open(path)
        try Self.cutPartialLine(file, path)
        self.file = Mutex(file)
    }

    private static func open(_ path: BytePath) throws(SystemError) -> OpenFile {
        let descriptor = withPath(path) {
            clinux_openat(AT_FDCWD, $0, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o640)
        }
        guard descriptor >= 0 else { throw SystemError("write the journal '\(path.printable)'") }
        return OpenFile(owning: descriptor)
    }

    /// A crash in mid-write leaves a line without its end; whoever reads the file must not stumble over it.
    private static func cutPartialLine(_ file: OpenFile, _ path: BytePath) throws(SystemError) {
        let size = try file.status().bytes
        var end = size
        while end > 0 {
            let start = max(0, end - 65_536)
            let block = try file.bytes(at: start, count: end - start)
            if let newline = block.lastIndex(of: UInt8(ascii: "\n")) {
                end = start + newline + 1
                break
            }
            end = start
        }
        guard end < size else { return }
        guard ftruncate(file.descriptor, off_t(end)) == 0 else {
            throw SystemError("repair the journal '\(path.printable)'")
        }
    }

    /// Adds a source's document as one line.
    /// - Parameter unlessThere: it is not added if it is among the last lines already.
    package func add(_ report: SourceReport, unlessThere: Bool = false) throws(SystemError) {
        let line = json(report)
        if unlessThere, try isAmongLast(line) { return }
        try add(line: line)
    }

    private func isAmongLast(_ line: String) throws(SystemError) -> Bool {
        try file.withLock { file throws(SystemError) in
            let start = max(0, try file.status().bytes - Self.last)
            let end = try file.bytes(at: start, count: Self.last)
            return end.split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual(line.utf8) }
        }
    }

    func add(line: String) throws(SystemError) {
        try file.withLock { file throws(SystemError) in
            let line = Array(line.utf8) + [UInt8(ascii: "\n")]
            let size = try file.status().bytes
            // Somebody has removed or renamed it: go on in a new one, as the name says.
            let isElsewhere = try FileSystem.status(path, followLinks: false)?.identity != file.status().identity
            if isElsewhere || size > 0 && size + line.count > largest {
                if !isElsewhere { try putAside() }
                file = try Self.open(path)
            }
            do throws(SystemError) {
                try file.append(line, for: path)
            } catch {
                // On a full disk half of the line may have been written.
                try? Self.cutPartialLine(file, path)
                throw error
            }
        }
    }

    private func putAside() throws(SystemError) {
        guard kept > 0 else {
            FileSystem.remove(path)
            return
        }
        for number in stride(from: kept - 1, to: 0, by: -1)
        where try FileSystem.status(aside(number), followLinks: false) != nil {
            try FileSystem.rename(aside(number), to: aside(number + 1))
        }
        try FileSystem.rename(path, to: aside(1))
    }

    private func aside(_ number: Int) -> BytePath { BytePath(path.bytes + Array(".\(number)".utf8)) }
}
