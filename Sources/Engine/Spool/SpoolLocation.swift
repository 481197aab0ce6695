// Where the spool of an inbox can be: on the file system of the inbox, so that a source moves by a rename.
import CLinux
import Glibc
package import Pipeline
import System

/// Where work/, done/ and failed/ of an inbox can be: below `state`, beside the inbox, or in it.
package struct SpoolLocation: Sendable {
    /// In the order of preference.
    package internal(set) var candidates: [BytePath]
    let inbox: BytePath

    package init(inbox: BytePath, state: BytePath) {
        let ours = BytePath(".imagemill")
        self.inbox = inbox
        let above = inbox.directory.bytes.isEmpty ? BytePath(".") : inbox.directory
        candidates = [state, above.appending(ours), inbox.appending(ours)]
    }

    /// The spool location of an inbox at another path, with the same state folder.
    func moved(to inbox: BytePath) -> SpoolLocation { SpoolLocation(inbox: inbox, state: candidates[0]) }

    /// The candidate that will be used, by what the table of mounts says; nil while the inbox is missing. Nothing is
    /// made or touched.
    package var predicted: BytePath? {
        guard let inbox = try? Directory(inbox) else { return nil }
        let mount = clinux_mount(inbox.file.descriptor)
        return candidates.first { candidate in
            guard let folder = Self.nearest(candidate) else { return false }
            return clinux_mount(folder.file.descriptor) == mount && faccessat(folder.file.descriptor, ".", W_OK, 0) == 0
        }
    }

    /// The folders of a candidate, for an inbox of this name.
    func folders(at candidate: Int, name: BytePath) -> SpoolFolders {
        // The user has named the state folder; the others are in folders in which somebody else may make things.
        SpoolFolders(base: candidates[candidate], name: name, isShared: candidate > 0)
    }

    /// Whether a rename from the inbox may reach the candidate. Below the inbox only a trial tells.
    func mayReach(_ candidate: Int) -> Bool {
        guard candidate < 2, let near = Self.nearest(candidates[candidate]), let folder = try? Directory(inbox) else {
            return true
        }
        return near.isOnMount(of: folder)
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
