// One store of each kind for one test, with a clock that the test sets.
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

/// The kinds of stores. Whatever is added here has to pass `JobStoreTests`.
enum StoreKind: CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, sqlite, postgres

    /// Those that this system has.
    static let allCases: [StoreKind] = [.memory] + ledgers

    /// Those that keep all that a drop folder needs.
    static let ledgers: [StoreKind] = [.sqlite] + (PostgresServer.isThere ? [.postgres] : [])

    /// Those that know an inbox by its path, so that its name can be changed. Several machines may have it at several.
    static let ofOneMachine: [StoreKind] = [.sqlite]

    var testDescription: String { "\(self)" }
}

extension Clocks {
    /// Both show the same time.
    init(_ time: @escaping @Sendable () -> Int) { self.init(wall: time, uptime: time) }
}

/// Clocks that a test sets.
final class FakeClocks: Sendable {
    private let times = Mutex((wall: 1_700_000_000_000, uptime: 5_000_000))

    var clocks: Clocks {
        Clocks(wall: { self.times.withLock { $0.wall } }, uptime: { self.times.withLock { $0.uptime } })
    }

    /// Time passes.
    func pass(_ time: Duration) {
        times.withLock { times in
            times.wall += Int(time.inNanoseconds / 1_000_000)
            times.uptime += Int(time.inNanoseconds / 1_000_000)
        }
    }

    /// Somebody sets the time of day.
    func setWall(by time: Duration) { times.withLock { $0.wall += Int(time.inNanoseconds / 1_000_000) } }

    /// Another uptime: the machine was restarted, or it is another one.
    func setUptime(to time: Duration) { times.withLock { $0.uptime = Int(time.inNanoseconds / 1_000_000) } }
}

/// A store with nothing in it.
final class JobStoreFixture: Sendable {
    let store: any JobStore & NameStore
    private let kind: StoreKind
    /// The same, if it is a ledger.
    private let ledger: (any Ledger)?
    private let folder: TemporaryFolder
    /// The connection to the ledger in PostgreSQL.
    private let conninfo: String
    private let time: Clock
    private let names = JobNames()
    private let policy: RetryPolicy

    final class Clock: Sendable {
        private let time = Atomic(1_000_000)
        /// Shows the time to others.
        private let show: @Sendable (Int) -> Void
        init(show: @escaping @Sendable (Int) -> Void = { _ in }) { self.show = show }
        var now: Int { time.load(ordering: .sequentiallyConsistent) }
        func set(_ now: Int) {
            time.store(now, ordering: .sequentiallyConsistent)
            show(now)
        }
    }

    init(_ kind: StoreKind, attempts: Int = 3) throws {
        self.kind = kind
        folder = try TemporaryFolder()
        let server = kind == .postgres ? PostgresServer.shared : nil
        let conninfo = try server?.newSchema() ?? ""
        self.conninfo = conninfo
        let clock = Clock { now in try? server?.statement("UPDATE time SET now = \(now)", on: conninfo) }
        time = clock
        let policy = RetryPolicy(attempts: attempts)
        self.policy = policy
        switch kind {
        case .memory: (store, ledger) = (MemoryJobStore(policy: { _ in policy }, clock: { clock.now }), nil)
        case .sqlite:
            let ledger = try SQLiteLedger(
                state: BytePath(folder.path("state")), policy: { _ in policy }, clocks: Clocks { clock.now })
            (store, self.ledger) = (ledger, ledger)
        case .postgres:
            try PostgresLedger.prepare(conninfo)
            // A server's clock cannot be set, and the ledger's time is what this function says.
            try server?.statement(
                """
                CREATE TABLE time (now bigint); INSERT INTO time VALUES (\(clock.now));
                CREATE OR REPLACE FUNCTION imagemill_now() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT now FROM time'
                """, on: conninfo)
            let ledger = try PostgresLedger(conninfo, policy: { _ in policy }, clocks: Clocks { clock.now })
            (store, self.ledger) = (ledger, ledger)
        }
    }

    /// The ledger, for tests of `StoreKind.ledgers`.
    var keeping: any Ledger { get throws { try #require(ledger) } }

    /// Another connection to the same store, as another process has it, whose wall clock is set otherwise.
    func another(wall skew: Duration) throws -> any JobStore & NameStore {
        switch kind {
        // It has one only.
        case .memory: return store
        case .sqlite, .postgres: break
        }
        let (time, policy) = (time, policy)
        if kind == .postgres {
            return try PostgresLedger(conninfo, policy: { _ in policy }, clocks: Clocks { time.now })
        }
        let milliseconds = Int(skew.inNanoseconds / 1_000_000)
        return try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in policy },
            clocks: Clocks(wall: { time.now + milliseconds }, uptime: { time.now }))
    }

