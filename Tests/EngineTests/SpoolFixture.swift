// A spool in a folder for one test, and jobs in it.
import Foundation
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

/// An inbox `in` with its spool below `state`.
struct SpoolFixture {
    let folder: TemporaryFolder
    let spool: Spool
    let inbox: BytePath
    private let names = JobNames()
    let ignored = IgnoredNames()
    var limits = Limits()
    var companions = CompanionRule()

    init(calls: NameCalls = .system) throws {
        folder = try TemporaryFolder()
        inbox = BytePath(folder.path("in"))
        try FileSystem.makeDirectories(inbox)
        let location = SpoolLocation(inbox: inbox, state: BytePath(folder.path("state")))
        spool = try Spool(location, inbox: inbox, name: "shop", calls: calls)
    }

    /// The spool as another start opens it.
    func restarted() throws -> Spool {
        try Spool(SpoolLocation(inbox: inbox, state: BytePath(folder.path("state"))), inbox: inbox, name: "shop")
    }

    /// A job for what is in the inbox now.
    func job(_ path: BytePath, isSet: Bool = false, keeps: Bool = false) throws -> Job {
        let root = try Directory(inbox)
        guard case .source(let status, _) = try SourceLook(root: root, ignored: ignored).look(path, isSet: isSet) else {
            throw SystemError("find '\(path.printable)'", code: ENOENT)
        }
        return Job(
            id: names.next(), inbox: "shop", path: path, isSet: isSet, observed: status.version,
            originals: keeps ? .keep : .move,
            progress: JobProgress(.running, attempts: 1), offered: 0, changed: 0)
    }

    func job(_ path: String, isSet: Bool = false, keeps: Bool = false) throws -> Job {
        try job(BytePath(path), isSet: isSet, keeps: keeps)
    }

    func claim(_ job: Job) -> ClaimOutcome {
        spool.claim(
            job, from: inbox, companions, settle: .zero, largest: limits.maximumSourceBytes)
    }

    /// A job whose source is in the spool.
    func claimed(_ path: String, isSet: Bool = false, keeps: Bool = false) throws -> Job {
        let job = try job(path, isSet: isSet, keeps: keeps)
        let outcome = claim(job)
        guard outcome == .claimed else { throw SystemError("claim '\(path)': \(outcome)", code: 0) }
        return job
    }

    func open(_ job: Job) throws -> SourceFile {
        try spool.open(job, ignored: ignored, limits: limits, sidecars: companions.sidecars)
    }

    func entries() throws -> [SpoolEntry] { try spool.entries(ignored: ignored) }
    func place(_ job: Job) throws -> SourcePlace { try spool.place(of: job, inbox: inbox) }

    func note(_ job: Job) -> (BytePath) -> FailureNote {
        { path in
            FailureNote(
                source: job.path, job: job.id.text, inbox: inbox, quarantined: path, pipeline: BytePath("/p.yaml"),
                failure: Failure(.corrupt, stage: "decode", "x"),
                attempts: 3)
        }
    }

    @discardableResult
    func settle(_ job: Job, _ originals: OriginalPolicy = .move) throws -> [BytePath] {
        try spool.settle(job.keepsOriginal ? job : job.with(originals))
    }

    /// Everything in a folder of the spool, or in the inbox, as sorted paths from it.
    func list(_ name: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path(name)).sorted()
    }

    var work: String { "state/work/shop" }
    var done: String { "state/done/shop" }
    var failed: String { "state/failed/shop" }

    func text(_ source: SourceFile) throws -> String {
        String(decoding: try source.location.open().file.bytes(at: 0, count: 1000), as: UTF8.self)
    }
}

extension Job {
    /// The same job, offered under another policy.
    func with(_ originals: OriginalPolicy) -> Job {
        Job(
            id: id, inbox: inbox, path: path, isSet: isSet, observed: observed, originals: originals,
            progress: progress, recipe: recipe, offered: offered, changed: changed)
    }
}
