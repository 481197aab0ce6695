// Looking at what stands in an inbox: the calls to the system behind `SourceTracker`'s actions. Nothing here waits, and no link is followed.
import CLinux
import Glibc
import Pipeline

/// What a look found.
enum LookResult: Equatable {
    /// Nothing stands there, or nothing that could be a source.
    case nothing
    /// A link, a pipe, a socket, a device: never opened.
    case irregular(Sighting.Kind)
    case source(Sighting, isDeclaredComplete: Bool)
}

/// Looks at sources below an inbox that is open.
struct SourceLook {
    let root: Directory
    let ignored: IgnoredNames

    /// The name of the file that says a set is complete.
    static let doneMark = Array(".done".utf8)

    func look(_ path: BytePath, isSet: Bool) throws(SystemError) -> LookResult {
        guard let found = try sighting(path) else { return .nothing }
        switch (found.kind, isSet) {
        case (.regular, false): return .source(found, isDeclaredComplete: false)
        case (.directory, true): return try set(root.folder(path), found)
        case (.directory, false), (.regular, true): return .nothing
        case (.link, _), (.other, _): return .irregular(found.kind)
        }
    }

    /// Who writes, and whether the structure is complete; for a set, the worst of its members.
    func examine(_ path: BytePath, isSet: Bool) throws(SystemError) -> Examination {
        guard isSet else {
            return try Self.examine(folder(above: path).opening(path.lastComponent))
        }
        var worst = Examination(hasWriter: false, structure: .complete)
        try members(of: root.folder(path)) { folder, path, found throws(SystemError) in
            guard found.kind == .regular, found.bytes > 0 else { return }
            worst = worst.worse(try Self.examine(folder.opening(path.lastComponent)))
        }
        return worst
    }

    /// Examines a file that is open for reading.
    static func examine(_ file: OpenFile) throws(SystemError) -> Examination {
        let writers = clinux_nobody_writes(file.descriptor)
        let hasWriter: Bool? = writers < 0 ? nil : writers == 0
        // The structure of what somebody still writes says nothing.
        if hasWriter == true { return Examination(hasWriter: true, structure: .unknown) }
        guard case .readable(let format) = guessFormat(file.bytes(at: 0, count: 4096)) else {
            return Examination(hasWriter: hasWriter, structure: .unknown)
        }
        return Examination(hasWriter: hasWriter, structure: completeness(of: format, in: try file.byteSource()))
    }

    /// All files of a set as one: their number, their bytes, and a digest of everything about them.
    private func set(_ folder: Directory, _ own: Sighting) throws(SystemError) -> LookResult {
        var (count, bytes, digest) = (0, 0, UInt64(0))
        try members(of: folder) { _, path, found throws(SystemError) in
            guard found.kind == .regular else { return }
            count += 1
            // Files with holes can be as large as numbers go.
            bytes += min(found.bytes, .max - bytes)
            // A sum, since directories have no order.
            digest &+= Self.digest(path, found)
        }
        guard count > 0 else { return .nothing }
        let isDeclared = try folder.sighting(BytePath(Self.doneMark)) != nil
        let together = Sighting(kind: .directory, identity: own.identity, bytes: bytes, modified: count, changed: Int(truncatingIfNeeded: digest))
        return .source(together, isDeclaredComplete: isDeclared)
    }

    /// The same in every process, so that a ledger can hold it. FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
    private static func digest(_ path: BytePath, _ found: Sighting) -> UInt64 {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        path.bytes.forEach(add)
        for number in [found.bytes, found.modified, Int(truncatingIfNeeded: found.identity.inode)] {
            withUnsafeBytes(of: number.littleEndian) { $0.forEach(add) }
        }
        return digest
    }

    private typealias Visit = (Directory, BytePath, Sighting) throws(SystemError) -> Void

    private func members(of folder: Directory, at path: BytePath = BytePath([]), _ visit: Visit) throws(SystemError) {
        let stream = try DirectoryStream(folder)
        while let name = try stream.next() {
            guard !ignored.contains(name), let found = try folder.sighting(BytePath(name)) else { continue }
            let member = path.appending(BytePath(name))
            if found.kind == .directory {
                if member.components.count < FolderScan.deepest { try members(of: folder.folder(BytePath(name)), at: member, visit) }
            } else {
                try visit(folder, member, found)
            }
        }
    }

    private func sighting(_ path: BytePath) throws(SystemError) -> Sighting? {
        do {
            return try folder(above: path).sighting(path.lastComponent)
        } catch  where error.isAbsence {
            return nil
        }
    }

    private func folder(above path: BytePath) throws(SystemError) -> Directory {
        path.directory.bytes.isEmpty ? root : try root.folder(path.directory)
    }
}

extension SystemError {
    /// The thing, or a folder above it, is not there any more, or is a link by now.
    var isAbsence: Bool { [ENOENT, ENOTDIR, ELOOP, ESTALE].contains(code) }
}

extension Examination {
    fileprivate func worse(_ other: Examination) -> Examination {
        let hasWriter: Bool? =
            self.hasWriter == true || other.hasWriter == true ? true : self.hasWriter == nil || other.hasWriter == nil ? nil : false
        let structure: Completeness =
            switch (self.structure, other.structure) {
            case (.incomplete, _), (_, .incomplete): .incomplete
            case (.unknown, _), (_, .unknown): .unknown
            case (.complete, .complete): .complete
            }
        return Examination(hasWriter: hasWriter, structure: structure)
    }
}
