// The rule of ownership and versions by which a source gets its names, whatever keeps the record.
package import Pipeline
import System

/// Finds names that a source may have, and records them as its own. For any number of threads.
///
/// A name belongs to the source that first published it. A version belongs to a whole source: version 2 puts `-2` into
/// all of its names.
package struct NameAllocator: Sendable {
    private let store: any NameStore
    private let outbox: BytePath
    private let folder: Outbox
    private let policy: CollisionPolicy
    private let isGone: @Sendable (_ owner: BytePath) -> Bool
    private let isSource: @Sendable (_ name: BytePath) -> Bool

    /// Each one that fails means that another source has got a name, so this many in a row mean that the record is
    /// broken.
    private static let mostAttempts = 10_000

    /// - Parameters:
    ///   - outbox: the outbox as the record knows it.
    ///   - isGone: whether nothing is at a source's place any more, so that its names are free.
    ///   - isSource: whether a name is that of a source of this run, which is never replaced.
    package init(
        store: any NameStore, outbox: BytePath, folder: Outbox, policy: CollisionPolicy,
        isGone: @escaping @Sendable (_ owner: BytePath) -> Bool,
        isSource: @escaping @Sendable (_ name: BytePath) -> Bool = { _ in false }
    ) {
        self.store = store
        self.outbox = outbox
        self.folder = folder
        self.policy = policy
        self.isGone = isGone
        self.isSource = isSource
    }

    /// Gives a source its names.
    /// - Parameters:
    ///   - extra: other names that the source needs at a version, such as that of its report.
    ///   - candidates: the names of all its renditions at a version, 1 and up.
    /// - Throws: `Failure`: `name-taken` if the policy is `fail`, or one of the outbox. `StoreError` if the record cannot
    ///   be used, which is no source's fault.
    package func allocate(
        for owner: BytePath, extra: @escaping (_ version: Int) -> [BytePath] = { _ in [] },
        candidates: @escaping (_ version: Int) throws(PlanFailure) -> [RenditionName]
    ) throws -> Allocation {
        var search = NameSearch(owner: owner, allocator: self, extra: extra, candidates: candidates)
        for _ in 0..<Self.mostAttempts {
            let found = try search.next()
            guard try claim(found, owner) else { continue }
            do throws(SystemError) { try FaultPoint.pass(.afterNamesRecord) } catch { throw error.asOutputFailure }
            return try search.allocation(found)
        }
        throw Failure(.ioError, stage: "publish", "the record of names refuses every name for '\(owner.printable)'")
    }

    /// Frees the names that an allocation has added to the record, because one of them turned out to be occupied by
    /// somebody else's file.
    package func release(_ allocation: Allocation, of owner: BytePath, occupied: BytePath) throws(StoreError) {
        let names = Set(allocation.claimed + [occupied])
        try store.release(Array(names), of: owner, in: outbox)
    }

    /// The names that a source owns and that are there.
    /// - Returns: none if one of them is missing.
    func wholeNames(of owner: BytePath) throws(StoreError) -> Set<BytePath> {
        let names = try ownNames(of: owner)
        return names.allSatisfy { (try? FileSystem.status(folder.path.appending($0))) != nil } ? names : []
    }

    /// - Returns: false if somebody else was quicker.
    private func claim(_ names: CheckedNames, _ owner: BytePath) throws(StoreError) -> Bool {
        if names.claimed.isEmpty { return true }
        return try store.claim(names.claimed, for: owner, in: outbox, seen: names.seen)
    }

    // MARK: - Questions of a search

    func ownNames(of owner: BytePath) throws(StoreError) -> Set<BytePath> {
        Set(try store.names(of: owner, in: outbox))
    }

    var takesFirstVersion: Bool { policy != .version }
    var overwrites: Bool { policy == .overwrite }

    /// Looks whether a source may have these names.
    func check(_ names: [RenditionName], for owner: BytePath) throws -> CheckedNames {
        let owners = try store.owners(of: names.map(\.path), in: outbox)
        var checked = CheckedNames()
        for (index, name) in names.enumerated() {
            do throws(SystemError) {
                try look(at: name, index: index, recorded: owners[name.path], for: owner, checked: &checked)
            } catch {
                throw error.asOutputFailure
            }
        }
        return checked
    }

    private func look(
        at name: RenditionName, index: Int, recorded: OwnedName?, for owner: BytePath, checked: inout CheckedNames
    ) throws(SystemError) {
        let path = name.path
        func refuse(_ kind: Obstacle.Kind) { checked.obstacles.append(Obstacle(index: index, name: path, kind: kind)) }
        if recorded?.source != owner {
            checked.claimed.append(path)
            if let recorded { checked.seen[path] = recorded.source }
            if isSource(path) { return refuse(.source) }
            if let recorded, !name.isThumbnail, !isGone(recorded.source) {
                refuse(.owner(recorded.source))
                // A folder is replaced only if it is known.
                if !(overwrites && name.isFolder) { return }
            }
        }
        // Only its own thumbnails are under a name that is made of the digest of a source's address.
        if name.isThumbnail {
            if let status = try folder.status(path) { checked.replaceable[path] = FoundFile(status) }
            return
        }
        guard asksFiles, let (file, writtenFor) = try folder.found(path, recorded: recorded) else { return }
        let isFolder = file.status.kind == .directory
        switch writtenFor {
        case .source(let source) where source == owner || isGone(source): checked.replaceable[path] = file
        case .source(let source):
            if overwrites { checked.replaceable[path] = file }
            refuse(.owner(source))
        case .otherWriter:
            if overwrites { checked.replaceable[path] = file }
            refuse(.otherWriter)
        case .changed where isFolder, .foreign where isFolder: refuse(.foreignFolder)
        case .changed: refuse(.changedFile)
        case .foreign: refuse(.foreignFile)
        }
    }

    /// In a folder in which files do not say who wrote them there is one writer, which replaces whatever is there.
    private var asksFiles: Bool { folder.writer != nil }
}

