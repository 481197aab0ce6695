// The output folder of a plan. Tasks on many machines write into it, and only rename: no locks, no database.
//
//     .imagemill/plan-ID/shards/000017.json    the result: the shard is done
//     .imagemill/plan-ID/reports/000017.json   the reports of its sources
//     .imagemill/plan-ID/staging/000017-TOKEN/ what one attempt has not published yet
import Glibc
package import Pipeline
package import System

/// An output folder as one plan sees it. For any thread.
package struct ShardOutput: Sendable {
    package let path: BytePath
    private let plan: ShardPlan
    private let root: Directory
    private let results: Directory
    private let reports: Directory
    private let stagings: Directory
    /// The longest that a shard's staging folders are tried to be removed while another attempt still writes there.
    private static let mostRemovals = 100

    /// Opens the folder for a plan; it is made if it is missing.
    /// - Throws: `PlanMismatch` if it has anything in it that is not this plan's.
    package init(_ path: BytePath, _ plan: ShardPlan) throws {
        try FileSystem.makeDirectories(path)
        root = try Directory(path)
        self.path = path
        self.plan = plan
        let name = BytePath(Self.prefix + plan.id)
        let state = try root.makingFolder(Self.state)
        let own = try state.makingFolder(name)
        do {
            // If two plans come at once, each sees the other's folder, or one does.
            try Self.refuseOtherPlan(in: state, than: name, path: path)
            let isNew = try own.status(Self.resultsName) == nil
            if isNew { try Self.refuseContent(of: root, state: state, own: name, path: path) }
            results = try own.makingFolder(Self.resultsName)
            reports = try own.makingFolder(BytePath("reports"))
            stagings = try own.makingFolder(BytePath("staging"))
            if isNew { for folder in [own, state, root] { try folder.sync() } }
        } catch {
            // Nothing is left in a folder that is not for this plan.
            try? state.remove(name, isFolder: true)
            try? root.remove(Self.state, isFolder: true)
            throw error
        }
    }

    /// Opens the folder to look at it; nil if no task has begun.
    package init?(looking path: BytePath, _ plan: ShardPlan) throws {
        guard let root = try? Directory(path), let state = try root.folderIfThere(Self.state) else { return nil }
        let name = BytePath(Self.prefix + plan.id)
        try Self.refuseOtherPlan(in: state, than: name, path: path)
        guard let own = try state.folderIfThere(name), let results = try own.folderIfThere(Self.resultsName),
            let reports = try own.folderIfThere(BytePath("reports")),
            let stagings = try own.folderIfThere(BytePath("staging"))
        else { return nil }
        self.path = path
        self.plan = plan
        (self.root, self.results, self.reports, self.stagings) = (root, results, reports, stagings)
    }

    private static let state = BytePath(".imagemill")
    private static let prefix = "plan-"
    /// Made before anything is written into the output folder.
    private static let resultsName = BytePath("shards")

    private static func refuseOtherPlan(in state: Directory, than name: BytePath, path: BytePath) throws {
        for other in try state.names() where other.starts(with: prefix.utf8) && other != name.bytes {
            throw PlanMismatch(
                description: "'\(path.printable)' has the results of another plan; choose another folder (-o)")
        }
    }

    private static func refuseContent(of root: Directory, state: Directory, own: BytePath, path: BytePath) throws {
        let foreign = try root.names().first { $0 != self.state.bytes && $0 != Array("lost+found".utf8) }
        // It may be what another task has written by now.
        guard let foreign, try !state.folder(own).names().contains(resultsName.bytes) else { return }
        let file = BytePath(foreign).printable
        throw PlanMismatch(
            description:
                "'\(path.printable)' has other files in it ('\(file)'); the folder of a plan must be new or empty (-o)")
    }

    // MARK: - Names

    /// The name of a shard's folder and files.
    package static func name(of shard: Int) -> String { padded(shard, to: 6) }

    private func file(_ shard: Int) -> BytePath { BytePath(Self.name(of: shard) + ".json") }

    /// The folder or the tar of a shard's renditions, from the output folder; empty for the output folder itself.
    func place(of shard: Int) -> BytePath {
        switch plan.layout {
        case .folders: BytePath(Self.name(of: shard))
        case .tar: BytePath(Self.name(of: shard) + ".tar")
        case .tree, .hash: BytePath([])
        }
    }

    // MARK: - Results

    /// Whether a shard is done.
    package func isDone(_ shard: Int) throws(SystemError) -> Bool { try results.status(file(shard)) != nil }

    /// The same, asked of the file server: a client of NFS may believe for half a minute that there is no such file,
    /// until it changes something in the folder itself.
    func isDoneByNow(_ shard: Int) throws(SystemError) -> Bool {
        _ = try? results.making(Self.look)
        try? results.remove(Self.look)
        return try isDone(shard)
    }

    private static let look = BytePath(".imagemill-look")

    /// The result of a shard; nil if it is not done, or is not this plan's.
    /// - Parameter damaged: called if there is something that is no result of this shard.
    func result(_ shard: Int, _ entry: ShardEntry, damaged: () -> Void = {}) throws(SystemError) -> ShardResult? {
        guard let status = try results.status(file(shard)) else { return nil }
        let bytes = try results.opening(file(shard)).bytes(at: 0, count: status.bytes)
        guard let result: ShardResult = decoded(bytes), result.plan == plan.id, result.shard == shard,
            result.list == entry.digest, result.isPlausible
        else {
            damaged()
            return nil
        }
        return result
    }

    /// The reports of a shard's sources; nil if there are none.
    func report(_ shard: Int) throws(SystemError) -> [UInt8]? {
        guard let status = try reports.status(file(shard)) else { return nil }
        return try reports.opening(file(shard)).bytes(at: 0, count: status.bytes)
    }

    /// Publishes a shard: after everything that it consists of has reached the disk, one rename says that it is done.
    /// Then nobody else can publish anything of it any more.
    func publish(_ result: ShardResult, _ staging: Staging) throws(SystemError) {
        try root.syncFileSystem("'\(path.printable)'")
        if plan.layout == .tar {
            try staging.folder.rename(Staging.tar, to: root, as: place(of: result.shard))
            try root.sync()
        }
        try staging.folder.rename(Staging.report, to: reports, as: file(result.shard))
        try reports.sync()
        try FaultPoint.pass(.betweenRenames)
        try DurableFile.write(Array((json(result) + "\n").utf8), to: file(result.shard), in: results)
        revoke(result.shard)
    }

    // MARK: - Staging

    /// The folder of one attempt at a shard, in which its files are until they are renamed.
    struct Staging {
        static let report = BytePath("report.json")
        /// The renditions that go into a tar, and the tar.
        static let files = BytePath("files")
        static let tar = BytePath("shard.tar")
        let name: BytePath
        let folder: Directory
    }

    func staging(for shard: Int) throws(SystemError) -> Staging {
        let name = BytePath("\(Self.name(of: shard))-\(LockHolder.current.host)-\(DurableFile.newToken)")
        return Staging(name: name, folder: try stagings.makingFolder(name))
    }

    /// The path of a file in a staging folder.
    func path(of file: BytePath, in staging: Staging) -> BytePath {
        path.appending(Self.state).appending(BytePath(Self.prefix + plan.id)).appending(BytePath("staging")).appending(
            staging.name
        ).appending(file)
    }

    func remove(_ staging: Staging) {
        for _ in 0..<Self.mostRemovals where (try? stagings.removeTree(staging.name)) == nil {}
    }

    /// Removes what all attempts at a shard have not published. One that still runs, on a machine that nobody hears of
    /// any more, has no names left that it could rename.
    package func revoke(_ shard: Int) {
        let beginning = Array((Self.name(of: shard) + "-").utf8)
        for name in (try? stagings.names()) ?? [] where name.starts(with: beginning) {
            for _ in 0..<Self.mostRemovals where (try? stagings.removeTree(BytePath(name))) == nil {}
        }
    }

    /// The shards that attempts have left something of.
    func stagedShards() throws(SystemError) -> Set<Int> {
        Set(
            try stagings.names().compactMap {
                Int(String(decoding: $0.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self))
            })
    }
}

extension Directory {
    /// The folder below; nil if there is none.
    fileprivate func folderIfThere(_ name: BytePath) throws(SystemError) -> Directory? {
        do throws(SystemError) {
            return try folder(name)
        } catch  where error.code == ENOENT {
            return nil
        }
    }
}
