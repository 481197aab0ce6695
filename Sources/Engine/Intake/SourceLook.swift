// A look at a source in an inbox: the system calls for the actions of `SourceTracker`. None of them waits, and no link
// is followed.
import Glibc
import Pipeline

/// What a look found.
enum LookResult: Equatable {
    /// Nothing is there, or nothing that could be a source.
    case nothing
    /// A link, a pipe, a socket or a device: never opened.
    case irregular(FileStatus.Kind)
    case source(FileStatus, SetSigns)
}

/// Looks at sources below an inbox that is open.
struct SourceLook {
    let root: Directory
    let ignored: IgnoredNames

    /// The name of the file that declares a set complete.
    static let doneMark = Array(".done".utf8)

    func look(_ path: BytePath, isSet: Bool) throws(SystemError) -> LookResult {
        guard let found = try status(of: path) else { return .nothing }
        switch (found.kind, isSet) {
        case (.regular, false): return .source(found, SetSigns())
        case (.directory, true): return try set(root.folder(path), found)
        case (.directory, false), (.regular, true): return .nothing
        case (.link, _), (.other, _): return .irregular(found.kind)
        }
    }

    /// Whether somebody writes, and whether the structure is complete; for a set, the worst of its members.
    func examine(_ path: BytePath, isSet: Bool) throws(SystemError) -> Examination {
        guard isSet else {
            return try Self.examine(folder(above: path).opening(path.lastComponent))
        }
        var worst = Examination(hasWriter: false, structure: .complete)
        try visitNames(in: root.folder(path)) { folder, path, found, isUnfinished throws(SystemError) in
            guard !isUnfinished, found.kind == .regular, found.bytes > 0 else { return }
            worst = worst.worse(try Self.examine(folder.opening(path.lastComponent)))
        }
        return worst
    }

    /// Examines a file that is open for reading.
    static func examine(_ file: OpenFile) throws(SystemError) -> Examination {
        let hasWriter = file.hasWriter
        // The structure of a file that is still being written says nothing.
        if hasWriter == true { return Examination(hasWriter: true, structure: .unknown) }
        guard case .readable(let format) = guessFormat(try file.bytes(at: 0, count: 4096)) else {
            return Examination(hasWriter: hasWriter, structure: .unknown)
        }
        let structure = try file.structure { completeness(of: format, in: $0) }
        return Examination(hasWriter: hasWriter, structure: structure)
    }

    /// All members of a set as one: their number, their bytes, and a digest of everything about them.
    private func set(_ folder: Directory, _ own: FileStatus) throws(SystemError) -> LookResult {
        var (count, bytes, digest) = (0, 0, UInt64(0))
        var signs = SetSigns(isDeclaredComplete: try folder.status(BytePath(Self.doneMark)) != nil)
        try visitNames(in: folder) { _, path, found, isUnfinished throws(SystemError) in
            if isUnfinished {
                signs.unfinished = (signs.unfinished ?? 0) &+ Self.digest(path, found)
            } else if found.kind == .regular {
                count += 1
                // Files with holes can be as large as numbers go.
                bytes += min(found.bytes, .max - bytes)
                // A sum, since directories have no order.
                digest &+= Self.digest(path, found)
            }
        }
        guard count > 0 else { return .nothing }
        let together = FileStatus(
            kind: .directory, identity: own.identity, bytes: bytes, modified: count,
            changed: Int(truncatingIfNeeded: digest))
        return .source(together, signs)
    }

    private static func digest(_ path: BytePath, _ found: FileStatus) -> UInt64 {
        var digest = FNV1a(path.bytes)
        for number in [found.bytes, found.modified, Int(truncatingIfNeeded: found.identity.inode)] {
            withUnsafeBytes(of: number.littleEndian) { digest.add($0) }
        }
        return digest.value
    }

    private typealias Visit = (_ folder: Directory, _ path: BytePath, FileStatus, _ isUnfinished: Bool)
        throws(SystemError) -> Void

    /// Visits everything in a set that is not a leftover, except folders: those are looked into.
    private func visitNames(in folder: Directory, at path: BytePath = BytePath([]), _ visit: Visit) throws(SystemError)
    {
        let stream = try DirectoryStream(folder)
        while let name = try stream.next() {
            let ignored = ignored.kind(of: name)
            guard ignored != .leftover, let found = try folder.status(BytePath(name)) else { continue }
            let inner = path.appending(BytePath(name))
            if ignored == .unfinished || found.kind != .directory {
                try visit(folder, inner, found, ignored == .unfinished)
            } else if inner.components.count < FolderScan.deepest {
                try visitNames(in: folder.folder(BytePath(name)), at: inner, visit)
            }
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

extension SystemError {
    /// The file, or a folder above it, is gone, or is a link by now.
    var isAbsence: Bool { [ENOENT, ENOTDIR, ELOOP, ESTALE].contains(code) }
}

extension Examination {
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