    /// The ledger as a program has it that was started anew.
    /// - Parameter inboxes: the names of its inboxes by their paths.
    func reopened(_ inboxes: [BytePath: String] = [:]) throws -> any Ledger {
        let (time, policy) = (time, policy)
        switch kind {
        case .memory: return try keeping
        case .sqlite:
            return try SQLiteLedger(
                state: BytePath(folder.path("state")), policy: { _ in policy }, inboxes: inboxes,
                clocks: Clocks { time.now })
        case .postgres:
            return try PostgresLedger(
                conninfo, policy: { _ in policy }, inboxes: inboxes.values.sorted(), clocks: Clocks { time.now })
        }
    }

    var now: Int {
        get { time.now }
        set { time.set(newValue) }
    }

    func new(
        _ path: String, inbox: String = "in", bytes: Int = 10, modified: Int = 1, isSet: Bool = false,
        keeps: Bool = false, isInSpool: Bool = false
    ) -> NewJob {
        NewJob(
            id: names.next(), inbox: inbox, path: BytePath(path), isSet: isSet,
            observed: FileVersion(device: .max, inode: 1 << 63, bytes: bytes, modified: modified),
            originals: keeps ? .keep : .move, isInSpool: isInSpool)
    }

    func request(
        _ limit: Int = 1, inbox: String = "in", owner: String = "me", lease: Int = 60_000, recipe: String = "r1"
    ) -> TakeRequest {
        TakeRequest(inbox: inbox, limit: limit, lightBytes: 100, owner: owner, lease: lease, recipe: recipe)
    }

    /// Offers a source and takes it alone.
    func taken(_ path: String, keeps: Bool = false, owner: String = "me", recipe: String = "r1", lease: Int = 60_000)
        throws -> Lease?
    {
        _ = try store.offer([new(path, keeps: keeps)])
        return try store.take(request(owner: owner, lease: lease, recipe: recipe)).first
    }

    /// Brings a source to its end.
    func end(_ path: String, failing failure: Failure? = nil, keeps: Bool = false, recipe: String = "r1") throws {
        guard let lease = try taken(path, keeps: keeps, recipe: recipe) else { return }
        let event: JobEvent = failure.map { .attemptFailed($0, isFinal: true) } ?? .published(damage: nil)
        _ = try store.update([JobUpdate(lease, event)])
        _ = try store.update([JobUpdate(lease, .settled)])
    }
}

extension JobStoreFixture {
    /// Brings a source to its end in a ledger that was opened anew.
    func end(in store: any Ledger, _ path: String, inbox: String = "in", keeps: Bool = false) throws {
        _ = try store.offer([new(path, inbox: inbox, keeps: keeps)])
        let lease = try #require(try store.take(request(inbox: inbox)).first)
        _ = try store.update([JobUpdate(lease, .published(damage: nil))])
        _ = try store.update([JobUpdate(lease, .settled)])
    }
}

extension JobStore {
    /// How many sources of an inbox have ended how.
    func totals(inbox: String) throws -> JobCounts {
        let counts = try counts()[inbox] ?? JobCounts()
        return JobCounts(done: counts.done, failed: counts.failed)
    }

    /// Open jobs of an inbox, those of them that wait, and for how long the oldest has been known.
    func openCount(inbox: String) throws -> (count: Int, waiting: Int, age: Int?) {
        let counts = try counts()[inbox] ?? JobCounts()
        return (counts.open, counts.waiting, counts.age)
    }

    func inboxesWithOpenJobs() throws -> [String] { try counts().filter { $0.value.open > 0 }.keys.sorted() }
}

extension UpdateOutcome {
    var progress: JobProgress? { if case .changed(let progress, _, _) = self { progress } else { nil } }
    var effects: [JobEffect] { if case .changed(_, let effects, _) = self { effects } else { [] } }
    var dueIn: Int? { if case .changed(_, _, let time) = self { time } else { nil } }
}

extension HookStore {
    @discardableResult
    func addHook(inbox: String, event: String, key: String, body: [UInt8]) throws -> Int {
        try addHook(inbox: inbox, event: event, key: key, body: body, limit: 10_000)
    }
}
