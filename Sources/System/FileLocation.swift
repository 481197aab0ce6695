// Where a source's file is, and the one way to open it.
import CLinux
import Glibc
package import Pipeline

/// Something that is no regular file is where one was expected.
package struct NotARegularFile: Error, Equatable {
    package let kind: FileStatus.Kind
}

/// Where a file is, and how it is opened: as the user named it, or below an open folder without following links.
package enum FileLocation: Sendable {
    /// A path that the user named; links are followed.
    case path(BytePath)
    /// A path below an open folder. No link to a folder is followed; a link in the last place is, if `followsLastLink`
    /// says so.
    case below(Directory, BytePath, followsLastLink: Bool = false)
    /// Inside of another file.
    case part(FilePart)

    /// Its own name.
    package var name: BytePath {
        switch self {
        case .path(let path), .below(_, let path, _): path.lastComponent
        case .part(let part): part.path.lastComponent
        }
    }

    /// The place of another name beside it, or in a folder above that; no link is followed below an open folder.
    /// - Parameter above: how many folders up; -1 for a name in the folder that this is the location of.
    /// - Returns: nil if there is no such folder above, or none at all.
    package func beside(_ name: BytePath, above: Int = 0) -> FileLocation? {
        func folder(_ path: BytePath) -> BytePath? {
            if above < 0 { return path }
            var folder = path.directory
            for _ in 0..<above {
                guard !folder.bytes.isEmpty, folder.lastComponent != BytePath("..") else { return nil }
                folder = folder.directory
            }
            return folder
        }
        switch self {
        case .path(let path): return folder(path).map { .path($0.appending(name)) }
        case .below(let root, let path, _): return folder(path).map { .below(root, $0.appending(name)) }
        case .part: return nil
        }
    }

    /// The status of what is there; nil if there is nothing.
    package func status() throws(SystemError) -> FileStatus? {
        switch self {
        case .path(let path): return try FileSystem.status(path)
        case .part(let part): return try part.status()
        case .below(let folder, let path, let followsLastLink):
            do throws(SystemError) {
                return try folder.folder(path.directory).status(path.lastComponent, followLinks: followsLastLink)
            } catch  where error.code == ENOENT || error.code == ENOTDIR || error.code == ELOOP {
                return nil
            }
        }
    }

    /// Opens a regular file for reading. Never waits, and never opens a pipe or a device: opening a device can do
    /// things.
    /// - Returns: the file, and its status once it is open.
    /// - Throws: `SystemError`, or `NotARegularFile`; `Failure` if a part of a file was written to.
    package func open() throws -> (file: OpenFile, status: FileStatus) {
        guard let found = try status() else {
            let isLink = try linkStatus()?.kind == .link
            throw SystemError(isLink ? "follow the link, it points to nothing" : "find the file", code: ENOENT)
        }
        guard found.kind == .regular else { throw NotARegularFile(kind: found.kind) }
        if case .part(let part) = self { return try part.copied() }
        let file = try openFile()
        let status = try file.status()
        // Something else may have come under the name meanwhile.
        guard status.kind == .regular else { throw NotARegularFile(kind: status.kind) }
        return (file, status)
    }

    private func openFile() throws(SystemError) -> OpenFile {
        switch self {
        case .path(let path): try OpenFile.reading(path)
        case .below(let folder, let path, let followsLastLink):
            try folder.folder(path.directory).opening(path.lastComponent, followLinks: followsLastLink)
        case .part(let part): part.file
        }
    }

    private func linkStatus() throws(SystemError) -> FileStatus? {
        switch self {
        case .path(let path): try FileSystem.status(path, followLinks: false)
        case .below(let folder, let path, _): try? folder.folder(path.directory).status(path.lastComponent)
        case .part: nil
        }
    }
}
