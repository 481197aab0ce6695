// Decides which jobs are next and for which lane. The only part that knows fairness, groups, pauses, and how many lanes
// an inbox may occupy.
import Messages
import Synchronization
package import System

/// The dispatcher of a queue: lanes ask it for work. For any thread; `next` waits, and blocks the thread.
///
/// As many lanes work at once as there are workers. Besides, an inbox that has work always gets its share of the lanes,
/// even if others have more than theirs just now: eight sources that take minutes each do not keep another inbox
/// waiting. A lane that has been waiting for a file system for a while does not count, and another inbox gets one in
/// its place; its own inbox never has more lanes than there are workers.
package final class Dispatcher: Sendable {
    /// The kind of work that a lane does.
    package enum Activity: Sendable {
        /// It waits for a file system: claiming, opening, publishing, putting away.
        case files
        /// It waits for a worker, which has deadlines of its own.
        case worker
    }

    fileprivate struct Occupation {
        let inbox: String
        var activity = Activity.files
        var since: Moment
        /// How long it may take by the limits of the picture.
        var allowed = Duration.zero
        /// It attempts what may have taken the program down.
        var isAlone = false
    }

    fileprivate struct Inbox {
        var isPaused = false
        /// When something may be due; `never` if nothing is known.
        var due = Moment.now
        /// Jobs that are known to wait; more may.
        var waiting = 0
        /// Counts offers, so that a look at the store that came before one does not hide it.
        var offers = 0
        var recipe = ""
    }

    fileprivate struct State {
        var share = FairShare()
        var inboxes: [String: Inbox] = [:]
        var lanes: [Int: Occupation] = [:]
        /// Those that have jobs are in `lanes`; the others wait for some.
        var laneCount = 0
        var nextLane = 0
        /// Lanes that work at once.
        var workers: Int
        /// A file system that has not answered for so long hangs.
        let patience: Duration
        var isClosed = false
    }

    private let state: Monitor<State>
    /// Lanes that have not ended. Who waits for that alone is not woken by anything else.
    private let living = Monitor(0)
    private let store: any JobStore
    private let heldFor: Int
    private let owner: String
    private let groupLimit: Int
    /// Takes a lane's number, and runs a lane on a thread of its own until `next` gives it nothing.
    private let startLane: @Sendable (Dispatcher, Int) -> Void
    private let trouble: @Sendable (String, StoreError) -> Void

    /// A source of at most so many bytes may share its syncs with others.
    private static let lightBytes = 256 << 10
    /// How long leases hold without being extended, in milliseconds.
    package static let lease = 600_000
    /// A lane that works is not so much longer at one thing than its limits allow, the wait for memory included.
    private static let patienceWithWork = Duration.seconds(3600)

    /// - Parameters:
    ///   - owner: random for each start of the program; leases are in its name.
    ///   - workers: lanes that work at once.
    ///   - groupLimit: light jobs that a lane gets at once.
    ///   - lease: how long a lease holds without being extended, in milliseconds.
    ///   - patience: how long a lane may wait for a file system before another one takes its place.
    ///   - trouble: an inbox could not be asked for its jobs.
    package init(
        _ store: any JobStore, owner: String, workers: Int, groupLimit: Int = 1, lease: Int = Dispatcher.lease,
        patience: Duration = .seconds(1),
        trouble: @escaping @Sendable (String, StoreError) -> Void,
        startLane: @escaping @Sendable (Dispatcher, Int) -> Void
    ) {
        self.store = store
        self.owner = owner
        heldFor = lease
        state = Monitor(State(workers: workers, patience: patience))
        self.groupLimit = groupLimit
        self.trouble = trouble
        self.startLane = startLane
    }

    // MARK: Inboxes

    /// Adds an inbox, or changes one.
    /// - Parameter recipe: a digest of what is to be done with its sources.
    /// - Parameter isPaused: what a new inbox is at first.
    package func set(_ inbox: String, weight: Int, recipe: String, isPaused: Bool = false) {
        state.change { state in
            state.share.set(inbox, weight: weight)
            state.inboxes[inbox, default: Inbox(isPaused: isPaused)].recipe = recipe
        }
        startLanes()
    }

    /// Lets go of an inbox that no lane is at, not even to take jobs.
    /// - Returns: whether it was let go.
    package func removeIfIdle(_ inbox: String) -> Bool {
        state.change { state in
            guard !state.lanes.values.contains(where: { $0.inbox == inbox }) else { return false }
            state.share.remove(inbox)
            state.inboxes[inbox] = nil
            return true
        }
    }

    /// Nothing is given out of this inbox until it is resumed, but for what lanes are just about to take.
    package func pause(_ inbox: String) { state.change { $0.inboxes[inbox]?.isPaused = true } }

    package func resume(_ inbox: String) {
        state.change { state in
            state.inboxes[inbox]?.isPaused = false
            state.inboxes[inbox]?.due = .now
            // A look that is under way found nothing because of what ends with the pause.
            state.inboxes[inbox]?.offers += 1
        }
        startLanes()
    }

    /// Jobs of an inbox were added or changed: the next look is now, or at this time.
    /// - Parameter count: how many were added.
    package func added(_ count: Int = 0, to inbox: String, due: Moment = .now) {
        state.change { state in
            guard var entry = state.inboxes[inbox] else { return }
            entry.offers += 1
            entry.waiting += count
            entry.due = min(entry.due, due)
            state.inboxes[inbox] = entry
        }
        startLanes()
    }

    /// Gives out no more work.
    package func close() { state.change { $0.isClosed = true } }

    // MARK: Lanes

    /// Starts lanes as long as there is work for them that no lane waits for. To be called now and then: what hangs
    /// shows with time.
    package func startLanes() {
        while let lane = state.note({ $0.newLane() }) {
            living.change { $0 += 1 }
            startLane(self, lane)
        }
    }

    /// The next jobs for a lane: one, or several light ones of one inbox. Waits for them.
    /// - Returns: nothing if the lane is to end.
    package func next(lane: Int) -> [Lease] {
        while let (inbox, request, offers) = choose(lane) {
            let leases: [Lease]
            do throws(StoreError) {
                leases = try store.take(request)
            } catch {
                free(lane)
                state.change { $0.inboxes[inbox]?.due = .now + .seconds(1) }
                trouble(inbox, error)
                continue
            }
            // The jobs that were taken are worked on even if looking ahead fails.
            do throws(StoreError) {
                if leases.count < request.limit {
                    try lookAhead(inbox, offers)
                } else {
                    took(leases.count, from: inbox)
                }
            } catch {
                state.change { $0.inboxes[inbox]?.due = .now + .seconds(1) }
                trouble(inbox, error)
            }
            if leases.isEmpty {
                free(lane)
            } else {
                // There may be more than this lane got.
                startLanes()
                return leases
            }
        }
        return []
    }

    /// Notes what a lane does now.
    /// - Parameter allowed: how long it may take by its limits, which users may set to many hours; nil if that stays.
    package func note(_ activity: Activity, lane: Int, within allowed: Duration? = nil) {
        // Called six times per source: waking the waiting lanes each time would be slow. Only the end of a hang
        // concerns them.
        let hung = state.note { state in
            let hung = state.lanes[lane].map { state.hangs($0, at: .now) } ?? false
            state.lanes[lane]?.activity = activity
            state.lanes[lane]?.since = .now
            if let allowed { state.lanes[lane]?.allowed = allowed }
            return hung
        }
        if hung { state.change { _ in } }
    }

    /// The inboxes that have lanes which wait for a file system, and since when: the longest wait of each.
    package var fileWaits: [String: Moment] {
        state.note { state in
            let waiting = state.lanes.values.filter { $0.activity == .files }.map { ($0.inbox, $0.since) }
            return Dictionary(waiting) { min($0, $1) }
        }
    }

    /// Waits until no other lane attempts what is to be attempted alone. One that waits for a file system for a while
    /// does not count.
    package func waitToBeAlone(_ lane: Int) {
        state.look { state -> Monitor<State>.Look<Void> in
            let others = state.lanes.filter { $0.key != lane && $0.value.isAlone }.values
            let now = Moment.now
            guard others.allSatisfy({ state.hangs($0, at: now) }) else { return .wait(until: now + state.patience) }
            state.lanes[lane]?.isAlone = true
            return .ready(())
        }
    }

    /// A lane has done what it was given.
    package func free(_ lane: Int) {
        state.change { $0.lanes[lane] = nil }
        startLanes()
    }

    /// A lane ends.
    package func ended(_ lane: Int) {
        state.change { state in
            state.lanes[lane] = nil
            state.laneCount -= 1
        }
        living.change { $0 -= 1 }
    }

    /// A lane cannot work at all: one fewer is started from now on, and without any the queue is closed.
    package func giveUp(_ lane: Int) {
        state.change { state in
            state.lanes[lane] = nil
            state.laneCount -= 1
            state.workers -= 1
            if state.workers == 0 { state.isClosed = true }
        }
        living.change { $0 -= 1 }
    }

    /// Waits until every lane has ended after `close`, or until a time: a lane that a file system has hung ends with
    /// the process.
    package func waitUntilClosed(until end: Moment = .never) {
        living.look { $0 == 0 || .now >= end ? .ready(()) : .wait(until: end) }
    }

    /// Whether every lane is within its limits of time. Lanes that wait for a file system are left out: they belong to
    /// one inbox.
    package var isAlive: Bool {
        isAlive(at: .now)
    }

    func isAlive(at now: Moment) -> Bool {
        state.note { state in
            state.lanes.values.allSatisfy {
                $0.activity == .files || now < $0.since + $0.allowed + Self.patienceWithWork
            }
        }
    }

    private func choose(_ lane: Int) -> (inbox: String, TakeRequest, offers: Int)? {
        state.look { state -> Monitor<State>.Look<(inbox: String, TakeRequest, offers: Int)?> in
            if state.isClosed || state.idle > state.workers { return .ready(nil) }
            // One moment for both: what becomes due between two would be given out by neither.
            let now = Moment.now
            guard let inbox = state.share.next(of: state.eligible(at: now)), let entry = state.inboxes[inbox] else {
                return .wait(until: state.nextLook(at: now))
            }
            state.lanes[lane] = Occupation(inbox: inbox, since: .now)
            // Some are left for the other lanes, so that a few sources are done at the same time.
            let limit = max(1, min(groupLimit, entry.waiting - state.workers))
            let request = TakeRequest(
                inbox: inbox, limit: limit, lightBytes: Self.lightBytes, owner: owner, lease: heldFor,
                recipe: entry.recipe)
            return .ready((inbox, request, entry.offers))
        }
    }

    private func took(_ count: Int, from inbox: String) {
        state.note { state in
            guard let waiting = state.inboxes[inbox]?.waiting else { return }
            state.inboxes[inbox]?.waiting = max(0, waiting - count)
        }
    }

    /// There was less than could be taken: finds out when there may be more.
    private func lookAhead(_ inbox: String, _ offers: Int) throws(StoreError) {
        let next = try store.nextDue(inbox: inbox, owner: owner)
        let due = next.map { Moment.now + .milliseconds($0) } ?? .never
        state.change { state in
            guard var entry = state.inboxes[inbox], entry.offers == offers else { return }
            // Waits have an end: a job may come from an inbox that was renamed, and the machine may sleep.
            entry.due = min(due, .now + .seconds(60))
            entry.waiting = next == nil ? 0 : 1
            state.inboxes[inbox] = entry
        }
    }
}