/// Why a source cannot have a name.
struct Obstacle: Equatable {
    enum Kind: Equatable {
        /// It belongs to a source that exists.
        case owner(BytePath)
        case foreignFile
        /// It has more than Imagemill has put into it.
        case foreignFolder
        /// Another program has changed the file since it was written.
        case changedFile
        /// Another drop folder has written the file, or a run.
        case otherWriter
        /// It is a source of this run.
        case source

        /// A file that was edited, or that something else wrote, and not another source.
        var isForeignFile: Bool {
            switch self {
            case .foreignFile, .foreignFolder, .changedFile, .otherWriter: true
            case .owner, .source: false
            }
        }
    }

    /// The index of the name among the source's names.
    let index: Int
    let name: BytePath
    let kind: Kind

    /// As a sentence.
    var description: String {
        switch kind {
        case .owner(let owner): "the name '\(name.printable)' belongs to '\(owner.printable)'"
        case .foreignFile: "there is a file that Imagemill did not write at '\(name.printable)'"
        case .foreignFolder: "there is a folder with more than Imagemill has written at '\(name.printable)'"
        case .changedFile: "another program has changed the file '\(name.printable)'"
        case .otherWriter: "there is a file of another drop folder, or of imagemill run, at '\(name.printable)'"
        case .source: "there is a source of this run at '\(name.printable)'"
        }
    }
}

/// The result of a look at the names of one version.
struct CheckedNames {
    var version = 1
    /// The files that may be replaced, by their names.
    var replaceable: [BytePath: FoundFile] = [:]
    /// Names that are not recorded as the source's own.
    var claimed: [BytePath] = []
    /// The present owners of names that are to be taken away from them.
    var seen: [BytePath: BytePath] = [:]
    var obstacles: [Obstacle] = []

    var isFree: Bool { obstacles.isEmpty }
    /// A folder that is never replaced, whatever the policy.
    var foreignFolder: Obstacle? { obstacles.first { $0.kind == .foreignFolder } }
    var hasSource: Bool { obstacles.contains { $0.kind == .source } }
}
