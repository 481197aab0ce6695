// The walk of `run` and of `shard`: it finds the sources below the paths that the user named.
import Glibc
package import Pipeline
package import System

/// The result of a walk.
package struct FoundSources: Sendable {
    /// In natural order, each once.
    package var sources: [SourceFile] = []
    /// The notes on what was left out on purpose, as sentences for the user.
    package var notes: [String] = []
    /// Files that are recognizably no pictures, as the user would type their paths, and why.
    package var passedOver: [(path: BytePath, why: NoPicture)] = []
    /// The output folder as the user would type it, if it is in a folder that was searched.
    package var outputFolder: BytePath?
    /// Patterns of `--exclude` that have matched nothing.
    package var unusedExclusions: [PathPattern] = []

    /// Whether sources in several folders have one name, so that sub-folders would keep their renditions apart.
    package var haveOneNameInSeveralFolders: Bool {
        var folders: [[UInt8]: BytePath] = [:]
        return sources.contains { source in
            let folder = source.relative.directory
            return folders.updateValue(folder, forKey: source.name.stem).map { $0 != folder } ?? false
        }
    }
}

/// The kind of source that a walk finds, and the folders that it leaves out.
package struct WalkRules: Sendable {
    /// The output folder, which is never walked; nil if there is none, or none yet.
    let outbox: FileIdentity?
    /// The cache, which is never walked.
    let cache: FileIdentity?
    /// Every folder that has files in it is one source.
    let findsSets: Bool
    /// The filter that selects files. It sees paths below the folder that the user named, or the name of a file that
    /// the user named.
    let filter: PathFilter
    /// The formats on request that are read.
    let allowed: Set<SourceFormat>
    /// Files with values for the parameters of the pipeline are no sources that are passed over.
    let takesSidecars: Bool
    /// The file that is taken of a raw file and its JPEG.
    let raw: RawUse

    package init(
        outbox: BytePath?, cache: BytePath? = nil, kind: SourceKind = .picture, filter: PathFilter = PathFilter(),
        allowed: Set<SourceFormat> = [], takesSidecars: Bool = false, raw: RawUse = .preview
    ) {
        self.raw = raw
        self.takesSidecars = takesSidecars
        self.outbox = outbox.flatMap { (try? FileSystem.status($0))??.identity }
        self.cache = cache.flatMap { (try? FileSystem.status($0))??.identity }
        findsSets = kind == .set
        self.filter = filter
        self.allowed = allowed
    }
}

