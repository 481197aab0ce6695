import Pipeline
import System

/// The fonts of this system, as far as they decide what a text looks like. Which of them draws a character depends on
/// all of them and on the settings of fontconfig, so that they count together.
enum InstalledFonts {
    /// The digest of the names, sizes and times of all files. Their contents are hundreds of megabytes on some systems.
    static func digest() -> String {
        let digest = Digest()
        for folder in FontFolders.all where folder != FontFolders.cache {
            for file in files(below: BytePath(folder)) { digest.update(file) }
        }
        return digest.finish()
    }

    /// A line for each file, in a fixed order. Leaves out files that cannot be read: workers cannot read them either.
    private static func files(below path: BytePath) -> [[UInt8]] {
        var files: [[UInt8]] = []
        _ = try? Directory(path).walk((), trouble: { _, _ throws(SystemError) in }) { entry throws(SystemError) in
            if entry.status.kind == .directory { return .into(()) }
            let isLink = entry.status.kind == .link
            let status = isLink ? try entry.folder.status(entry.name, followLinks: true) : entry.status
            // A link to a folder may lead back here.
            if let status, status.kind != .directory {
                let values = "\(status.bytes) \(status.modified)\n"
                files.append(path.appending(entry.path).bytes + [0] + Array(values.utf8))
            }
            return .past
        }
        return files.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
