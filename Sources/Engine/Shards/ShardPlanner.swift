// Makes a plan: walks once, and writes down what it finds as it goes.
package import Pipeline
package import System

/// A request to `imagemill shard`.
package struct PlanRequest {
    package let pipeline: LoadedPipeline
    /// Files and folders as the user named them.
    package let sources: [BytePath]
    /// More of them, as a stream.
    package let list: PathLines?
    package let filter: PathFilter
    /// The folder for the plan.
    package let folder: BytePath
    package let perShard: Int
    package let mostTasks: Int
    package let keepsTree: Bool
    /// A shard's renditions go into one tar.
    package let packs: Bool
    package let limits: Limits
    package let policy: WarningPolicy

    package init(
        pipeline: LoadedPipeline, sources: [BytePath], list: PathLines?, filter: PathFilter, folder: BytePath,
        perShard: Int, mostTasks: Int,
        keepsTree: Bool,
        packs: Bool, limits: Limits, policy: WarningPolicy = WarningPolicy()
    ) {
        self.pipeline = pipeline
        self.sources = sources
        self.list = list
        self.filter = filter
        self.folder = folder
        self.perShard = perShard
        self.mostTasks = mostTasks
        self.keepsTree = keepsTree
        self.packs = packs
        self.limits = limits
        self.policy = policy
    }
}

