// One run at a time writes into an output folder.
import Glibc
import Pipeline
import System

/// Another run writes into the output folder.
package struct OutboxInUse: Error, Equatable, CustomStringConvertible {
    package let description: String
}

/// The lock of an output folder, held as long as this object lives; the system releases it however the process ends.
package final class OutboxLock: Sendable {
    private let file: OpenFile
    /// A note for the user: the file system has no locks, so nothing keeps two runs apart.
    package let note: String?

    /// - Throws: `OutboxInUse`, or `SystemError` if the file cannot be written.
    package init(_ location: OutboxLocation) throws {
        try FileSystem.makeDirectories(location.state)
        file = try Directory(location.state).openingLock(location.lock.lastComponent, mode: 0o644)
        switch file.lock() {
        case .locked:
            note = nil
            write(LockHolder.current.text)
        case .taken:
            let text = (try? file.bytes(at: 0, count: 512)) ?? []
            let holder = LockHolder(text: String(decoding: text, as: UTF8.self))
            throw OutboxInUse(description: Self.sentence(holder, location.path))
        case .impossible(ENOLCK), .impossible(EOPNOTSUPP), .impossible(ENOSYS):
            note =
                "the file system of '\(location.state.printable)' has no locks; run only one 'imagemill run' into '\(location.path.printable)' at once"
        case .impossible(let code): throw SystemError("lock '\(location.lock.printable)'", code: code)
        }
    }

    // A folder that is published afterwards does not tell which machine made it.
    deinit { if note == nil { write("") } }

    private func write(_ text: String) {
        guard ftruncate(file.descriptor, 0) == 0, !text.isEmpty else { return }
        // Only for the sentence; the lock is what counts.
        _ = pwrite(file.descriptor, text, text.utf8.count, 0)
    }

    private static func sentence(_ holder: LockHolder?, _ outbox: BytePath) -> String {
        let who = holder.map { " (process \($0.process) on host \($0.host), since \($0.time))" } ?? ""
        return
            "another 'imagemill run'\(who) is writing to '\(outbox.printable)'; wait for it, or choose another folder"
    }
}

/// The holder of a lock, as the file of the lock says it: process, host, and the start in seconds since 1970.
struct LockHolder: Equatable {
    let process: Int
    let host: String
    let start: Int

    static var current: LockHolder {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return LockHolder(process: Int(getpid()), host: host.isEmpty ? "unknown" : host, start: wallClock() / 1000)
    }

    var text: String { "\(process) \(host) \(start)\n" }
}

extension LockHolder {
    /// - Returns: nil if the text is none of ours. It comes from a file that others may write to.
    init?(text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 3, let process = Int(words[0]), let start = Int(words[2]) else { return nil }
        self.init(process: process, host: BytePath(String(words[1])).printable, start: start)
    }

    /// The start in local time; with the date if it was not today.
    var time: String {
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
