// Blocked sources that take no room in memory: when to try each again.
import Pipeline

/// Remembers sources that the system refuses to let be taken, in a table of a fixed size. If two of them want one place,
/// the one before is forgotten, and is tried again earlier.
struct SetAside {
    private struct Entry {
        var path: UInt32 = 0
        var state: UInt32 = 0
        /// In seconds of this boot's time; 0 if the place is free.
        var due: UInt32 = 0
        var blocks: UInt8 = 0
    }

    /// Empty until something is set aside.
    private var entries: [Entry] = []
    private let size: Int

    /// - Parameter count: how many it is meant for.
    init(count: Int) {
        size = 1 << (Int.bitWidth - max(1, count).leadingZeroBitCount)
    }

    /// Sets a source aside.
    /// - Parameter blocks: how often in a row it could not be taken.
    mutating func add(_ path: BytePath, _ status: FileStatus?, until due: Moment, blocks: UInt8) {
        if entries.isEmpty { entries = [Entry](repeating: Entry(), count: size) }
        let (place, mark) = place(of: path)
        entries[place] = Entry(path: mark, state: Self.mark(of: status), due: Self.seconds(due), blocks: blocks)
    }

    /// Whether it is not time yet to try a source again, which is as it was.
    func holds(_ path: BytePath, _ status: FileStatus?, at now: Moment) -> Bool {
        guard let entry = entry(of: path) else { return false }
        return entry.due > Self.seconds(now) && entry.state == Self.mark(of: status)
    }

    /// How often in a row a source could not be taken; 0 if that is not known.
    func blocks(of path: BytePath) -> UInt8 { entry(of: path)?.blocks ?? 0 }

    mutating func removeAll() { entries = [] }

    private func entry(of path: BytePath) -> Entry? {
        guard !entries.isEmpty else { return nil }
        let (place, mark) = place(of: path)
        return entries[place].due > 0 && entries[place].path == mark ? entries[place] : nil
    }

    private func place(of path: BytePath) -> (Int, UInt32) {
        let digest = FNV1a(path.bytes).value
        return (Int(truncatingIfNeeded: digest) & (size - 1), UInt32(truncatingIfNeeded: digest >> 32))
    }

    /// 0 for a set, of which a scan sees only the name.
    private static func mark(of status: FileStatus?) -> UInt32 {
        guard let status, status.kind == .regular else { return 0 }
        var digest = FNV1a()
        for number in [status.bytes, status.modified, status.changed, Int(truncatingIfNeeded: status.identity.inode)] {
            withUnsafeBytes(of: number.littleEndian) { digest.add($0) }
        }
        return UInt32(truncatingIfNeeded: digest.value)
    }

    private static func seconds(_ moment: Moment) -> UInt32 {
        UInt32(clamping: max(1, moment.nanoseconds / 1_000_000_000))
    }
}
