// Runs hooks in the background; no job waits for one.
import Glibc
package import Pipeline
package import System

/// A hook that did not succeed.
package enum HookNews: Sendable {
    /// It is tried again after so many milliseconds.
    case postponed(HookCall, String, after: Int)
    /// It is not tried again.
    case lost(HookLoss)
}

/// The hooks of a drop folder. For any thread.
package final class HookRunner: Sendable {
    private let store: any JobStore & HookStore
    private let starter: ProcessStarter
    private let hook: @Sendable (_ inbox: String, _ event: HookEvent) -> Hook?
    private let tell: @Sendable (_ inbox: String, HookNews) -> Void
    private let state = Monitor(State())
    private let cancellation = Cancellation()
    /// In the store's time.
    private let started: Int

    private struct State {
        /// Something was added, or a place is free.
        var isStale = true
        var isStopping = false
        /// The thread has ended, or was never started.
        var hasEnded = true
        /// The inbox of each running hook, by the record's number.
        var running: [Int: String] = [:]
        /// Endings of hooks that the ledger does not have yet, by the record's number. Until it is, no hook is started.
        var ended: [Int: Ending] = [:]
        /// The ledger could not be read or written to, and is left alone until then.
        var resumes = Moment.now
        /// Those of the last day, the latest last.
        var losses: [HookLoss] = []
        /// As of the last count.
        var waiting: [WaitingHooks] = []
    }

    /// The consequence of an attempt.
    private enum Ending {
        /// It was delivered or given up.
        case removed
        /// It is tried again after so many milliseconds.
        case postponed(by: Int)
    }

    private static let mostAtOnce = 4
    /// Events that wait; of more, the oldest are dropped.
    private static let mostKept = 10_000
    private static let mostOfInbox = 2
    private static let pauseAfterTrouble = Duration.seconds(5)
    /// In a flood, events are not counted after each.
    private static let betweenCounts = Duration.seconds(1)
    /// The machine may sleep, which ends no wait but lets the store's time go on.
    private static let longestWait = Duration.seconds(60)

    /// - Parameters:
    ///   - starter: starts the programs.
    ///   - hook: what an inbox has for an event at present.
    ///   - tell: hears what went wrong.
    package init(
        _ store: any JobStore & HookStore, starter: ProcessStarter,
        hook: @escaping @Sendable (_ inbox: String, _ event: HookEvent) -> Hook?,
        tell: @escaping @Sendable (_ inbox: String, HookNews) -> Void
    ) {
        (self.store, self.starter, self.hook, self.tell) = (store, starter, hook, tell)
        started = store.now
    }

    /// Begins with what an earlier start has left.
    package func start() throws(StoreError) {
        try takeUpForgotten()
        let known = try store.hookLosses(since: wallClock() - HookLoss.memory)
        state.change { state in
            state.losses = known + state.losses
            state.hasEnded = false
        }
        runOnNewThread { [self] in keepTelling() }
    }

    /// Queues the hooks of jobs that ended before the program was killed and whose events were not recorded.
    package func takeUpForgotten() throws(StoreError) {
        for job in try store.forgottenHooks(before: started) {
            let isDone = job.progress.state == .done
            add(
                HookDocument(
                    isDone ? .success : .failure, job: job.id, path: job.path, inbox: job.inbox,
                    failure: isDone ? nil : job.progress.failure,
                    report: job.report.flatMap { SourceReport(document: $0) }),
                inbox: job.inbox)
        }
    }

    /// Starts no more hooks and stops those that run; the next start runs them again.
    package func stop() {
        state.change { $0.isStopping = true }
        cancellation.raise()
        let end = Moment.now + .seconds(5)
        state.look { $0.hasEnded || .now >= end ? .ready(()) : .wait(until: end) }
    }

    /// The losses of the last day, the latest last.
    package var losses: [HookLoss] {
        let start = wallClock() - HookLoss.memory
        return state.note { $0.losses.filter { $0.time >= start } }
    }

    /// The events that were not delivered yet, by inbox, each with the age of the oldest in milliseconds.
    package var waiting: [(inbox: String, count: Int, age: Int)] {
        let now = store.now
        return state.note { $0.waiting }.map { ($0.inbox, $0.count, max(0, now - $0.created)) }
    }

    // MARK: - Events

    /// A job is about to end. Its event is recorded afterwards; a crash in between loses nothing.
    package func expectEnd(of job: JobID, inbox: String) throws(StoreError) {
        guard hook(inbox, .success) != nil || hook(inbox, .failure) != nil else { return }
        try store.expectHook(inbox: inbox, key: job.text)
    }

    package func done(_ job: JobID, report: SourceReport, inbox: String) {
        add(
            HookDocument(.success, job: job, path: report.source.path, inbox: inbox, failure: nil, report: report),
            inbox: inbox)
    }

    package func failed(_ job: JobID, report: SourceReport, failure: Failure, inbox: String) {
        add(
            HookDocument(.failure, job: job, path: report.source.path, inbox: inbox, failure: failure, report: report),
            inbox: inbox)
    }

    package func paused(_ pause: Pause, inbox: String, id: String) {
        add(HookDocument(pause, inbox: inbox, id: id), inbox: inbox)
    }

    private func add(_ document: HookDocument, inbox: String) {
        guard hook(inbox, document.event) != nil else {
            // Something was expected, but of the other kind.
            try? store.removeHook(inbox: inbox, key: document.id)
            return
        }
        do throws(StoreError) {
            let dropped = try store.addHook(
                inbox: inbox, event: document.event.rawValue, key: document.id, body: document.bytes,
                limit: Self.mostKept)
            if dropped > 0 {
                lose(
                    HookLoss(
                        time: wallClock(), inbox: inbox, call: nil, count: dropped,
                        reason: "more than \(Self.mostKept) events were waiting for hooks"))
            }
        } catch {
            // The ledger's disk may be full. The hook runs once, and the event is not kept.
            let record = HookRecord(
                number: -1, inbox: inbox, event: document.event.rawValue, key: document.id, body: document.bytes,
                attempts: 0, created: store.now)
            runOnNewThread { [self] in _ = ending(of: record, carryOut(record), isLast: true) }
        }
        state.change { $0.isStale = true }
    }

    // MARK: - The thread

    private func keepTelling() {
        var nextCount = Moment.now
        var isCounted = false
        while let running = waitForWork(until: isCounted ? .never : nextCount) {
            let due: [HookRecord]
            isCounted = false
            do throws(StoreError) {
                try recordEndings()
                due = try store.dueHooks(ofEachInbox: 2 * Self.mostOfInbox)
                if nextCount <= .now {
                    let waiting = try store.waitingHooks()
                    state.note { $0.waiting = waiting }
                    (nextCount, isCounted) = (.now + Self.betweenCounts, true)
                }
            } catch {
                // The lanes meet the same trouble, and pause their inboxes for it.
                state.change { $0.resumes = .now + Self.pauseAfterTrouble }
                continue
            }
            guard !state.note({ $0.isStopping }) else { continue }
            var running = running
            for record in due where running.count < Self.mostAtOnce && running[record.number] == nil {
                guard hook(for: record) != nil else {
                    // One that is being delivered is not lost.
                    guard !running.values.contains(record.inbox) else { continue }
                    do throws(StoreError) {
                        try loseUnwanted(like: record)
                        continue
                    } catch {
                        state.change { $0.resumes = .now + Self.pauseAfterTrouble }
                        break
                    }
                }
                guard running.values.count(where: { $0 == record.inbox }) < Self.mostOfInbox else { continue }
                running[record.number] = record.inbox
                state.change { $0.running[record.number] = record.inbox }
                let isStarted = startThread { [self] in
                    let ending =
                        HookDocument.isWhole(in: record)
                        ? ending(of: record, carryOut(record))
                        : ending(of: record, .failed("its document in the ledger is damaged"), isLast: true)
                    state.change { state in
                        state.running[record.number] = nil
                        state.ended[record.number] = ending
                        state.isStale = true
                    }
                }
                if !isStarted {
                    state.change { $0.running[record.number] = nil }
                    usleep(500_000)
                    break
                }
            }
        }
        // At the next start they would be delivered again.
        try? recordEndings()
        state.change { $0.hasEnded = true }
    }

    /// - Parameter time: there is something else to do at that time.
    /// - Returns: the running hooks; nil when the runner has stopped.
    private func waitForWork(until time: Moment) -> [Int: String]? {
        let next = (try? store.nextHook()).flatMap(\.self)
        let due = next.map { Moment.now + .milliseconds(max(10, $0)) } ?? .never
        let end = min(due, time, .now + Self.longestWait)
        return state.look { state in
            if state.isStopping { return state.running.isEmpty ? .ready(nil) : .wait(until: .never) }
            guard .now >= state.resumes else { return .wait(until: state.resumes) }
            guard state.isStale || !state.ended.isEmpty || .now >= end else { return .wait(until: end) }
            state.isStale = false
            return .ready(state.running)
        }
    }

    private func recordEndings() throws(StoreError) {
        for (number, ending) in state.note({ $0.ended }) {
            switch ending {
            case .removed: try store.removeHook(number)
            case .postponed(let time): try store.postponeHook(number, by: time)
            }
            state.change { $0.ended[number] = nil }
        }
    }

    private func hook(for record: HookRecord) -> Hook? {
        HookEvent(rawValue: record.event).flatMap { hook(record.inbox, $0) }
    }

    /// Gives up all events that wait for a hook that is no longer there: thousands may have.
    private func loseUnwanted(like record: HookRecord) throws(StoreError) {
        let count = try store.removeHooks(inbox: record.inbox, event: record.event)
        guard count > 0 else { return }
        let source = count == 1 ? HookDocument.source(in: record.body) : nil
        lose(
            HookLoss(
                time: wallClock(), inbox: record.inbox, call: HookCall(event: record.event, source: source, action: ""),
                count: count,
                reason: HookEvent(rawValue: record.event) == nil
                    ? "this version of the program knows no such event" : "the mill file has no hook for it any more"))
        state.change { $0.isStale = true }
    }

    private func carryOut(_ record: HookRecord) -> HookProcess.Outcome {
        // It was there a moment ago, and a reload has come in between.
        guard let hook = hook(for: record) else { return .interrupted }
        switch hook.action {
        case .command(let arguments):
            let variables = ["IMAGEMILL_EVENT": record.event, "IMAGEMILL_INBOX": record.inbox]
            return HookProcess(arguments: arguments, variables: variables, input: record.body, timeout: hook.timeout)
                .run(by: starter, cancellation)
        case .webhook(let url, let file):
            do throws(SystemError) {
                let key = try file.map { path throws(SystemError) in try Webhook.key(in: path) }
                if let missing = Webhook.missingProgram { return .failed(missing) }
                return Webhook(url: url, secret: key, timeout: hook.timeout).process(record, time: wallClock() / 1000)
                    .run(by: starter, cancellation)
            } catch {
                return .failed("\(error)")
            }
        }
    }

    /// - Parameter isLast: it is not tried again, whatever comes of it.
    /// - Returns: nil if it was interrupted: the next start runs it again.
    private func ending(of record: HookRecord, _ outcome: HookProcess.Outcome, isLast: Bool = false) -> Ending? {
        switch outcome {
        case .done: return .removed
        case .interrupted: return nil
        case .failed(let sentence):
            let action = hook(for: record)?.action
            let isCommand = if case .command? = action { true } else { false }
            let call = HookCall(
                event: record.event, source: HookDocument.source(in: record.body), action: action?.masked ?? "")
            guard !isLast,
                let pause = HookPatience.next(
                    after: record.attempts + 1, age: store.now - record.created, isCommand: isCommand)
            else {
                lose(HookLoss(time: wallClock(), inbox: record.inbox, call: call, reason: sentence))
                return .removed
            }
            tell(record.inbox, .postponed(call, sentence, after: pause))
            return .postponed(by: pause)
        }
    }

    private func lose(_ loss: HookLoss) {
        state.change { $0.losses = ($0.losses + [loss]).suffix(HookLoss.most) }
        // If the ledger cannot be written to, it is known until the next start.
        try? store.record(loss)
        tell(loss.inbox, .lost(loss))
    }
}

/// How often a hook is tried. Pure.
enum HookPatience {
    private static let commandAttempts = 3
    /// A receiver may be down over a weekend.
    private static let longest = 3 * 86_400_000

    /// - Parameters:
    ///   - attempts: how often it was tried.
    ///   - age: since when it is known, in milliseconds.
    /// - Returns: after how many milliseconds it is tried again; nil if it is given up.
    static func next(after attempts: Int, age: Int, isCommand: Bool) -> Int? {
        guard isCommand ? attempts < commandAttempts : age < longest else { return nil }
        return min(5_000 << min(attempts - 1, 10), 600_000)
    }
}
