// The ledger's time goes on as time passes, whatever the time of day is set to, and over restarts.
import GRDB
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import Messages
@testable import System

@Suite struct LedgerClockTests {
    private let folder: TemporaryFolder
    private let fake = FakeClocks()

    init() throws { folder = try TemporaryFolder() }

    private func open(attempts: Int = 3) throws -> SQLiteLedger {
        try SQLiteLedger(
            state: BytePath(folder.path("state")), policy: { _ in RetryPolicy(attempts: attempts) }, clocks: fake.clocks
        )
    }

    /// Jumps of the time of day.
    static let jumps: [Duration] = [.seconds(2 * 86_400), .seconds(-86_400), .seconds(40 * 86_400), .seconds(-100)]

    @Test(arguments: jumps) func `while the program runs, a time of day that is set changes nothing`(jump: Duration)
        throws
    {
        let store = try open()
        let start = store.now
        fake.setWall(by: jump)
        #expect(store.now == start)
        fake.pass(.seconds(7))
        #expect(store.now == start + 7_000)
    }

    @Test func `between two starts, what both clocks say has passed counts`() throws {
        let start = try open().now
        fake.pass(.seconds(3_600))
        #expect(try open().now == start + 3_600_000)
    }

    @Test(arguments: jumps) func `a time of day that was set between two starts never makes it go too fast, nor back`(
        jump: Duration
    ) throws {
        let start = try open().now
        fake.pass(.seconds(60))
        fake.setWall(by: jump)
        let next = try open().now
        #expect(next > start && next <= start + 60_000)
    }

    @Test(arguments: [Duration.seconds(30), .seconds(200 * 86_400)])
    func `a machine that was restarted, and another one that has been up for months, do not make it jump`(
        uptime: Duration
    ) throws {
        let start = try open().now
        fake.pass(.seconds(60))
        fake.setUptime(to: uptime)
        let next = try open().now
        #expect(next > start && next <= start + 60_000)
    }

    @Test(arguments: jumps) func `a job waits for its own time, and no longer, whatever is set meanwhile`(
        jump: Duration
    )
        throws
    {
        let store = try open()
        let lease = try wait(store)
        fake.setWall(by: jump)
        #expect(try store.nextDue(inbox: "in", owner: "me") == 1_000)
        fake.pass(.milliseconds(999))
        #expect(try take(store) == nil)
        fake.pass(.milliseconds(1))
        #expect(try take(store)?.job.id == lease.job.id)
    }

    @Test func `a job waits no longer after a restart of the machine, which forgets what was not recorded`() throws {
        let first = try open()
        fake.pass(.seconds(3_000))
        _ = try wait(first)
        fake.setUptime(to: .seconds(20))
        let store = try open()
        #expect(try take(store) == nil)
        fake.pass(.seconds(1))
        #expect(try take(store) != nil)
    }

    @Test(arguments: [JobState.published, .rejected])
    func `a job whose source is still to leave the spool waits no longer after a restart of the machine`(
        state: JobState
    ) throws {
        let first = try open()
        fake.pass(.seconds(3_000))
        try offer(first)
        // Nothing writes the time down from here on.
        fake.pass(.milliseconds(5))
        let lease = try #require(try take(first))
        let failure = Failure(.corrupt, stage: "decode", "x")
        let event: JobEvent =
            state == .published
            ? .published(damage: nil) : .attemptFailed(failure, isFinal: true)
        _ = try first.update([JobUpdate(lease, event)])
        fake.setUptime(to: .seconds(20))
        let store = try open()
        let job = try #require(try store.job(lease.job.id))
        #expect(job.progress.state == state && job.progress.notBefore > store.now)
        try store.endLeases(ofOthersThan: "two")
        _ = try store.recover([(job, .spool)], by: "two")
        #expect(try take(store)?.job.id == lease.job.id)
    }

    @Test func `while a job waits, the time is recorded, so that a restart of the machine costs little of it`() throws {
        let first = try open()
        _ = try wait(first)
        fake.pass(.milliseconds(700))
        try first.recordTime()
        fake.setUptime(to: .seconds(20))
        let store = try open()
        fake.pass(.milliseconds(300))
        #expect(try take(store) != nil)
    }

    @Test func `while nothing waits for a time, none is recorded`() throws {
        let store = try open()
        let start = try recorded(store)
        fake.pass(.seconds(60))
        try store.recordTime()
        #expect(try recorded(store) == start)
        try offer(store)
        try store.recordTime()
        #expect(try recorded(store) == store.now)
        fake.pass(.seconds(60))
        try store.recordTime()
        #expect(try recorded(store) == store.now - 60_000)
    }

    private func recorded(_ store: SQLiteLedger) throws -> Int? {
        try store.look { try Int.fetchOne($0, sql: "SELECT time FROM clock") }
    }

    private func take(_ store: SQLiteLedger) throws -> Lease? {
        try store.take(TakeRequest(inbox: "in", limit: 1, lightBytes: 9, owner: "me", lease: 60_000, recipe: "r")).first
    }

    private func offer(_ store: SQLiteLedger) throws {
        _ = try store.offer([
            NewJob(
                id: JobNames().next(), inbox: "in", path: BytePath("a"),
                observed: FileVersion(device: 1, inode: 2, bytes: 3, modified: 4))
        ])
    }

    /// A job that has failed once and waits for a second.
    private func wait(_ store: SQLiteLedger) throws -> Lease {
        try offer(store)
        let lease = try #require(try take(store))
        let failure = Failure(.workerCrashed, stage: "render", "x")
        _ = try store.update([JobUpdate(lease, .attemptFailed(failure, isFinal: false))])
        return lease
    }
}