/// Something that was asked for cannot be had together with something else.
package struct PlanRefusal: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Makes one plan. Its memory grows with the largest folder and with the size of a shard, not with the number of
/// sources. Not for two threads at once.
package final class ShardPlanner {
    private let request: PlanRequest
    private let cancellation: Cancellation
    private let progress: (_ sources: Int, _ shards: Int) -> Void
    private let note: (String) -> Void
    private let layout: ShardLayout
    private let writer: PlanWriter
    private var cutter: ShardCutter
    private var roots: [BytePath] = []
    private var sources = 0
    private var bytes = 0
    /// How many files were found that are no pictures, by the reason.
    package private(set) var passedOver: [NoPicture: Int] = [:]
    /// The use of the patterns of `--exclude` so far.
    package private(set) var exclusions: ExclusionUse
    private var failure: (any Error)?
    /// Folders that have ended, as hashes: a list must not come back to one if folders are kept together.
    private var ended: Set<Int> = []
    private var lastFolder: BytePath?
    /// The paths of the present shard, so that none is in it twice.
    private var inShard: Set<BytePath> = []

    /// - Parameters:
    ///   - progress: told of every source.
    ///   - note: told of what was left out on purpose.
    /// - Throws: `PlanRefusal`, `PlanMismatch`, `SystemError`.
    package init(
        _ request: PlanRequest, cancellation: Cancellation, progress: @escaping (_ sources: Int, _ shards: Int) -> Void,
        note: @escaping (String) -> Void
    ) throws {
        self.request = request
        exclusions = ExclusionUse(request.filter)
        self.cancellation = cancellation
        self.progress = progress
        self.note = note
        layout = ShardLayout(request.pipeline.file, keepsTree: request.keepsTree, packs: request.packs)
        if layout == .tree { try Self.checkTree(request) }
        writer = try PlanWriter(request.folder)
        cutter = ShardCutter(perShard: request.perShard, keepsFolders: layout == .tree)
    }

    private static func checkTree(_ request: PlanRequest) throws {
        let why =
            "the folders of the sources are kept ('--keep-tree', or '{dir}' in the pipeline), and each must be in one shard"
        if request.pipeline.file.source == .set {
            throw PlanRefusal(
                "\(why), which sets of pictures cannot; leave that out: each shard then has a folder of its own")
        }
        guard request.sources.count + (request.list == nil ? 0 : 1) == 1 else {
            throw PlanRefusal("\(why); name one folder, such as the one above all of them")
        }
    }

    /// Walks, and writes the plan.
    /// - Throws: `Cancelled`, and what the file system has against it; then there is no plan.
    package func plan() throws -> ShardPlan {
        try walkRoots()
        if let list = request.list { try walk(list) }
        if let failure { throw failure }
        for block in cutter.finish() { try writer.write(block) }
        let tasks = max(1, min(request.mostTasks, writer.shards))
        return try writer.finish(pipeline: request.pipeline.file.text) { index in
            ShardPlan(
                engine: engineName,
                pipeline: ShardPlan.Pipeline(
                    path: request.pipeline.absolutePath.text, sha256: Digest.of(request.pipeline.file.text),
                    assets: request.pipeline.assetDigests),
                options: ShardPlan.Options(
                    keepTree: request.keepsTree, perShard: request.perShard, request.limits, request.policy,
                    set: request.pipeline.file.given),
                layout: layout, roots: roots, sources: sources, bytes: bytes, shards: writer.shards, tasks: tasks,
                index: index)
        }
    }

    // MARK: - Roots

    private func walkRoots() throws {
        var walked: [(path: BytePath, absolute: BytePath)] = []
        for path in request.sources {
            guard let absolute = FileSystem.absolute(path), let status = try FileSystem.status(path) else {
                throw SystemError("find '\(path.printable)'", code: 2)
            }
            if let other = walked.first(where: {
                absolute.isAtOrBelow($0.absolute) || $0.absolute.isAtOrBelow(absolute)
            }) {
                throw PlanRefusal(
                    "'\(path.printable)' and '\(other.path.printable)' are in one another; name one of them")
            }
            walked.append((path, absolute))
            let isFolder = status.kind == .directory
            // A folder that cannot be opened now must not look like an empty one.
            if isFolder { _ = try Directory(path) }
            if try walkTar(path, absolute: absolute, status: status) { continue }
            try walk(path, root: isFolder ? absolute : absolute.directory, prefix: BytePath([]))
        }
    }

    /// - Parameter prefix: the path of what is walked from the root.
    private func walk(_ path: BytePath, root: BytePath, prefix: BytePath) throws {
        let number = place(of: root)
        let absolute = root.appending(prefix)
        let rules = WalkRules(
            outbox: request.folder, kind: request.pipeline.file.source, filter: request.filter,
            allowed: request.limits.allowed, takesSidecars: !request.pipeline.file.settings.isEmpty,
            raw: request.pipeline.file.raw)
        var walk = SourceWalk(rules, note: note) { [self] _, why in
            passedOver[why, default: 0] += 1
        } sink: { [self] source, folder in
            let inner = source.identity == absolute ? BytePath([]) : source.relative
            return add(planned(source, root: number, path: prefix.appending(inner), folder: folder))
        }
        walk.exclusions = exclusions
        walk.walk(path)
        exclusions = walk.exclusions
        if let failure { throw failure }
    }

    private func place(of root: BytePath) -> Int {
        if let known = roots.firstIndex(of: root) { return known }
        roots.append(root)
        return roots.count - 1
    }

    private func planned(_ source: SourceFile, root: Int, path: BytePath, folder: Directory?) -> PlannedSource {
        func file(_ source: SourceFile, _ path: BytePath) -> PlannedSource.File {
            let name = source.location.name
            let status =
                try? folder.map { folder throws(SystemError) in try folder.status(name, followLinks: true) }
                ?? source.location.status()
            return PlannedSource.File(path: path, status?.stamp)
        }
        if let problem = source.problem { return PlannedSource(root: root, kind: .problem(path, problem)) }
        guard let members = source.members else { return PlannedSource(root: root, kind: .picture(file(source, path))) }
        return PlannedSource(root: root, kind: .set(path, members.map { file($0, $0.location.name) }))
    }

    // MARK: - Tars

    /// Adds the pictures in a tar.
    /// - Returns: false if the file's name is not that of a tar.
    private func walkTar(_ path: BytePath, absolute: BytePath, status: FileStatus) throws -> Bool {
        let name = path.lastComponent.printable.lowercased()
        let isTar = name.hasSuffix(".tar")
        let isCompressed = [".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst"].contains(where: name.hasSuffix)
        guard status.kind == .regular, isTar || isCompressed else { return false }
        guard isTar else {
            throw PlanRefusal(
                "'\(path.printable)' is compressed, so that nobody can begin in its middle; decompress it")
        }
        guard request.pipeline.file.source != .set else {
            throw PlanRefusal(
                "'\(path.printable)' is a tar, and the pipeline takes sets of pictures, which are folders; unpack it")
        }
        let tar = try OpenFile.reading(absolute)
        let time = try tar.status().modified
        let root = place(of: absolute)
        do {
            var reader = try TarReader(tar)
            while let member = try reader.next() {
                guard let inner = innerPath(of: member, in: path), isWanted(inner) else { continue }
                let allowed = request.limits.allowed
                if !isNamedLikeAPicture(inner, allowed: allowed),
                    let why = noPicture(in: tar, at: member.offset, count: member.bytes, allowed: allowed)
                {
                    passedOver[why, default: 0] += 1
                    continue
                }
                let file = PlannedSource.File(path: inner, FileStamp(bytes: member.bytes, modified: time))
                guard add(PlannedSource(root: root, kind: .member(file, offset: member.offset))) else { break }
            }
        } catch let damage as DamagedTar {
            throw PlanRefusal("'\(path.printable)' is no whole tar: \(damage); fetch it again")
        }
        if let failure { throw failure }
        return true
    }

    /// A member's path without `./` and the like; nil if it would lead out of the tar.
    private func innerPath(of member: TarMember, in tar: BytePath) -> BytePath? {
        let parts = member.path.components.filter { !$0.isEmpty && $0 != Array(".".utf8) }
        guard !parts.isEmpty, !parts.contains(Array("..".utf8)) else {
            note("left out '\(member.path.printable)' in '\(tar.printable)': the path leads out of the tar")
            return nil
        }
        return BytePath(Array(parts.joined(separator: [UInt8(ascii: "/")])))
    }

    private func isWanted(_ path: BytePath) -> Bool {
        let parts = path.components
        let folders = (1..<parts.count).map { BytePath(Array(parts[..<$0].joined(separator: [UInt8(ascii: "/")]))) }
        exclusions.note(path, isFolder: false)
        for folder in folders { exclusions.note(folder, isFolder: true) }
        guard !parts.contains(where: { isIgnored($0) }), request.filter.takes(path) else { return false }
        return folders.allSatisfy(request.filter.enters)
    }

    private func isTaken(_ name: BytePath) -> Bool {
        exclusions.note(name, isFolder: false)
        return request.filter.takes(name)
    }

    // MARK: - Lists

    /// A list's relative paths are below the working folder, and absolute ones below the root of the file system.
    private func walk(_ list: PathLines) throws {
        guard let here = FileSystem.absolute(BytePath(".")) else { throw SystemError("find the working folder") }
        while let path = try list.next() {
            let parts = path.components.filter { $0 != Array(".".utf8) }
            guard !parts.contains(Array("..".utf8)), !parts.isEmpty else {
                throw PlanRefusal(
                    "entry \(list.number) of the list, '\(path.printable)': paths with '..' are not taken")
            }
            let root = path.isAbsolute ? BytePath("/") : here
            let inner = BytePath(Array(parts.joined(separator: [UInt8(ascii: "/")])))
            let status = try? FileSystem.status(root.appending(inner))
            if status?.kind == .directory {
                try walk(root.appending(inner), root: root, prefix: inner)
            } else if let status = status ?? nil, try walkTar(path, absolute: root.appending(inner), status: status) {
                continue
            } else if case let name = path.lastComponent, isTaken(name) {
                _ = add(
                    PlannedSource(
                        root: place(of: root), kind: .picture(PlannedSource.File(path: inner, (status ?? nil)?.stamp)))
                )
            }
            if let failure { throw failure }
        }
    }

    // MARK: - Shards

    /// - Returns: whether to go on.
    private func add(_ source: PlannedSource) -> Bool {
        do {
            if cancellation.isRaised { throw Cancelled() }
            if case .problem = source.kind {} else { try checkFolder(source.folder) }
            // Roots are not in one another; only a list can name a file twice.
            guard request.list == nil || inShard.insert(roots[source.root].appending(source.path)).inserted else {
                note("left out '\(source.path.printable)': it was named twice")
                return true
            }
            sources += 1
            bytes += source.bytes
            if let block = cutter.add(source.encoded, in: source.folder) {
                try writer.write(block)
                inShard = []
            }
            progress(sources, writer.shards)
            return true
        } catch {
            failure = error
            return false
        }
    }

    private func checkFolder(_ folder: BytePath) throws(PlanRefusal) {
        guard layout == .tree, request.list != nil, folder != lastFolder else { return }
        if let lastFolder { ended.insert(lastFolder.hashValue) }
        lastFolder = folder
        guard !ended.contains(folder.hashValue) else {
            throw PlanRefusal(
                "the list comes back to the folder '\(folder.printable)', which must be in one shard; sort the list")
        }
    }
}
