// The files that belong to a picture of an inbox: its sidecar, and the other file of its photo.
package import Pipeline
import System

/// The sidecars that an inbox takes.
package enum SidecarRule: Sendable {
    /// Its pipeline has no parameters.
    case none
    case optional
    case required

    /// There may be some.
    var takes: Bool { self != .none }
}

/// The files beside a picture that belong to it, and go where it goes.
package struct CompanionRule: Sendable {
    package var sidecars = SidecarRule.none
    /// It decides which of a raw file and its JPEG is the picture; nil if raw files are not read.
    package var raw: RawUse?
    /// Names that are passed over.
    package var ignored = IgnoredNames()

    package init(sidecars: SidecarRule = .none, raw: RawUse? = nil) { (self.sidecars, self.raw) = (sidecars, raw) }

    /// A file may belong to another one, or another one to it.
    func mayBePaired(_ path: BytePath) -> Bool { raw != nil && PhotoFile(path) != nil }

    /// The other files of a picture's photo that are passed over for it. One without bytes is about to be written.
    func others(of name: BytePath, in folder: Directory) throws(SystemError) -> [FileInFolder] {
        guard let raw, PhotoFile(name) == raw.source else { return [] }
        let found = try folder.files(of: PhotoFile.others(of: name).filter { !ignored.contains($0.bytes) })
            .filter { $0.status.bytes > 0 }
        // By its name alone it is no picture.
        guard !found.isEmpty, try folder.hasPicture(name) else { return [] }
        return found
    }

    /// Returns true if another file of the same photo is taken in a file's place.
    func isPassedOver(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        guard let raw, let own = PhotoFile(name), own != raw.source else { return false }
        for other in try folder.files(of: PhotoFile.others(of: name)) where !ignored.contains(other.name.bytes) {
            if try folder.hasPicture(other.name) { return true }
        }
        return false
    }
}

/// A regular file in a folder.
struct FileInFolder {
    let name: BytePath
    let status: FileStatus
}

extension Directory {
    /// The files among these names, each once: a file system may take small and large letters for the same.
    func files(of names: [BytePath]) throws(SystemError) -> [FileInFolder] {
        var found: [FileInFolder] = []
        for name in names {
            guard let status = try status(name), status.kind == .regular,
                !found.contains(where: { $0.status.identity == status.identity })
            else { continue }
            found.append(FileInFolder(name: name, status: status))
        }
        return found
    }

    /// Returns true if a file begins like a picture that is read, raw or not.
    fileprivate func hasPicture(_ name: BytePath) throws(SystemError) -> Bool {
        do throws(SystemError) {
            let file = try opening(name)
            return try noPicture(in: file, at: 0, count: file.status().bytes, allowed: [.raw]) == nil
        } catch {
            guard error.isAbsence else { throw error }
            return false
        }
    }
}
