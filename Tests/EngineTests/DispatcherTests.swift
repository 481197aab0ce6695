// The dispatcher: fairness, pauses, and how many lanes an inbox may occupy.
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct DispatcherTests {
    /// A dispatcher whose lanes hand over what they get, and hold it until they may go on.
    private final class Lanes: Sendable {
        let store = MemoryJobStore(policy: { _ in RetryPolicy(attempts: 3) })
        private let ids = JobNames()
        private let state = Monitor(State())

        private struct State {
            var dispatcher: Dispatcher?
            /// The work of each busy lane: the inbox, and how many jobs.
            var working: [Int: (inbox: String, count: Int)] = [:]
            var released: Set<Int> = []
            var taken: [String] = []
            /// The inbox whose file system hangs.
            var hung: String?
        }

        init(workers: Int, groupLimit: Int = 1, hung: String? = nil, patience: Duration = .seconds(10)) {
            let dispatcher = Dispatcher(
                store, owner: "test", workers: workers, groupLimit: groupLimit, patience: patience, trouble: { _, _ in }
            ) { [self] dispatcher, lane in
                runOnNewThread { [self] in work(dispatcher, lane) }
            }
            state.change {
                $0.dispatcher = dispatcher
                $0.hung = hung
            }
        }

        var dispatcher: Dispatcher { state.wait { $0.dispatcher } }

        private func work(_ dispatcher: Dispatcher, _ lane: Int) {
            defer { dispatcher.ended(lane) }
            while case let leases = dispatcher.next(lane: lane), let first = leases.first {
                dispatcher.note(state.change { $0.hung == first.job.inbox } ? .files : .worker, lane: lane)
                state.change { state in
                    state.working[lane] = (first.job.inbox, leases.count)
                    state.taken += leases.map { $0.job.path.text }
                }
                state.wait { state -> Void? in
                    guard state.released.remove(lane) != nil else { return nil }
                    state.working[lane] = nil
                    return ()
                }
                _ = store.update(leases.map { JobUpdate($0, .published(damage: nil)) })
                _ = store.update(leases.map { JobUpdate($0, .settled) })
                dispatcher.free(lane)
            }
        }

        func offer(_ count: Int, to inbox: String, bytes: Int = 1 << 20) {
            let jobs = (0..<count).map { number in
                NewJob(
                    id: ids.next(), inbox: inbox, path: BytePath("\(inbox)\(number)"),
                    observed: FileVersion(device: 1, inode: 1, bytes: bytes, modified: number))
            }
            _ = store.offer(jobs)
            dispatcher.added(count, to: inbox)
        }

        /// The number of lanes that work for each inbox, once the condition holds or after some seconds.
        func working(until condition: ([String: Int]) -> Bool) -> [String: Int] {
            let end = Moment.now + .seconds(10)
            return state.look { state in
                let found = Dictionary(grouping: state.working.values, by: \.inbox).mapValues(\.count)
                return condition(found) || .now > end ? .ready(found) : .wait(until: .now + .milliseconds(20))
            }
        }

        var busy: [Int] { state.change { Array($0.working.keys) } }
        var groups: [Int] { state.change { $0.working.values.map(\.count).sorted() } }
        var taken: [String] { state.change { $0.taken } }

        /// Lets the lanes of an inbox go on once, or all.
        func release(_ inbox: String? = nil) {
            state.change { state in
                for (lane, work) in state.working where inbox == nil || work.inbox == inbox {
                    state.released.insert(lane)
                }
            }
        }

        /// Lets everything be done, and closes the dispatcher.
        func finish() {
            dispatcher.close()
            let end = Moment.now + .seconds(20)
            while .now < end, state.change({ !$0.working.isEmpty }) { release() }
            dispatcher.waitUntilClosed(until: .now + .seconds(10))
        }
    }

    @Test
    func `one lane at a time attempts what is to be attempted alone; one that hangs keeps no other waiting`() {
        let lanes = Lanes(workers: 3, patience: .milliseconds(300))
        lanes.dispatcher.set("a", weight: 1, recipe: "")
        lanes.offer(3, to: "a")
        #expect(lanes.working { $0["a"] == 3 } == ["a": 3])
        let (busy, dispatcher) = (lanes.busy, lanes.dispatcher)
        let alone = Monitor<[Int]>([])
        dispatcher.waitToBeAlone(busy[0])
        runOnNewThread {
            dispatcher.waitToBeAlone(busy[1])
            alone.change { $0.append(busy[1]) }
        }
        usleep(600_000)
        #expect(alone.change { $0 }.isEmpty, "the first is at its worker")
        dispatcher.note(.files, lane: busy[0])
        alone.wait { $0 == [busy[1]] ? () : nil }
        runOnNewThread {
            dispatcher.waitToBeAlone(busy[2])
            alone.change { $0.append(busy[2]) }
        }
        usleep(600_000)
        #expect(alone.change { $0 } == [busy[1]], "the second is at its worker")
        dispatcher.free(busy[1])
        alone.wait { $0 == [busy[1], busy[2]] ? () : nil }
        lanes.finish()
    }

    @Test func `the longest wait of an inbox for a file system is known, and what a worker does is none`() throws {
        let lanes = Lanes(workers: 2)
        lanes.dispatcher.set("a", weight: 1, recipe: "")
        lanes.offer(2, to: "a")
        #expect(lanes.working { $0["a"] == 2 } == ["a": 2])
        let busy = lanes.busy
        for lane in busy { lanes.dispatcher.note(.worker, lane: lane, within: .seconds(3 * 3600)) }
        #expect(lanes.dispatcher.fileWaits == [:])
        let before = Moment.now
        lanes.dispatcher.note(.files, lane: busy[0])
        let between = Moment.now
        lanes.dispatcher.note(.files, lane: busy[1])
        let wait = try #require(lanes.dispatcher.fileWaits["a"])
        #expect(wait >= before && wait <= between)
        // The time that a worker may take is still known when it goes on.
        for lane in busy { lanes.dispatcher.note(.worker, lane: lane) }
        #expect(lanes.dispatcher.fileWaits == [:] && lanes.dispatcher.isAlive(at: .now + .seconds(2 * 3600)))
        lanes.finish()
    }

    @Test
    func `as many lanes work as there are workers, and an inbox with work gets one, however long another's takes`() {
        let lanes = Lanes(workers: 2)
        lanes.dispatcher.set("slow", weight: 1, recipe: "")
        lanes.dispatcher.set("good", weight: 1, recipe: "")
        lanes.offer(8, to: "slow")
        #expect(lanes.working { $0["slow"] == 2 } == ["slow": 2])
        lanes.offer(3, to: "good")
        #expect(lanes.working { $0["good"] == 1 } == ["slow": 2, "good": 1])
        lanes.release("good")
        for _ in 0..<1000 where !lanes.taken.contains("good1") { usleep(10_000) }
        #expect(lanes.working { $0["good"] == 1 } == ["slow": 2, "good": 1])
        lanes.finish()
    }

    @Test func `an inbox that has work gets its share of the lanes, by weight, while another one has them all`() {
        let lanes = Lanes(workers: 6)
        for (inbox, weight) in [("slow", 1), ("good", 1), ("heavy", 4)] {
            lanes.dispatcher.set(inbox, weight: weight, recipe: "")
        }
        lanes.offer(20, to: "slow")
        #expect(lanes.working { $0["slow"] == 6 } == ["slow": 6])
        lanes.offer(20, to: "good")
        #expect(lanes.working { $0["good"] == 3 } == ["slow": 6, "good": 3])
        lanes.offer(20, to: "heavy")
        #expect(lanes.working { $0["heavy"] == 4 } == ["slow": 6, "good": 3, "heavy": 4])
        lanes.finish()
    }

    @Test
    func `lanes that a file system has hung cost their inbox alone: it gets no more, and the others keep all workers`()
    {
        let lanes = Lanes(workers: 2, hung: "hung", patience: .milliseconds(500))
        lanes.dispatcher.set("hung", weight: 1, recipe: "")
        lanes.dispatcher.set("good", weight: 1, recipe: "")
        lanes.offer(8, to: "hung")
        #expect(lanes.working { $0["hung"] == 2 } == ["hung": 2])
        usleep(800_000)
        lanes.offer(8, to: "good")
        var found: [String: Int] = [:]
        for _ in 0..<100 where found["good"] != 2 {
            lanes.dispatcher.startLanes()
            usleep(10_000)
            found = lanes.working { _ in true }
        }
        found = lanes.working { $0["good"] == 2 }
        #expect(found == ["hung": 2, "good": 2])
        lanes.finish()
    }

    @Test func `a paused inbox gives nothing until it is resumed`() {
        let lanes = Lanes(workers: 2)
        // Paused from the start: a lane that looks just before `pause` may still take what comes just after it.
        lanes.dispatcher.set("a", weight: 1, recipe: "", isPaused: true)
        lanes.offer(1, to: "a")
        lanes.dispatcher.set("b", weight: 1, recipe: "")
        lanes.offer(1, to: "b")
        #expect(lanes.working { $0["b"] == 1 } == ["b": 1])
        lanes.dispatcher.resume("a")
        #expect(lanes.working { $0["a"] == 1 }["a"] == 1)
        lanes.finish()
    }

    @Test func `many light jobs go in groups, some left for the other lanes; a heavy one is alone`() {
        let lanes = Lanes(workers: 2, groupLimit: 4)
        lanes.dispatcher.set("a", weight: 1, recipe: "", isPaused: true)
        lanes.offer(20, to: "a", bytes: 100)
        lanes.dispatcher.resume("a")
        #expect(lanes.working { $0["a"] == 2 } == ["a": 2])
        #expect(lanes.groups == [4, 4])
        lanes.finish()
        let heavy = Lanes(workers: 1, groupLimit: 4)
        heavy.dispatcher.set("a", weight: 1, recipe: "", isPaused: true)
        heavy.offer(20, to: "a", bytes: 10 << 20)
        heavy.dispatcher.resume("a")
        #expect(heavy.working { $0["a"] == 1 } == ["a": 1])
        #expect(heavy.groups == [1])
        heavy.finish()
    }

    @Test func `a lane may be at one picture for as long as its limits allow; an hour later it is in trouble`() {
        let lanes = Lanes(workers: 1)
        lanes.dispatcher.set("a", weight: 1, recipe: "")
        lanes.offer(1, to: "a")
        #expect(lanes.working { $0["a"] == 1 } == ["a": 1])
        func isAlive(afterMinutes minutes: Int) -> Bool { lanes.dispatcher.isAlive(at: .now + .seconds(60 * minutes)) }
        #expect(isAlive(afterMinutes: 59) && !isAlive(afterMinutes: 61))
        for lane in lanes.busy { lanes.dispatcher.note(.worker, lane: lane, within: .seconds(3 * 3600)) }
        #expect(isAlive(afterMinutes: 239) && !isAlive(afterMinutes: 241))
        for lane in lanes.busy { lanes.dispatcher.note(.files, lane: lane) }
        #expect(isAlive(afterMinutes: 10_000))
        lanes.finish()
    }
}
