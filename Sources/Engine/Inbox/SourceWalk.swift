// From what the user named to a list of sources, in natural order.
import Glibc
package import Pipeline

/// What a walk over the sources found.
package struct FoundSources: Sendable {
    /// In natural order, each once.
    package var sources: [SourceFile] = []
    /// What was left out on purpose, as sentences for the user.
    package var notes: [String] = []
}

/// Finds the sources below the paths that the user named.
package struct SourceWalk {
    /// The output folder, which is no source even where it lies inside of one.
    private let outbox: FileStatus?
    /// The cache, likewise.
    private let cache: FileStatus?
    private var found = FoundSources()
    private var seen: Set<BytePath> = []

    package init(outbox: BytePath, cache: BytePath? = nil) {
        self.outbox = (try? FileSystem.status(outbox)).flatMap { $0 }
        self.cache = cache.flatMap { (try? FileSystem.status($0)).flatMap { $0 } }
    }

    /// Walks all roots; a folder is walked to its depth, a file stands for itself.
    package static func find(_ roots: [BytePath], outbox: BytePath, cache: BytePath? = nil) -> FoundSources {
        var walk = SourceWalk(outbox: outbox, cache: cache)
        for root in roots { walk.add(root: root.withoutTrailingSlashes) }
        walk.found.sources.sort { $0.relative == $1.relative ? $0.identity.precedes($1.identity) : $0.relative.precedes($1.relative) }
        return walk.found
    }

    private mutating func add(root: BytePath) {
        let isFolder = (try? FileSystem.status(root))??.kind == .directory
        guard isFolder else {
            // A file's root is the folder it stands in.
            let folder = FileSystem.absolute(root.directory.bytes.isEmpty ? BytePath(".") : root.directory)
            return add(file: root, identity: (folder ?? root.directory).appending(root.lastComponent), relative: root.lastComponent)
        }
        guard let absolute = FileSystem.absolute(root) else { return }
        walk(root, identity: absolute, relative: BytePath([]))
    }

    private mutating func walk(_ folder: BytePath, identity: BytePath, relative: BytePath) {
        if let reason = reasonToLeaveOut(folder) {
            found.notes.append("left out '\(folder.printable)': it is \(reason)")
            return
        }
        do throws(SystemError) {
            for name in try FileSystem.names(in: folder) where !isIgnored(name) {
                let name = BytePath(name)
                add(entry: folder.appending(name), identity: identity.appending(name), relative: relative.appending(name))
            }
        } catch {
            // A root has no path below itself; its own name says more than nothing.
            let shown = relative.bytes.isEmpty ? identity.lastComponent : relative
            found.sources.append(SourceFile(path: folder, identity: identity, relative: shown, problem: error.asSourceFailure))
        }
    }

    private func reasonToLeaveOut(_ folder: BytePath) -> String? {
        guard let status = try? FileSystem.status(folder) else { return nil }
        func isSame(_ other: FileStatus?) -> Bool { other?.device == status.device && other?.inode == status.inode }
        return isSame(outbox) ? "the output folder" : isSame(cache) ? "the cache" : nil
    }

    private mutating func add(entry: BytePath, identity: BytePath, relative: BytePath) {
        let own = (try? FileSystem.status(entry, followLinks: false)).flatMap { $0 }
        guard own?.kind == .directory else {
            if own?.kind == .link, (try? FileSystem.status(entry))??.kind == .directory {
                found.notes.append("did not follow the link '\(entry.printable)' to a folder")
                return
            }
            return add(file: entry, identity: identity, relative: relative)
        }
        if isNamedLikeAPicture(relative) {
            let message = "expected a picture, found a folder of that name; what is in it is processed as usual"
            let failure = Failure(.isADirectory, stage: "read", message)
            found.sources.append(SourceFile(path: entry, identity: identity, relative: relative, problem: failure))
        }
        walk(entry, identity: identity, relative: relative)
    }

    private mutating func add(file: BytePath, identity: BytePath, relative: BytePath) {
        guard seen.insert(identity).inserted else { return }
        found.sources.append(SourceFile(path: file, identity: identity, relative: relative))
    }

    private func isNamedLikeAPicture(_ path: BytePath) -> Bool {
        ["jpg", "jpeg", "png", "webp", "gif", "tif", "tiff", "heic", "heif", "avif"].contains(SourceName(path).fileExtension)
    }
}