extension Dispatcher.State {
    /// Lanes that wait for jobs.
    fileprivate var idle: Int { laneCount - lanes.count }

    fileprivate func hangs(_ lane: Dispatcher.Occupation, at now: Moment) -> Bool {
        lane.activity == .files && now > lane.since + patience
    }

    /// The inboxes that may get a lane now.
    fileprivate func eligible(at now: Moment) -> [String] {
        let wanting = inboxes.filter { !$0.value.isPaused && $0.value.due <= now }.map(\.key)
        let hasRoom = lanes.values.count { !hangs($0, at: now) } < workers
        let sharing = hasRoom ? [] : Set(wanting).union(lanes.values.map(\.inbox))
        return wanting.filter { name in
            lanes.values.count { $0.inbox == name }
                < (hasRoom ? workers : share.part(of: name, among: sharing, of: workers))
        }
    }

    /// When a look may find something else without anybody having changed anything.
    fileprivate func nextLook(at now: Moment) -> Moment {
        let due = inboxes.values.filter { !$0.isPaused && $0.due > now }.map(\.due)
        // A lane that begins to hang makes room for another one.
        let hanging = lanes.values.filter { $0.activity == .files }.map { $0.since + patience }.filter { $0 >= now }
            .map { $0 + .nanoseconds(1) }
        return (due + hanging).min() ?? .never
    }

    /// The number of a lane to start, if one is needed.
    fileprivate mutating func newLane() -> Int? {
        guard !isClosed, laneCount < workers || idle == 0 && !eligible(at: .now).isEmpty else { return nil }
        laneCount += 1
        nextLane += 1
        return nextLane
    }
}
