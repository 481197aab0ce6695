// A daemon that answers from a script, for tests of the socket and of the commands that use it.
import Engine
import Pipeline
import Synchronization

@testable import imagemill

final class FakeDaemon: DaemonControl {
    let document: StatusDocument
    private let reply: ControlReply
    private let asked = Mutex<[ControlRequest]>([])
    /// Held while `reload` is at work.
    let gate = Mutex(false)

    /// By the numbers of results, of which each has one.
    private let pictures: [Int: ServedRendition]
    let standing: [String: Standing]
    private let failed: [String: BytePath]

    init(
        _ document: StatusDocument = FakeDaemon.busy, reply: ControlReply = ControlReply(ok: true, "done"),
        pictures: [Int: ServedRendition] = [:], standing: [String: Standing] = [:],
        failed: [String: BytePath] = [:]
    ) {
        (self.document, self.reply, self.pictures) = (document, reply, pictures)
        (self.standing, self.failed) = (standing, failed)
    }

    var requests: [ControlRequest] { asked.withLock { $0 } }

    func status() -> StatusDocument { document }
    var activity: Activity.Snapshot { Activity.Snapshot(minutes: [Activity.Minute(done: 1)]) }
    var failuresRevision: Int { 7 }
    var retrying: Retry.Count? { nil }
    var isAlive: Bool { true }
    var missingState: String? { nil }
    func rendition(_ index: Int, of result: Int) -> ServedRendition? { index == 0 ? pictures[result] : nil }
    func failedFolder(of inbox: String) -> BytePath? { failed[inbox] }

    /// Ten bytes for each source.
    func picture(ofFailed path: BytePath, in inbox: String) -> [UInt8]? { [UInt8](repeating: 7, count: 10) }

    func reload() -> ControlReply {
        gate.withLock { _ in }
        asked.withLock { $0.append(.reload) }
        return reply
    }

    func pause(_ request: PauseRequest) -> ControlReply {
        asked.withLock { $0.append(.pause(request)) }
        return reply
    }

    func history() throws -> [HistoryHour] { [] }
    var configuration: String { "inboxes:\n" }
    var journal: BytePath { BytePath("/nowhere") }
    var events: [RecentEvents.Event] { [] }

    func retry(_ request: RetryRequest) -> ControlReply {
        asked.withLock { $0.append(.retry(request)) }
        return reply
    }

    static let time = "2026-11-20T23:30:00.123Z"

    /// A document with everything that it can hold.
    static var busy: StatusDocument {
        var document = StatusDocument(process: 42, state: .running, started: time, uptimeSeconds: 93_784)
        var products = StatusDocument.Inbox(
            name: "in\n", path: ShownPath(BytePath("/srv/in\n")), outbox: ShownPath(BytePath("/srv/out")),
            pipeline: "p.yaml", watching: .events)
        (products.seen, products.settling, products.waiting, products.done, products.failed, products.oldestSeconds) = (
            3, 2, 1, 10, 4, 75
        )
        products.blocked = 1
        products.failedCodes = ["truncated": 1]
        products.passedOver = 7
        products.passedOverFiles = [
            StatusDocument.Obstacle(path: ShownPath(BytePath("e\n.xmp")), message: "it is no picture")
        ]
        (products.doneFolder, products.failedFolder) = (
            ShownPath(BytePath("/s/done")), ShownPath(BytePath("/s/failed"))
        )
        products.settlingSources = [
            StatusDocument.SettlingEntry(path: ShownPath(BytePath("d\n.jpg")), reason: .incomplete, secondsLeft: 500)
        ]
        products.waitingSources = [
            StatusDocument.WaitingEntry(
                path: ShownPath(BytePath("w\n.jpg")), code: .diskFull, message: "no room\n", remedy: "Make room.",
                secondsLeft: 20)
        ]
        products.obstacles = [
            StatusDocument.Obstacle(path: ShownPath(BytePath("c\n.jpg")), message: "cannot move it: Permission denied")
        ]
        var share = StatusDocument.Inbox(
            name: "share", path: ShownPath(BytePath([0x2F, 0xFF])), outbox: ShownPath(BytePath("/o")), pipeline: "q",
            watching: .poll)
        share.state = .paused
        share.paused = StatusDocument.Pause(reason: .noSpace, message: "the disk of '/o' is full", since: time)
        document.inboxes = [products, share]
        document.queue = StatusDocument.Queue(depth: 6, oldestSeconds: 75)
        document.inProgress = [
            StatusDocument.Running(
                job: "0123456789abcdef", inbox: products.path, path: ShownPath(BytePath("a.jpg")), stage: "render",
                attempt: 2, seconds: 3)
        ]
        document.recentFailures = [
            StatusDocument.RecentFailure(
                inbox: products.path, path: ShownPath(BytePath("b\u{1B}.jpg")), code: .truncated,
                message: "it ends early", remedy: FailureCode.truncated.remedy(in: .millFile), attempts: 1, time: time)
        ]
        document.hooks = StatusDocument.Hooks([
            HookLoss(time: 1_700_000_000_000, inbox: "share", call: nil, count: 2, reason: "too\nmany"),
            HookLoss(
                time: 1_700_000_000_000, inbox: "in\n",
                call: HookCall(event: "success", source: BytePath([0xFF]), action: "notify"),
                reason: "'notify' ended with 1"),
        ])
        document.workers = StatusDocument.Workers(total: 4, busy: 1, replaced: 2)
        document.memory = StatusDocument.Memory(residentBytes: 50 << 20, budgetBytes: 4 << 30, reservedBytes: 1 << 20)
        document.cache = StatusDocument.Cache(
            path: ShownPath(BytePath("/var/cache\n")), renditions: 12, bytes: 3 << 20, boundBytes: 1 << 30, hits: 7,
            misses: 5,
            trouble: "its disk is\nfull")
        document.disks = [
            StatusDocument.Disk(
                path: ShownPath(BytePath("/srv\n")), freeBytes: 900 << 20, totalBytes: 20 << 30, isLow: true),
            StatusDocument.Disk(
                path: ShownPath(BytePath("/o")), freeBytes: 9 << 30, totalBytes: 10 << 30, isLow: false),
        ]
        document.reload = StatusDocument.Reload(
            state: .refused, time: time, diagnostics: ["mill.yaml:3:1: error: unknown key 'inbx'"])
        return document
    }
}
