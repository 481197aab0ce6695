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
            throw Failure(.badParameters, stage: "read", "a sidecar cannot be examined: \(error)")
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
        // A set is a folder, which has one.
        guard members == nil, let location = sidecar ?? location.beside(Sidecar.path(of: location.name)),
            let status = try location.status()
        else { return nil }
        return SidecarFile(
            location: location, path: Sidecar.path(of: relative.lastComponent), shown: Sidecar.path(of: typed),
            origin: .sidecar, status: status)
    }

    /// The one of the nearest folder, up to the folder at which the source's path begins.
    private func folderSidecar() throws(SystemError) -> SidecarFile? {
        let place = home ?? location
        let first = members == nil ? 0 : -1
        for level in first...max(first, relative.directory.bytes.isEmpty ? 0 : relative.directory.components.count) {
            guard let location = place.beside(Sidecar.ofFolder, above: level) else { break }
            guard let status = try location.status() else { continue }
            let up = BytePath(Array(repeating: "../", count: max(0, level)).joined())
            var folder = level < 0 ? typed : typed.directory
            for _ in 0..<max(0, level) { folder = folder.directory }
            return SidecarFile(
                location: location, path: BytePath(up.bytes + Sidecar.ofFolder.bytes),
                shown: folder.appending(Sidecar.ofFolder), origin: .folder, status: status)
        }
        return nil
    }
}

extension SidecarFile {
    /// Nanoseconds within which two writes may give a file the same time.
    private static let clockTick = 10_000_000

    fileprivate func opened() throws(Failure) -> OpenedSidecar {
        guard status.bytes <= Sidecar.largest else {
            throw trouble("it has \(status.bytes) bytes; a sidecar has \(Sidecar.largest) at most")
        }
        let now = nanosecondsSince1970()
        let (bytes, status): ([UInt8], FileStatus)
        do throws(Failure) {
            let file = try location.opened()
            (bytes, status) = (try file.beginning(Sidecar.largest + 1), file.status)
        } catch {
            throw trouble(error.message)
        }
        guard bytes.count <= Sidecar.largest else { throw trouble("a sidecar has \(Sidecar.largest) bytes at most") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw trouble("it is no text in UTF-8; save it in that encoding")
        }
        return OpenedSidecar(
            sidecar: Sidecar(name: shown.printable, text: text, origin: origin),
            file: Fingerprint.File(name: path, status.stamp),
            isFresh: (now &- status.modified).magnitude < Self.clockTick)
    }

    private func trouble(_ message: String) -> Failure {
        Failure(.badParameters, stage: "read", "the sidecar '\(shown.printable)': \(message)")
    }
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
