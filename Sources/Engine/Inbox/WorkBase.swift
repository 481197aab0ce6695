// Where work/, done/ and failed/ of an inbox can stand: where a rename from the inbox reaches.
import CLinux
import Glibc
package import Pipeline

/// The choice of the folder that holds work/, done/ and failed/ of an inbox.
package struct WorkBase: Sendable {
    /// In the order of preference: below `state`, beside the inbox, in the inbox.
    package let candidates: [BytePath]
    private let inbox: BytePath

    package init(inbox: BytePath, state: BytePath) {
        let ours = BytePath(".imagemill")
        self.inbox = inbox
        let above = inbox.directory.bytes.isEmpty ? BytePath(".") : inbox.directory
        candidates = [state, above.appending(ours), inbox.appending(ours)]
    }

    /// The one that will do, by what the table of mounts says; nil while the inbox is missing. Nothing is made or touched.
    package var predicted: BytePath? {
        guard let inbox = try? Directory(inbox) else { return nil }
        let mount = clinux_mount(inbox.file.descriptor)
        return candidates.first { candidate in
            guard let folder = Self.nearest(candidate) else { return false }
            return clinux_mount(folder.file.descriptor) == mount && faccessat(folder.file.descriptor, ".", W_OK, 0) == 0
        }
    }

    /// Makes the folders at the first candidate to which a file can be renamed from the inbox.
    /// - Throws: what kept the last candidate from being used, or trouble that may pass: the folders must not stand elsewhere for a moment's sake.
    package func make(for name: String) throws(SystemError) -> WorkPlace {
        var last = SystemError("use '\(inbox.printable)'", code: EXDEV)
        for candidate in candidates {
            do throws(SystemError) {
                // Folders are not left behind where they will not be used.
                if candidate != candidates[2], let near = Self.nearest(candidate), let folder = try? Directory(inbox),
                    clinux_mount(near.file.descriptor) != clinux_mount(folder.file.descriptor)
                {
                    continue
                }
                let place = WorkPlace(base: candidate, name: name)
                try place.make()
                try tryRename(to: place)
                return place
            } catch {
                if error.mayPass { throw error }
                last = error
            }
        }
        throw last
    }

    private func tryRename(to place: WorkPlace) throws(SystemError) {
        let (from, to) = (try Directory(inbox), try Directory(place.work))
        let name = BytePath(".imagemill-trial")
        // A crash between the lines below leaves it in one of the two.
        for folder in [from, to] { try? folder.remove(name) }
        _ = try from.making(name)
        do throws(SystemError) {
            try from.move(name, to: to, as: name)
            try to.remove(name)
        } catch {
            try? from.remove(name)
            throw error
        }
    }

    /// The nearest folder of a path that is there.
    private static func nearest(_ path: BytePath) -> Directory? {
        var path = path
        while true {
            if let folder = try? Directory(path) { return folder }
            guard path.bytes.count > 1, !path.directory.bytes.isEmpty else { return try? Directory(BytePath(".")) }
            path = path.directory
        }
    }
}
