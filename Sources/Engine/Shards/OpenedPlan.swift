// A plan as a task reads it: checked against what it was when it was made.
import Glibc
package import Pipeline
import System

/// A plan that is complete.
package struct OpenedPlan: Sendable {
    package let plan: ShardPlan
    private let path: BytePath
    private let folder: Directory
    private let index: OpenFile

    /// - Throws: `PlanMismatch` if there is no plan, or not the one that was written; `SystemError` if it cannot be
    ///   read.
    package init(_ path: BytePath) throws {
        self.path = path
        do throws(SystemError) {
            folder = try Directory(path)
        } catch {
            guard [ENOENT, ENOTDIR].contains(error.code) else { throw error }
            let reason = "\(error.reason); name the folder that `imagemill shard` has written"
            throw SystemError("open the plan '\(path.printable)'", code: error.code, because: reason)
        }
        guard let status = try folder.status(PlanFile.plan) else {
            throw PlanMismatch(
                description:
                    "there is no complete plan in '\(path.printable)': \(PlanFile.plan.text) is missing; run `imagemill shard`"
            )
        }
        let bytes = try folder.opening(PlanFile.plan).bytes(at: 0, count: status.bytes)
        guard let plan: ShardPlan = decoded(bytes), plan.schema == "imagemill.plan/1", plan.id == plan.computedID,
            plan.tasks > 0
        else {
            throw PlanMismatch(
                description:
                    "'\(path.appending(PlanFile.plan).printable)' is not the plan that was written there; make it again"
            )
        }
        self.plan = plan
        index = try folder.opening(PlanFile.index)
        // A line at another place would be another shard's, and good by itself.
        guard try Digest.of(index) == plan.index else {
            throw mismatch("is damaged: \(PlanFile.index.text) is not the one that was written")
        }
    }

    private func mismatch(_ what: String) -> PlanMismatch {
        PlanMismatch(description: "the plan in '\(path.printable)' \(what)")
    }

    /// Refuses a plan for other versions of the program or of libvips, whose renditions may be others.
    package func checkEngine() throws(PlanMismatch) {
        guard plan.engine == engineName else {
            throw mismatch(
                "is for \(plan.engine); this is \(engineName). Use that version on all nodes, or make a plan with this one"
            )
        }
    }

    /// The pipeline, as it was when the plan was made.
    package func pipeline() throws -> LoadedPipeline {
        guard let status = try folder.status(PlanFile.pipeline) else {
            throw mismatch("has lost its \(PlanFile.pipeline.text)")
        }
        let bytes = try folder.opening(PlanFile.pipeline).bytes(at: 0, count: status.bytes)
        guard Digest.of(bytes) == plan.pipeline.sha256 else {
            throw mismatch("has another \(PlanFile.pipeline.text) than it was made with; make a plan of that pipeline")
        }
        let pipeline = try LoadedPipeline(
            path: plan.pipeline.path, text: String(decoding: bytes, as: UTF8.self), given: plan.options.set ?? [:])
        for (asset, digest) in pipeline.assetDigests where plan.pipeline.assets[asset] != digest {
            throw mismatch("was made with another '\(asset)'; put that back, or make a plan with this one")
        }
        return pipeline
    }

    /// The path of a shard's list of sources.
    /// - Throws: `PlanMismatch`; `SystemError` if it cannot be read.
    func entry(of shard: Int) throws -> ShardEntry {
        let line = try index.bytes(at: shard * ShardEntry.lineBytes, count: ShardEntry.lineBytes)
        guard line.count == ShardEntry.lineBytes, let entry = ShardEntry(line: line) else {
            throw mismatch("is damaged: \(PlanFile.index.text) has no shard \(shard)")
        }
        return entry
    }

    /// The sources of a shard. They are opened below their roots, links to folders not followed.
    /// - Throws: `PlanMismatch`; `SystemError` if a root cannot be opened.
    func sources(of shard: Int, _ entry: ShardEntry) throws -> [SourceFile] {
        let bytes = try folder.opening(PlanFile.sources).bytes(at: entry.offset, count: entry.bytes)
        guard Digest.of(bytes) == entry.digest, let sources = PlannedSource.decode(bytes),
            sources.allSatisfy({ plan.roots.indices.contains($0.root) })
        else { throw mismatch("is damaged: the list of shard \(shard) is not the one that was written") }
        var roots = OpenedRoots(plan)
        return try sources.map { try $0.file(in: &roots) }
    }
}

/// The folders and tars that a shard's sources are in, opened when the first source of each is found.
private struct OpenedRoots {
    let plan: ShardPlan
    private var folders: [Int: Directory] = [:]
    private var tars: [Int: OpenFile] = [:]

    init(_ plan: ShardPlan) { self.plan = plan }

    func path(_ root: Int) -> BytePath { BytePath(percentEncoded: plan.roots[root]) ?? BytePath(plan.roots[root]) }

    mutating func folder(_ root: Int) throws(SystemError) -> Directory {
        if let open = folders[root] { return open }
        let folder = try Directory(path(root))
        folders[root] = folder
        return folder
    }

    mutating func tar(_ root: Int) throws(SystemError) -> OpenFile {
        if let open = tars[root] { return open }
        let tar = try OpenFile.reading(path(root))
        tars[root] = tar
        return tar
    }
}

extension PlannedSource {
    fileprivate func file(in roots: inout OpenedRoots) throws(SystemError) -> SourceFile {
        let root = roots.path(root)
        let identity = root.appending(path)
        // A root has no path below itself, so it is shown by its own name.
        let relative = path.bytes.isEmpty ? root.lastComponent : path
        switch kind {
        case .member(let file, let offset):
            let part = FilePart(
                file: try roots.tar(self.root), path: path, offset: offset, bytes: file.stamp?.bytes ?? 0)
            return SourceFile(
                location: .part(part), identity: identity, relative: relative, planned: file.planned(BytePath([])))
        case .picture(let file):
            var source = SourceFile(
                location: .below(try roots.folder(self.root), path, followsLastLink: true), identity: identity,
                relative: relative,
                planned: file.planned(BytePath([])))
            source.depth = path.directory.depth
            return source
        case .problem(_, let failure):
            return SourceFile(location: .path(identity), identity: identity, relative: relative, problem: failure)
        case .set(_, let members):
            let folder = try roots.folder(self.root)
            let files = members.map { member in
                let inner = path.appending(member.path)
                return SourceFile(
                    location: .below(folder, inner, followsLastLink: true), identity: root.appending(inner),
                    relative: inner,
                    planned: member.planned(member.path))
            }
            let location: FileLocation = path.bytes.isEmpty ? .path(root) : .below(folder, path)
            var source = SourceFile(location: location, identity: identity, relative: relative, members: files)
            source.depth = path.bytes.isEmpty ? -1 : path.directory.depth
            return source
        }
    }
}

extension PlannedSource.File {
    fileprivate func planned(_ name: BytePath) -> Fingerprint.File? {
        stamp.map { Fingerprint.File(name: name, $0) }
    }
}
