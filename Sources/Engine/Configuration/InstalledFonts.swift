import Pipeline
import System

/// The fonts of this system, as far as they decide what a text looks like. Which of them draws a character depends on
/// all of them and on the settings of fontconfig, so that they count together.
enum InstalledFonts {
    /// The digest of the names, sizes and times of all files. Their contents are hundreds of megabytes on some systems.
    static func digest() -> String {
        let digest = Digest()
        for folder in FontFolders.all where folder != FontFolders.cache { add(BytePath(folder), to: digest) }
        return digest.finish()
    }

    /// Leaves out files that cannot be read: workers cannot read them either.
    private static func add(_ path: BytePath, to digest: Digest) {
        guard let folder = try? Directory(path) else { return }
        for name in (try? folder.names())?.sorted(by: { $0.lexicographicallyPrecedes($1) }) ?? [] {
            let entry = BytePath(name)
            guard let status = (try? folder.status(entry, followLinks: true)) ?? nil else { continue }
            let file = path.appending(entry)
            if status.kind == .directory {
                // A link to a folder may lead back here.
                let isLink = ((try? folder.status(entry)) ?? nil)?.kind != .directory
                if !isLink { add(file, to: digest) }
            } else {
                digest.update(file.bytes + [0] + Array("\(status.bytes) \(status.modified)\n".utf8))
            }
        }
    }
}
