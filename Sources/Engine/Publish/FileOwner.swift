// The owner of a file in an outbox: what the file says of itself, and what the record says of it.
import Glibc
import Pipeline
package import System

/// The owner of the file under a name.
enum FileOwner: Equatable {
    /// It was made of this source, and is as it was written.
    case source(BytePath)
    /// Another drop folder has written it, or a run.
    case otherWriter
    /// It was written here, and somebody has changed it since.
    case changed
    /// Imagemill did not write it, as far as that can be told.
    case foreign
}

/// A file under a name that a source wants.
package struct FoundFile: Sendable {
    package let status: FileStatus
    /// The digest of its bytes; nil if nobody asked.
    let content: String?

    package init(_ status: FileStatus, content: String? = nil) { (self.status, self.content) = (status, content) }

    /// Whether a file is this one, as far as a look tells. Not every file system keeps the numbers of its files.
    func isSame(as now: FileStatus) -> Bool {
        now.kind == status.kind && now.stamp == status.stamp
    }
}

/// The origin of a rendition or a report, as its extended attribute states it.
struct FileOrigin: Equatable {
    /// Short, since what fits into the inode costs no block of the disk.
    static let attribute = "user.imagemill"

    /// The identity of the drop folder, or `run`.
    let writer: String
    /// The digest of the bytes that were written.
    let content: String
    /// The source, as the record of names knows it.
    let source: BytePath

    init(writer: String, content: String, source: BytePath) {
        (self.writer, self.content, self.source) = (writer, content, source)
    }

    /// - Returns: nil for bytes that are none of ours.
    init?(encoded bytes: [UInt8]) {
        let parts = bytes.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        writer = String(decoding: parts[0], as: UTF8.self)
        content = String(decoding: parts[1], as: UTF8.self)
        source = BytePath(Array(parts[2]))
    }

    var encoded: [UInt8] { Array("\(writer) \(content) ".utf8) + source.bytes }
}

extension Outbox {
    /// The file under a name, and whose it is; nil if nothing is there. No link is followed.
    ///
    /// A file may be replaced only if its bytes are those that were written for a source: programs that write into a
    /// file leave its attributes as they are. If it has no attribute, because the file system knows none or a copy has
    /// lost it, its bytes must be those in the record. A file without bytes, as a loss of power may leave it, has nothing
    /// to lose.
    /// - Parameter recorded: what the record says of the name.
    func found(_ name: BytePath, recorded: OwnedName?) throws(SystemError) -> (file: FoundFile, owner: FileOwner)? {
        guard let found = try lookUp(name), let status = try found.folder.status(found.name) else { return nil }
        func file(_ owner: FileOwner, content: String? = nil) -> (FoundFile, FileOwner) {
            (FoundFile(status, content: content), owner)
        }
        let origin = found.folder.attribute(FileOrigin.attribute, of: found.name).flatMap(FileOrigin.init(encoded:))
        if let origin, origin.writer != writer {
            guard status.kind == .directory else { return file(.otherWriter) }
            return try file(tiles(in: found.folder.folder(found.name)) == nil ? .foreign : .otherWriter)
        }
        if status.kind == .directory {
            return try self.folder(found.name, in: found.folder, recorded, origin).map { file($0, content: $1) }
                ?? file(.foreign)
        }
        guard status.kind == .regular, let supposed = recorded?.source ?? origin?.source else { return file(.foreign) }
        if status.bytes == 0 { return file(.source(supposed)) }
        guard let content = try content(of: found.name, in: found.folder) else { return file(.foreign) }
        // An inbox that was given another name has files that know the old one.
        if let recorded, recorded.contents?.contains(content) ?? (origin == nil) {
            return file(.source(recorded.source), content: content)
        }
        guard let origin else { return file(.foreign) }
        return file(origin.content == content ? .source(origin.source) : .changed, content: content)
    }

    /// The owner of a folder, and the digest of what it was unpacked from. The tiles themselves are not read, which would
    /// take long.
    /// - Returns: nil if its owner is not known.
    private func folder(
        _ name: BytePath, in folder: Directory, _ recorded: OwnedName?, _ origin: FileOrigin?
    ) throws(SystemError) -> (FileOwner, content: String?)? {
        let isRecorded = origin.map { recorded?.contents?.contains($0.content) ?? false } ?? true
        guard let source = isRecorded ? recorded?.source ?? origin?.source : origin?.source else { return nil }
        // Something else may have been put into it, or in its place.
        guard let count = try tiles(in: folder.folder(name)), count > 0 || origin != nil else {
            return origin == nil ? nil : (.changed, origin?.content)
        }
        return (.source(source), origin?.content ?? recorded?.contents?.first)
    }

    /// How many tiles, and descriptions of them, are in a folder and below; nil if there is something else.
    private func tiles(in folder: Directory) throws(SystemError) -> Int? {
        var count = 0
        let hasNothingElse = try folder.walk(()) { entry in
            switch entry.status.kind {
            case .directory: return entry.path.components.count < TilePyramid.deepest ? .into(()) : .end
            case .regular:
                guard TilePyramid.isName(entry.path.text) else { return .end }
                count += 1
                return .past
            case .link, .other: return .end
            }
        }
        return hasNothingElse ? count : nil
    }

    /// - Returns: nil if it may not be read, or is gone by now.
    private func content(of name: BytePath, in folder: Directory) throws(SystemError) -> String? {
        do throws(SystemError) {
            return try Digest.short(of: folder.opening(name))
        } catch {
            guard error.isAbsence || [EACCES, EPERM, ELOOP].contains(error.code) else { throw error }
            return nil
        }
    }

    /// Notes in a file what it was made of, and what is in it now. An absolute path is not noted: a folder that is
    /// passed on must not tell where it was made.
    /// - Returns: false if the file says nothing.
    func note(_ content: String, of source: BytePath, in file: OpenFile) -> Bool {
        guard let writer, !source.bytes.isEmpty, !source.isAbsolute else { return false }
        return file.setAttribute(
            FileOrigin.attribute, to: FileOrigin(writer: writer, content: content, source: source).encoded)
    }
}
