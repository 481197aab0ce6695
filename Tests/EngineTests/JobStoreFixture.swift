// One store of each kind for one test, with a clock that the test sets.
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

/// The kinds of stores. Whatever is added here has to pass `JobStoreTests`.
enum StoreKind: CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, sqlite

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
    let store: any JobStore
    private let folder: TemporaryFolder
    private let time: Clock
    private let names = JobNames()

    final class Clock: Sendable {
        private let time = Atomic(1_000_000)
        var now: Int { time.load(ordering: .sequentiallyConsistent) }
        func set(_ now: Int) { time.store(now, ordering: .sequentiallyConsistent) }
    }

    init(_ kind: StoreKind, attempts: Int = 3) throws {
        folder = try TemporaryFolder()
        let clock = Clock()
        time = clock
        let policy = RetryPolicy(attempts: attempts)
        store =
            switch kind {
            case .memory: MemoryJobStore(policy: { _ in policy }, clock: { clock.now })
            case .sqlite:
                try SQLiteJobStore(
                    state: BytePath(folder.path("state")), policy: { _ in policy }, clocks: Clocks { clock.now })
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
            observed: ObservedFile(device: .max, inode: 1 << 63, bytes: bytes, modified: modified),
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
        let event: JobEvent = failure.map { .attemptFailed($0, isFinal: true, now: now) } ?? .published(damage: nil)
        _ = try store.update([JobUpdate(lease, event)])
        _ = try store.update([JobUpdate(lease, .settled)])
    }
}
