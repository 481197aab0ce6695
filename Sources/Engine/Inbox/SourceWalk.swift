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
    /// Every folder that has files in it is one source.
    private let findsSets: Bool
    private var found = FoundSources()
    private var seen: Set<BytePath> = []

    package init(outbox: BytePath, cache: BytePath? = nil, kind: SourceKind = .picture) {
        findsSets = kind == .set
        self.outbox = (try? FileSystem.status(outbox)).flatMap { $0 }
        self.cache = cache.flatMap { (try? FileSystem.status($0)).flatMap { $0 } }
    }

    /// Walks all roots; a folder is walked to its depth, a file stands for itself.
    /// - Parameter kind: whether each file is a source, or each folder that has files in it.
    package static func find(_ roots: [BytePath], outbox: BytePath, cache: BytePath? = nil, kind: SourceKind = .picture) -> FoundSources {
        var walk = SourceWalk(outbox: outbox, cache: cache, kind: kind)
        for root in roots { walk.add(root: root.withoutTrailingSlashes) }
        walk.found.sources.sort { $0.relative == $1.relative ? $0.identity.precedes($1.identity) : $0.relative.precedes($1.relative) }
        return walk.found
    }

    private mutating func add(root: BytePath) {
        let kind = (try? FileSystem.status(root))??.kind
        guard kind == .directory else {
            guard !findsSets || kind == nil else { return refuseFile(root) }
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
        // A root has no path below itself; its own name says more than nothing.
        let shown = relative.bytes.isEmpty ? identity.lastComponent : relative
        let before = found.sources.count
        do throws(SystemError) {
            for name in try FileSystem.names(in: folder) where !isIgnored(name) {
                let name = BytePath(name)
                add(entry: folder.appending(name), identity: identity.appending(name), relative: relative.appending(name))
            }
            if findsSets { gather(from: before, as: SourceFile(path: folder, identity: identity, relative: shown)) }
        } catch {
            found.sources.append(SourceFile(path: folder, identity: identity, relative: shown, problem: error.asSourceFailure))
        }
    }

    /// Makes one set of the files of a folder that were found in it.
    private mutating func gather(from index: Int, as folder: SourceFile) {
        let entries = found.sources[index...]
        // A folder within is a set of its own, or could not be read.
        let files = entries.filter { $0.members == nil && $0.problem == nil }.sorted { $0.identity.precedes($1.identity) }
        guard !files.isEmpty else { return }
        found.sources.removeSubrange(index...)
        found.sources += entries.filter { $0.members != nil || $0.problem != nil }
        found.sources.append(SourceFile(path: folder.path, identity: folder.identity, relative: folder.relative, members: files))
    }

    private mutating func refuseFile(_ file: BytePath) {
        let message = "expected a folder with the pictures of a set, found a file; name the folder that it is in"
        let failure = Failure(.notARegularFile, stage: "read", message)
        found.sources.append(SourceFile(path: file, identity: FileSystem.absolute(file) ?? file, relative: file.lastComponent, problem: failure))
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
        if !findsSets && isNamedLikeAPicture(relative) {
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
