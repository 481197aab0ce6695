// The files with values for the parameters of a source's pipeline: its own, and the one of the nearest folder.
import Glibc
import Pipeline
import System

/// A sidecar that was read.
struct OpenedSidecar {
    let sidecar: Sidecar
    /// As it was read, for the next run to compare with.
    let file: Fingerprint.File
    /// Another write need not move its time.
    let isFresh: Bool
}

/// A sidecar that is there.
private struct SidecarFile {
    let location: FileLocation
    /// The path from the source's folder.
    let path: BytePath
    /// As messages show it.
    let shown: BytePath
    let origin: ParameterSetting.Origin
    let status: FileStatus
}

extension SourceFile {
    /// Reads the sidecars, the weaker one first. Waits for the file system.
    /// - Throws: `Failure` if one cannot be read, or is too large.
    func openedSidecars() throws(Failure) -> [OpenedSidecar] {
        let files: [SidecarFile]
        do throws(SystemError) {
            files = try sidecarFiles()
        } catch {
            // It is no fault of the picture's.
            let failure = error.asSourceFailure
            throw Failure(failure.code, stage: "read", "its sidecars cannot be examined: \(failure.message)")
        }
        return try files.map { file throws(Failure) in try file.opened() }
    }

    /// The sidecars as they are now, the weaker one first; nil if they cannot be examined.
    func sidecarStamps() -> [Fingerprint.File]? {
        (try? sidecarFiles())?.map { Fingerprint.File(name: $0.path, $0.status.stamp) }
    }

    private func sidecarFiles() throws(SystemError) -> [SidecarFile] {
        // A tar is read from its beginning to its end.
        if case .part = location { return [] }
        return try [folderSidecar(), ownSidecar()].compactMap(\.self)
    }

    private func ownSidecar() throws(SystemError) -> SidecarFile? {
        // A set is a folder, which has one. A name may be too long to have one.
        guard members == nil, let path = Sidecar.path(of: relative.lastComponent) else { return nil }
        let beside = sidecar == nil ? try location.beside(path)?.withoutLinks() : nil
        guard let location = sidecar ?? beside, let status = try location.status() else { return nil }
        return SidecarFile(
            location: location, path: path, shown: typed.directory.appending(path), origin: .sidecar, status: status)
    }

    /// The one of the nearest folder. In a drop folder it is in the inbox, or in the set itself; else anywhere above.
    private func folderSidecar() throws(SystemError) -> SidecarFile? {
        var folder = members == nil ? identity.directory : identity
        for level in (members == nil ? 0 : -1)...Self.deepest {
            let isBeyond = level > depth
            let found: FileLocation
            if let home {
                // A set brings its own along.
                let place = level < 0 ? location : home
                guard !isBeyond, let beside = place.beside(Sidecar.ofFolder, above: level) else { return nil }
                found = beside
            } else {
                found = .path(folder.appending(Sidecar.ofFolder))
            }
            if let status = try found.linkStatus(), !isBeyond || status.owner == geteuid() || status.owner == 0 {
                let up = BytePath(Array(repeating: "../", count: max(0, level)).joined())
                return SidecarFile(
                    location: try found.withoutLinks(), path: BytePath(up.bytes + Sidecar.ofFolder.bytes),
                    shown: isBeyond ? folder.appending(Sidecar.ofFolder) : shown(ofFolder: level), origin: .folder,
                    status: status)
            }
            guard home != nil || folder.bytes.count > 1 else { return nil }
            folder = folder.directory.bytes.isEmpty ? BytePath("/") : folder.directory
        }
        return nil
    }

    /// More folders than paths have.
    private static let deepest = 4096

    private func shown(ofFolder level: Int) -> BytePath {
        var folder = level < 0 ? typed : typed.directory
        for _ in 0..<max(0, level) { folder = folder.directory }
        return folder.appending(Sidecar.ofFolder)
    }
}

extension SidecarFile {
    fileprivate func opened() throws(Failure) -> OpenedSidecar {
        guard status.kind != .regular || status.bytes <= Sidecar.largest else {
            throw trouble("it has \(status.bytes) bytes; a sidecar has \(Sidecar.largest) at most")
        }
        let (bytes, status): ([UInt8], FileStatus)
        do {
            let (file, found) = try location.open()
            (bytes, status) = (try file.bytes(at: 0, count: Sidecar.largest + 1), found)
        } catch let error as SystemError {
            // It is no fault of the picture's, and may pass.
            throw Failure(
                error.asSourceFailure.code, stage: "read",
                "the sidecar '\(shown.printable)' cannot be read: \(error.reason)")
        } catch {
            throw trouble("expected a file, found a folder, a link, a pipe, a socket or a device")
        }
        guard bytes.count <= Sidecar.largest else { throw trouble("a sidecar has \(Sidecar.largest) bytes at most") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw trouble("it is no text in UTF-8; save it in that encoding")
        }
        return OpenedSidecar(
            sidecar: Sidecar(name: shown.printable, text: text, origin: origin),
            file: Fingerprint.File(name: path, status.stamp),
            isFresh: status.isFresh)
    }

    private func trouble(_ message: String) -> Failure {
        Failure(.badParameters, stage: "read", "the sidecar '\(shown.printable)': \(message)")
    }
}

extension FileStatus {
    /// Another write might leave its time as it is: kernels advance that clock a hundred times a second.
    var isFresh: Bool { (nanosecondsSince1970() &- modified).magnitude < 10_000_000 }
}

/// A regular file that is open.
struct RegularFile {
    let file: OpenFile
    let status: FileStatus

    /// So many of its first bytes, or all.
    func beginning(_ count: Int) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            return try file.bytes(at: 0, count: count)
        } catch {
            throw error.asSourceFailure
        }
    }
}

extension FileLocation {
    /// The status of what has the name, also if that is a link; nil if there is nothing.
    fileprivate func linkStatus() throws(SystemError) -> FileStatus? {
        guard case .path(let path) = self else { return try status() }
        return try FileSystem.status(path, followLinks: false)
    }

    /// The same file, so that no link is followed to it, but for those to its folder that the user has named.
    fileprivate func withoutLinks() throws(SystemError) -> FileLocation {
        guard case .path(let path) = self else { return self }
        let folder = path.directory.bytes.isEmpty ? BytePath(".") : path.directory
        return .below(try Directory(folder), path.lastComponent)
    }

    /// Opens what is there, as `open` does.
    /// - Throws: `Failure` that says what is there instead of a file.
    func opened() throws(Failure) -> RegularFile {
        do {
            let (file, status) = try open()
            return RegularFile(file: file, status: status)
        } catch let error as SystemError {
            throw error.asSourceFailure
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .notARegularFile, stage: "read", "expected a file, found a folder, a link, a pipe, a socket or a device"
            )
        }
    }
}
