// Locks on files that say who holds them.
import Glibc
package import Pipeline

/// Somebody else holds a lock.
package struct LockTaken: Error {
    /// Nil if the file does not say.
    package let holder: LockHolder?

    /// In words, to follow a name: ` (process 12 on host mill, since 14:03:20)`; nothing if it is not known.
    package var words: String { holder.map { " (process \($0.process) on host \($0.host), since \($0.time))" } ?? "" }
}

/// A lock on a file, held as long as this object lives; the system releases it however the process ends. The file says
/// who holds it, only for sentences: the lock is what counts.
package final class SignedLock: Sendable {
    private let file: OpenFile

    /// - Throws: `LockTaken`; `SystemError` with the system's code if the file system has no locks, or the file cannot be
    ///   written.
    package init(_ file: OpenFile, _ path: BytePath) throws {
        switch file.lock() {
        case .locked: break
        case .taken:
            let text = (try? file.bytes(at: 0, count: 512)) ?? []
            throw LockTaken(holder: LockHolder(text: String(decoding: text, as: UTF8.self)))
        case .impossible(let code): throw SystemError("lock '\(path.printable)'", code: code)
        }
        self.file = file
        guard ftruncate(file.descriptor, 0) == 0 else { throw SystemError("write '\(path.printable)'") }
        let text = LockHolder.current.text
        _ = pwrite(file.descriptor, text, text.utf8.count, 0)
    }

    // A folder that is published afterwards does not tell which machine made it.
    deinit { ftruncate(file.descriptor, 0) }
}

/// The holder of a lock, as the file of the lock says it: process, host, and the start in seconds since 1970.
package struct LockHolder: Equatable {
    package let process: Int
    package let host: String
    package let start: Int

    package static var current: LockHolder {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return LockHolder(process: Int(getpid()), host: host.isEmpty ? "unknown" : host, start: wallClock() / 1000)
    }

    package var text: String { "\(process) \(host) \(start)\n" }
}

extension LockHolder {
    /// - Returns: nil if the text is none of ours. It comes from a file that others may write to.
    package init?(text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 3, let process = Int(words[0]), let start = Int(words[2]) else { return nil }
        self.init(process: process, host: BytePath(String(words[1])).printable, start: start)
    }

    /// The start in local time; with the date if it was not today.
    package var time: String {
        let (then, now) = (Self.words(start), Self.words(wallClock() / 1000))
        return then.date == now.date ? then.time : "\(then.date) \(then.time)"
    }

    private static func words(_ seconds: Int) -> (date: String, time: String) {
        var (time, fields) = (time_t(seconds), tm())
        localtime_r(&time, &fields)
        func two(_ value: CInt) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return (
            "\(Int(fields.tm_year) + 1900)-\(two(fields.tm_mon + 1))-\(two(fields.tm_mday))",
            "\(two(fields.tm_hour)):\(two(fields.tm_min)):\(two(fields.tm_sec))"
        )
    }
}
