// A look at a source in an inbox: the system calls for the actions of `SourceTracker`. None of them waits for a writer,
// and no link is followed.
import Glibc
import Pipeline
import System

/// The result of a look.
enum LookResult: Equatable {
    /// Nothing is there, or nothing that could be a source.
    case nothing
    /// A link, a pipe, a socket or a device: never opened.
    case irregular(FileStatus.Kind)
    case source(FileStatus, UploadSigns)
}

/// Looks at sources below an inbox that is open.
struct SourceLook {
    /// The result of an action of the tracker.
    enum Found: Equatable {
        case look(LookResult)
        case examination(Examination)
    }

    let root: Directory
    let ignored: IgnoredNames
    /// Bytes beyond which a file is not examined: it will be refused, complete or not.
    var largest = Int.max
    /// How many members a set may have, and how many other names. Of one with more, which will be refused, the rest is
    /// not looked at.
    var most = OpenedSet.most
    var companions = CompanionRule()
    /// When to give up: a large set or a large file takes long.
    var deadline = Moment.never

    /// The name of the file that declares a set complete.
    static let doneMark = Array(".done".utf8)

    /// Performs an action of the tracker that is no offer.
    /// - Returns: nil if it was given up.
    func find(_ action: SourceTracker.Action) throws(SystemError) -> Found? {
        switch action {
        case .look(let path, let isSet): try look(path, isSet: isSet).map { .look($0) }
        case .examine(let path, let isSet): try examine(path, isSet: isSet).map { .examination($0) }
        case .offer: nil
        }
    }

    /// - Returns: nil if it was given up.
    func look(_ path: BytePath, isSet: Bool) throws(SystemError) -> LookResult? {
        guard let found = try status(of: path) else { return .nothing }
        switch (found.kind, isSet) {
        case (.regular, false):
            return .source(found, UploadSigns(sidecar: try sidecar(of: path), other: try other(of: path)))
        case (.directory, true): return try set(root.folder(path), found)
        case (.directory, false), (.regular, true): return .nothing
        case (.link, _), (.other, _): return .irregular(found.kind)
        }
    }

    private func sidecar(of path: BytePath) throws(SystemError) -> CompanionSign {
        let rule = companions.sidecars
        guard rule.takes else { return .none }
        // A file that is one itself has none.
        if Sidecar.picture(of: path) != nil { return .none }
        // One of 0 bytes is about to be written.
        guard let sidecar = Sidecar.path(of: path), let found = try status(of: sidecar), found.kind != .directory,
            found.bytes > 0 || found.kind != .regular
        else {
            return rule == .required ? .missing : .awaited
        }
        return .found([found.version])
    }

    /// The state of the other file of a photo. The one that is passed over waits for the other one, whatever is there.
    private func other(of path: BytePath) throws(SystemError) -> CompanionSign {
        guard companions.mayBePaired(path) else { return .none }
        let found = try companions.others(of: path.lastComponent, in: folder(above: path))
        return found.isEmpty ? .awaited : .found(found.map(\.status.version))
    }

    /// Whether somebody writes, and whether the structure is complete; for a set, the worst of its members.
    /// - Returns: nil if it was given up.
    func examine(_ path: BytePath, isSet: Bool) throws(SystemError) -> Examination? {
        guard isSet else {
            let folder = try folder(above: path)
            let own = try examine(folder.opening(path.lastComponent))
            guard var worst = own else { return nil }
            if companions.sidecars.takes, let sidecar = Sidecar.path(of: path.lastComponent),
                let file = try? folder.opening(sidecar)
            {
                worst = worst.worse(Examination(hasWriter: file.hasWriter, structure: .complete))
            }
            // They leave with it, and must be whole.
            for other in try companions.others(of: path.lastComponent, in: folder) {
                guard let file = try? folder.opening(other.name) else { continue }
                guard let found = try examine(file) else { return nil }
                worst = worst.worse(found.structure == .unknown ? found.with(.complete) : found)
            }
            return worst
        }
        var worst: Examination? = Examination(hasWriter: false, structure: .complete)
        var count = Count(most: most)
        let isWhole = try visit(root.folder(path)) { entry, ignored throws(SystemError) in
            let (folder, path, found) = (entry.folder, entry.path, entry.status)
            count.add(found, ignored)
            guard ignored != .unfinished, found.kind == .regular else { return count.isAllowed }
            if ignored == nil && found.bytes > 0 {
                let member = try examine(folder.opening(path.lastComponent))
                worst = member.flatMap { worst?.worse($0) }
            } else if let file = try? folder.opening(path.lastComponent) {
                // It is no member yet, but may be a part of one.
                worst = worst?.worse(Examination(hasWriter: file.hasWriter, structure: .complete))
            }
            return count.isAllowed
        }
        return isWhole || !count.isAllowed ? worst : nil
    }

    /// Whether a program writes to something in a set that is no member yet, and may be a part of one. If there is a
    /// doubt, it does not.
    /// - Parameter signs: as a look has found them.
    func isContinued(set path: BytePath, _ signs: UploadSigns) throws(SystemError) -> Bool {
        guard !signs.namesMembersOnly else { return false }
        var isContinued = false
        _ = try visit(root.folder(path)) { entry, ignored throws(SystemError) in
            guard ignored != nil, entry.status.kind == .regular else { return true }
            isContinued = (try? entry.folder.opening(entry.name))?.hasWriter == true
            return !isContinued
        }
        return isContinued
    }