/// Finds sources. Each root is opened once, as the user named it; below it, folders are opened without following links,
/// now and later, so that a folder that is swapped for a link leads nowhere.
///
/// Its memory grows with the number of names in one folder, not with the number of sources.
package struct SourceWalk {
    /// Takes each source when it is found: a folder's own sources in natural order, before those of its sub-folders.
    /// False ends the walk.
    /// - Parameter folder: the open folder that the source, or the members of the set, are in; nil if it was not
    ///   opened.
    package typealias Sink = (_ source: SourceFile, _ folder: Directory?) -> Bool

    private let rules: WalkRules
    private let sink: Sink
    /// Takes what was left out on purpose, as a sentence for the user.
    private let note: (String) -> Void
    /// Takes the path of each file that was found and is no picture, and why.
    private let passOver: (BytePath, NoPicture) -> Void
    private var anchors = Anchors()
    private var isEnded = false
    /// The output folder, if it was left out.
    private var outputFolder: BytePath?
    /// Whoever walks several times gives each walk what the one before has left.
    package var exclusions: ExclusionUse

    package init(
        _ rules: WalkRules, note: @escaping (String) -> Void, passOver: @escaping (BytePath, NoPicture) -> Void,
        sink: @escaping Sink
    ) {
        self.rules = rules
        exclusions = ExclusionUse(rules.filter)
        self.note = note
        self.passOver = passOver
        self.sink = sink
    }

    /// Walks all roots: a folder with all of its sub-folders; a file is a source itself. Relative paths begin at the
    /// one root, or at the folder that all roots have in common.
    package static func find(_ roots: [BytePath], _ rules: WalkRules) -> FoundSources {
        var found = FoundSources()
        // The absolute paths of all files: a root may be in another one.
        var seen: Set<BytePath> = []
        var passedOver: Set<BytePath> = []
        var walk = SourceWalk(rules) {
            found.notes.append($0)
        } passOver: {
            if passedOver.insert($0).inserted { found.passedOver.append(($0, $1)) }
        } sink: { source, _ in
            if let source = source.leavingOut(&seen) { found.sources.append(source) }
            return true
        }
        let common = CommonFolder(of: roots)
        for root in roots { walk.walk(root, below: common) }
        found.outputFolder = walk.outputFolder
        found.unusedExclusions = walk.exclusions.unused
        found.sources.sort {
            $0.relative == $1.relative ? $0.identity.precedes($1.identity) : $0.relative.precedes($1.relative)
        }
        return found
    }

    /// Walks a folder with all of its sub-folders; a file is a source itself, whatever is in it.
    /// - Parameter common: the folder at which relative paths begin; nil for the root itself, or for the folder that it
    ///   is in.
    package mutating func walk(_ root: BytePath, below common: CommonFolder? = nil) {
        let (written, root) = (root, root.withoutTrailingSlashes)
        let status = (try? FileSystem.status(root)).flatMap { $0 }
        guard let status, status.kind == .directory else {
            exclusions.note(root.lastComponent, isFolder: false)
            guard rules.filter.takes(root.lastComponent), !isNamedSidecar(root) else { return }
            guard !rules.findsSets || status == nil else { return refuseFile(root) }
            // A file's root is the folder that it is in.
            let folder = FileSystem.absolute(root.directory.bytes.isEmpty ? BytePath(".") : root.directory)
            let identity = (folder ?? root.directory).appending(root.lastComponent)
            let address = FileSystem.absolute(keepingLinks: root)
            let relative = (folder.flatMap { common?.relative($0) } ?? BytePath([])).appending(root.lastComponent)
            return emit(
                SourceFile(
                    location: .path(root), identity: identity, address: address, relative: relative, typed: root,
                    problem: status == nil ? Self.unmatched(written) : nil), nil)
        }
        guard let absolute = FileSystem.absolute(root), !isLeftOut(status, root) else { return }
        do throws(SystemError) {
            let directory = try Directory(root)
            let named = FileSystem.absolute(keepingLinks: root) ?? absolute
            let prefix = common?.relative(absolute) ?? BytePath([])
            walk(
                Root(
                    path: root, absolute: absolute, named: named, prefix: prefix, directory: directory,
                    anchor: anchors.anchor(of: directory, at: absolute)))
        } catch {
            // A root has no path below itself, so it is shown by its own name.
            let name = absolute.lastComponent
            emit(
                SourceFile(
                    location: .path(root), identity: absolute, relative: name, typed: root,
                    problem: error.asSourceFailure), nil)
        }
    }

    /// The failure of a root that is not there; nil if the reason shows when it is opened. A shell passes a pattern on
    /// as it is if no file matches it.
    private static func unmatched(_ root: BytePath) -> Failure? {
        if root.printable.contains("://") {
            return Failure(.notFound, stage: "read", "this is an address, and only files are read; download it first")
        }
        if root.bytes.first == UInt8(ascii: "~") {
            return Failure(
                .notFound, stage: "read", "cannot find the file; the shell replaces '~' only if it is not in quotes")
        }
        if root.bytes.contains(where: { "*?[".utf8.contains($0) }) {
            return Failure(.notFound, stage: "read", "no file matches this pattern; check the folder and the ending")
        }
        do throws(SystemError) {
            guard try FileSystem.status(root.withoutTrailingSlashes) == nil else { return nil }
        } catch {
            return error.asSourceFailure
        }
        let isFolder = root.bytes.last == UInt8(ascii: "/")
        return SystemError("find the \(isFolder ? "folder" : "file")", code: ENOENT).asSourceFailure
    }

    private mutating func emit(_ source: SourceFile, _ folder: Directory?) {
        if !isEnded { isEnded = !sink(source, folder) }
    }

    private mutating func refuseFile(_ file: BytePath) {
        let message = "expected a folder with the pictures of a set, found a file; name the folder that it is in"
        let failure = Failure(.notARegularFile, stage: "read", message)
        emit(
            SourceFile(
                location: .path(file), identity: FileSystem.absolute(file) ?? file, relative: file.lastComponent,
                typed: file, problem: failure),
            nil)
    }

    /// Whether a folder is the output folder or the cache; says so in a note.
    private mutating func isLeftOut(_ status: FileStatus, _ folder: BytePath) -> Bool {
        let reason: String
        switch status.identity {
        case rules.outbox:
            reason = "the output folder"
            outputFolder = folder
        case rules.cache: reason = "the cache"
        default: return false
        }
        note("left out '\(folder.printable)': it is \(reason)")
        return true
    }

    // MARK: Folders

    /// A root that is being walked.
    private struct Root {
        /// As the user named it.
        let path: BytePath
        let absolute: BytePath
        /// The same with the links that the user named.
        let named: BytePath
        /// The path of the root as sources show it; empty if their paths begin at the root.
        let prefix: BytePath
        let directory: Directory
        /// nil if the sources must be opened by their paths, because there are too many roots.
        let anchor: Anchors.Anchor?

        /// - Parameter relative: the path from the root.
        func location(_ relative: BytePath, isFile: Bool) -> FileLocation {
            guard let anchor else { return .path(path.appending(relative)) }
            return .below(anchor.directory, anchor.path.appending(relative), followsLastLink: isFile)
        }
    }

    /// A folder that is not listed yet. It may keep the folder above it open, so that it is opened by one call and not
    /// from the root.
    private struct Pending {
        let relative: BytePath
        /// How many folders below the root it is.
        let level: Int
        let parent: Directory?
    }

    /// The level of folders down to which every pending folder keeps its parent open. This bounds the number of open
    /// folders.
    private static let deepestKeptOpen = 16

    /// Walks a root with a list of pending folders instead of recursion, because a tree may be deeper than the stack or
    /// than the limit of open files.
    private mutating func walk(_ root: Root) {
        var pending = [Pending(relative: BytePath([]), level: 0, parent: nil)]
        while !isEnded, let next = pending.popLast() {
            do throws(SystemError) {
                let folder = try Self.open(next, root)
                let inner = try list(folder, at: next.relative, in: root)
                for (index, relative) in inner.enumerated().reversed() {
                    let keepsOpen = index == 0 || next.level < Self.deepestKeptOpen
                    pending.append(Pending(relative: relative, level: next.level + 1, parent: keepsOpen ? folder : nil))
                }
            } catch {
                let path = root.path.appending(next.relative)
                // It was a folder a moment ago.
                if error.code == ELOOP || error.code == ENOTDIR {
                    note("did not follow the link '\(path.printable)' to a folder")
                } else {
                    emit(folderSource(next.relative, in: root, problem: error.asSourceFailure), nil)
                }
            }
        }
    }

    private static func open(_ folder: Pending, _ root: Root) throws(SystemError) -> Directory {
        guard !folder.relative.bytes.isEmpty else { return root.directory }
        guard let parent = folder.parent else { return try root.directory.folder(folder.relative) }
        return try parent.folder(folder.relative.lastComponent)
    }

    /// Adds the sources of one folder.
    /// - Returns: the paths of its sub-folders, in natural order.
    private mutating func list(
        _ folder: Directory, at relative: BytePath, in root: Root
    ) throws(SystemError) -> [BytePath] {
        var folders: [BytePath] = []
        var files: [SourceFile] = []
        let names = try folder.names()
        guard relative.bytes.isEmpty || !isOutputFolder(folder, names) else {
            note(
                "left out '\(root.path.appending(relative).printable)': it is the output folder of another run; name it to take its pictures"
            )
            return []
        }
        // Names that are never taken may be excluded too.
        for name in names where isIgnored(name) { exclusions.note(relative.appending(BytePath(name)), isFolder: true) }
        let taken = names.lazy.filter { !isIgnored($0) }.map { BytePath($0) }
        let mayBePairs = rules.allowed.contains(.raw) ? taken.filter { rules.filter.takes(relative.appending($0)) } : []
        // Raw files are no members of sets.
        let pairs = RawPairs(mayBePairs, rules.findsSets ? .preview : rules.raw)
        for name in taken.sorted(by: { $0.precedes($1) }) where !isEnded {
            let inner = relative.appending(name)
            let status = (try? folder.status(name)).flatMap { $0 }
            exclusions.note(inner, isFolder: status?.kind == .directory)
            if status?.kind == .directory, let status {
                if rules.filter.enters(inner), !isLeftOut(status, root.path.appending(inner)) { folders.append(inner) }
            } else if status?.kind == .link, (try? folder.status(name, followLinks: true))??.kind == .directory {
                note("did not follow the link '\(root.path.appending(inner).printable)' to a folder")
            } else if rules.takesSidecars, isSidecar(name, in: folder) {
                continue
            } else if rules.filter.takes(inner) {
                let other = pairs[name].flatMap { isSource($0, in: folder) ? NoPicture.sameAs : nil }
                if let why = other ?? noPicture(name, in: folder, allowed: rules.allowed) {
                    passOver(root.path.appending(inner), rules.findsSets ? why.inSet : why)
                    continue
                }
                var source = SourceFile(
                    location: root.location(inner, isFile: true), identity: root.absolute.appending(inner),
                    address: root.named.appending(inner),
                    relative: root.prefix.appending(inner), typed: root.path.appending(inner))
                source.depth = relative.depth
                if rules.findsSets { files.append(source) } else { emit(source, folder) }
            }
        }
        if !files.isEmpty { emit(folderSource(relative, in: root, members: files), folder) }
        return folders
    }

    /// Returns true if a file of this name is there and begins like a picture that is read.
    private func isSource(_ name: BytePath, in folder: Directory) -> Bool {
        guard let found = try? folder.status(name, followLinks: true), found.kind == .regular, found.bytes > 0,
            let file = try? folder.opening(name, followLinks: true)
        else { return false }
        return noPicture(in: file, at: 0, count: found.bytes, allowed: rules.allowed) == nil
    }

    /// Whether a file is the folder's sidecar, or that of a picture beside it.
    private func isSidecar(_ name: BytePath, in folder: Directory) -> Bool {
        if name == Sidecar.ofFolder { return true }
        guard !rules.findsSets, let picture = Sidecar.picture(of: name) else { return false }
        return (try? folder.status(picture)) ?? nil != nil
    }

    /// The same for a file that the user named, as `*` does.
    private func isNamedSidecar(_ path: BytePath) -> Bool {
        guard rules.takesSidecars, Sidecar.picture(of: path) != nil else { return false }
        let folder = path.directory.bytes.isEmpty ? BytePath(".") : path.directory
        return (try? Directory(folder)).map { isSidecar(path.lastComponent, in: $0) } ?? false
    }

    /// Where a run keeps its record, unless it has `--state`.
    private static let recordFolder = BytePath(".imagemill")

    /// Whether a run has written its renditions into a folder.
    private func isOutputFolder(_ folder: Directory, _ names: [[UInt8]]) -> Bool {
        guard names.contains(where: { $0.elementsEqual(Self.recordFolder.bytes) }) else { return false }
        return (try? folder.status(Self.recordFolder.appending(BytePath("names.sqlite"))))??.kind == .regular
    }

    /// A source that is a folder: a set, or a failure.
    private func folderSource(
        _ relative: BytePath, in root: Root, members: [SourceFile]? = nil, problem: Failure? = nil
    ) -> SourceFile {
        let isRoot = relative.bytes.isEmpty
        let shown = root.prefix.appending(relative)
        var source = SourceFile(
            location: isRoot ? .path(root.path) : root.location(relative, isFile: false),
            identity: root.absolute.appending(relative),
            // A root has no path below itself, so it is shown by its own name.
            relative: shown.bytes.isEmpty ? root.absolute.lastComponent : shown, typed: root.path.appending(relative),
            members: members,
            problem: problem)
        // A set that the user has named is no folder below another one.
        source.depth = isRoot ? -1 : relative.directory.depth
        return source
    }
}

extension SourceFile {
    /// This source without the files that were seen before; nil if nothing is left of it.
    fileprivate func leavingOut(_ seen: inout Set<BytePath>) -> SourceFile? {
        guard problem == nil else { return self }
        guard let members else { return seen.insert(identity).inserted ? self : nil }
        let left = members.filter { seen.insert($0.identity).inserted }
        return left.isEmpty ? nil : having(left)
    }
}
