// Blocked sources that take no room in memory: when to try each again.
import Pipeline
import System

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

    /// Where what is set aside is, while that is in few places.
    private enum Places {
        case known(Set<Place>)
        case many
    }

    private struct Place: Hashable {
        let path: BytePath
        let isSet: Bool
    }

    /// Empty until something is set aside.
    private var entries: [Entry] = []
    private var places = Places.known([])
    private let size: Int

    private static let mostPlaces = 1_000

    /// - Parameter count: how many it is meant for.
    init(count: Int) {
        size = 1 << (Int.bitWidth - max(1, count).leadingZeroBitCount)
    }

    /// Sets a source aside.
    /// - Parameter blocks: how often in a row it could not be taken.
    mutating func add(_ path: BytePath, isSet: Bool, _ status: FileStatus?, until due: Moment, blocks: UInt8) {
        if entries.isEmpty { entries = [Entry](repeating: Entry(), count: size) }
        let (place, mark) = place(of: path)
        entries[place] = Entry(path: mark, state: Self.mark(of: status), due: Self.seconds(due), blocks: blocks)
        if case .known(var known) = places {
            known.insert(Place(path: isSet ? path : path.directory, isSet: isSet))
            places = known.count > Self.mostPlaces ? .many : .known(known)
        }
    }

    /// Whether something may have been set aside that concerns the permissions of a folder.
    func mayHold(concerning folder: BytePath) -> Bool {
        switch places {
        case .known(let known): known.contains { $0.path.isConcerned(by: folder, isSet: $0.isSet) }
        case .many: true
        }
    }

    /// Whether it is not time yet to try a source again, which is as it was.
    func holds(_ path: BytePath, _ status: FileStatus?, at now: Moment) -> Bool {
        guard let entry = entry(of: path) else { return false }
        return entry.due > Self.seconds(now) && entry.state == Self.mark(of: status)
    }

    /// How often in a row a source could not be taken; 0 if that is not known.
    func blocks(of path: BytePath) -> UInt8 { entry(of: path)?.blocks ?? 0 }

    mutating func remove(_ path: BytePath) {
        if entry(of: path) != nil { entries[place(of: path).0] = Entry() }
    }

    mutating func removeAll() {
        entries = []
        places = .known([])
    }

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

extension BytePath {
    /// Whether the permissions of a folder matter to a source: the source is in it, or it is a part of a set.
    func isConcerned(by folder: BytePath, isSet: Bool) -> Bool {
        isAtOrBelow(folder) || isSet && folder.isAtOrBelow(self)
    }
}