    /// Examines a file that is open for reading.
    /// - Returns: nil if it was given up.
    func examine(_ file: OpenFile) throws(SystemError) -> Examination? {
        let hasWriter = file.hasWriter
        // The structure of a file that is still being written says nothing.
        guard hasWriter != true, try file.status().bytes <= largest else {
            return Examination(hasWriter: hasWriter, structure: .unknown)
        }
        let format: SourceFormat
        switch guessFormat(try file.bytes(at: 0, count: 4096)) {
        case .readable(let found): format = found
        case .cameraRaw: format = .raw
        case .recognised, .noPicture, .unknown: return Examination(hasWriter: hasWriter, structure: .unknown)
        }
        let deadline = deadline
        let structure = try file.structure { bytes in
            completeness(
                of: format, in: ByteSource(count: bytes.count) { .now < deadline ? bytes.read($0, $1) : [] })
        }
        return .now < deadline ? Examination(hasWriter: hasWriter, structure: structure) : nil
    }

    /// The names in a set.
    private struct Count {
        let most: Int
        private(set) var members = 0
        private var others = 0

        var isAllowed: Bool { max(members, others) <= most }

        init(most: Int) { self.most = most }

        mutating func add(_ found: FileStatus, _ ignored: IgnoredName?) {
            if ignored == nil && found.kind == .regular { members += 1 } else { others += 1 }
        }
    }

    /// All members of a set as one: their bytes, and a digest of their names, sizes, times and numbers. One with too many
    /// has the signs of its folder alone.
    private func set(_ folder: Directory, _ own: FileStatus) throws(SystemError) -> LookResult? {
        var (count, bytes, digest) = (Count(most: most), 0, UInt64(0))
        var signs = UploadSigns(isDeclaredComplete: try folder.status(BytePath(Self.doneMark)) != nil)
        let isWhole = try visit(folder) { entry, ignored throws(SystemError) in
            let (path, found) = (entry.path, entry.status)
            count.add(found, ignored)
            if ignored == .unfinished {
                signs.unfinished = (signs.unfinished ?? 0) &+ Self.digest(path, found)
            } else if ignored == .leftover {
                signs.leftovers &+= Self.digest(path, found)
            } else if found.kind == .regular {
                // Files with holes can be as large as numbers go.
                bytes += min(found.bytes, .max - bytes)
                // A sum, since directories have no order.
                digest &+= Self.digest(path, found)
            }
            return count.isAllowed
        }
        guard count.isAllowed else {
            let signs = UploadSigns(isDeclaredComplete: signs.isDeclaredComplete)
            let together = FileStatus(
                kind: .directory, identity: own.identity, bytes: own.bytes, modified: own.modified,
                changed: own.modified)
            return .source(together, signs)
        }
        guard isWhole else { return nil }
        guard count.members > 0 else { return .nothing }
        let together = FileStatus(
            kind: .directory, identity: own.identity, bytes: bytes,
            modified: Int(truncatingIfNeeded: digest), changed: Int(truncatingIfNeeded: digest))
        return .source(together, signs)
    }

    private static func digest(_ path: BytePath, _ found: FileStatus) -> UInt64 {
        var digest = FNV1a(path.bytes)
        for number in [found.bytes, found.modified, Int(truncatingIfNeeded: found.identity.inode)] {
            withUnsafeBytes(of: number.littleEndian) { digest.add($0) }
        }
        return digest.value
    }

    /// - Parameter ignored: why an entry is ignored, or a folder that it is in.
    /// - Returns: false to visit nothing more.
    private typealias Visit = (_ entry: FolderEntry<IgnoredName?>, _ ignored: IgnoredName?) throws(SystemError) -> Bool

    /// Visits everything in a set except folders, which are looked into; folders with unfinished names are visited as
    /// well.
    /// - Returns: false if it was given up, or stopped by a visit.
    private func visit(_ set: Directory, _ visit: Visit) throws(SystemError) -> Bool {
        try set.walk(IgnoredName?.none) { path, error throws(SystemError) in
            // Files that a program has left may be readable by that program only.
            guard path.components.contains(where: { ignored.kind(of: $0) != nil }) else { throw error }
        } _: { entry throws(SystemError) in
            guard .now < deadline else { return .end }
            let ignored = entry.context ?? ignored.kind(of: entry.name.bytes)
            if ignored == .unfinished || entry.status.kind != .directory {
                guard try visit(entry, ignored) else { return .end }
            }
            return entry.depth + 1 < FolderScan.deepest ? .into(ignored) : .past
        }
    }

    private func status(of path: BytePath) throws(SystemError) -> FileStatus? {
        do {
            return try folder(above: path).status(path.lastComponent)
        } catch  where error.isAbsence {
            return nil
        }
    }

    private func folder(above path: BytePath) throws(SystemError) -> Directory {
        path.directory.bytes.isEmpty ? root : try root.folder(path.directory)
    }
}

extension Examination {
    fileprivate func with(_ structure: Completeness) -> Examination {
        Examination(hasWriter: hasWriter, structure: structure)
    }

    fileprivate func worse(_ other: Examination) -> Examination {
        let hasWriter: Bool? =
            switch (self.hasWriter, other.hasWriter) {
            case (true, _), (_, true): true
            case (nil, _), (_, nil): nil
            case (false, false): false
            }
        let structure: Completeness =
            switch (self.structure, other.structure) {
            case (.incomplete, _), (_, .incomplete): .incomplete
            case (.unknown, _), (_, .unknown): .unknown
            case (.complete, .complete): .complete
            }
        return Examination(hasWriter: hasWriter, structure: structure)
    }
}
