// The status of the drop folder, as the status document says it.
import Engine
import Glibc
import Pipeline
import System

extension StatusDocument {
    mutating func fill(from status: DropFolderStatus) {
        inboxes = status.inboxes.map(Inbox.init)
        for waiting in status.hooksWaiting {
            guard let index = inboxes.firstIndex(where: { $0.name == waiting.inbox }) else { continue }
            (inboxes[index].hooksWaiting, inboxes[index].oldestHookSeconds) = (waiting.count, waiting.age / 1000)
        }
        queue.depth = status.inboxes.reduce(0) { $0 + $1.watching.counts.ready + $1.begun }
        queue.oldestSeconds = status.inboxes.compactMap(\.age).max().map { $0 / 1000 }
        inProgress = status.running.map { Running($0.inbox, $0.job) }
        recentFailures = status.failures.map(RecentFailure.init)
        hooks = Hooks(status.hookLosses)
        workers = Workers(total: status.workers, busy: status.running.count, replaced: status.lostWorkers)
        cache = status.cache.map(Cache.init)
        memory = Memory(
            residentBytes: Machine.residentMemory, budgetBytes: status.budget, reservedBytes: status.reserved)
    }
}

extension StatusDocument {
    /// Takes in what was found in the spools and of their disks.
    mutating func fill(from standing: [String: Standing]) {
        let all = standing.sorted { $0.key < $1.key }.flatMap(\.value.disks)
        let unique = Dictionary(all.map { ($0.space.device, $0) }) { first, _ in first }.values
        let found = unique.map { disk in
            Disk(
                path: ShownPath(disk.path), freeBytes: disk.space.free, totalBytes: disk.space.total,
                isLow: disk.space.isLow)
        }
        disks = standing.isEmpty ? nil : found.sorted { ($0.share, $0.path.text) < ($1.share, $1.path.text) }
        for index in inboxes.indices {
            inboxes[index].failedCodes = standing[inboxes[index].name]?.failures?.codes
        }
    }
}

extension StatusDocument.Disk {
    /// The share of it that is free.
    fileprivate var share: Double { Double(freeBytes) / Double(max(1, totalBytes)) }
}

extension StatusDocument.Inbox {
    fileprivate init(_ inbox: DropFolderStatus.Inbox) {
        let counts = inbox.watching.counts
        let isPolled = if case .polling? = inbox.watching.how { true } else { false }
        self.init(
            name: inbox.name, path: ShownPath(inbox.path), outbox: ShownPath(inbox.outbox), pipeline: inbox.pipeline,
            watching: isPolled ? .poll : .events)
        (doneFolder, failedFolder) = (
            inbox.folders.map { ShownPath($0.done) }, inbox.folders.map { ShownPath($0.failed) }
        )
        state = inbox.pause != nil ? .paused : inbox.isLeaving ? .leaving : .running
        paused = inbox.pause.map {
            StatusDocument.Pause(
                reason: $0.reason, message: $0.message, since: timestamp(milliseconds: inbox.pausedSince))
        }
        pausedByRequest = inbox.requestedPause.map { timestamp(milliseconds: $0) }
        (settling, ready) = (counts.settling, counts.ready)
        blocked = counts.blocked + inbox.watching.unreadable.count
        settlingSources = inbox.watching.settling.map {
            StatusDocument.SettlingEntry(
                path: ShownPath($0.path), reason: $0.reason,
                secondsLeft: max(0, Moment.now.milliseconds(until: $0.deadline) / 1000))
        }
        obstacles = inbox.watching.blocked.map {
            StatusDocument.Obstacle(
                path: ShownPath($0.path), message: "cannot \($0.reason.attempt): \($0.reason.obstacle)")
        }
        obstacles += inbox.watching.unreadable.map {
            StatusDocument.Obstacle(path: ShownPath($0.path), message: "cannot look into it: \($0.reason.obstacle)")
        }
        let misplaced = inbox.watching.misplaced
        passedOver = counts.passedOver + misplaced.count
        passedOverFiles = inbox.watching.passedOver.map {
            StatusDocument.Obstacle(path: ShownPath($0.path), message: $0.reason.sentence)
        }
        passedOverFiles += misplaced.some.map {
            StatusDocument.Obstacle(path: ShownPath($0.path), message: $0.reason.sentence)
        }
        seen = counts.settling + counts.ready + counts.blocked
        (inProgress, waiting) = (inbox.begun - inbox.waiting, inbox.waiting)
        waitingSources = inbox.postponed.map { source in
            StatusDocument.WaitingEntry(
                path: ShownPath(source.path), code: source.failure.code, message: source.failure.message,
                remedy: source.failure.remedy(in: .millFile),
                secondsLeft: max(0, Moment.now.milliseconds(until: source.next) / 1000))
        }
        ignored = inbox.watching.ignored + inbox.watching.irregular
        (done, failed, oldestSeconds) = (inbox.done, inbox.failed, inbox.age.map { $0 / 1000 })
    }
}

extension StatusDocument.Hooks {
    private static let most = 20

    /// - Parameter losses: the latest last.
    init(_ losses: [HookLoss]) {
        lost = losses.reduce(0) { $0 + $1.count }
        latest = losses.suffix(Self.most).reversed().map { loss in
            Loss(
                time: timestamp(milliseconds: loss.time), inbox: loss.inbox, event: loss.call?.event,
                source: loss.call?.source.map { ShownPath($0) }, message: loss.sentence, remedy: loss.remedy)
        }
    }
}

extension StatusDocument.Cache {
    fileprivate init(_ cache: SharedCache.Status) {
        self.init(
            path: ShownPath(cache.folder), renditions: cache.contents.renditions, bytes: cache.contents.bytes,
            boundBytes: cache.bound,
            hits: cache.hits, misses: cache.misses, trouble: cache.trouble)
    }
}

extension StatusDocument.Running {
    fileprivate init(_ inbox: BytePath, _ job: RunningJob) {
        self.init(
            job: job.job.text, inbox: ShownPath(inbox), path: ShownPath(job.path), stage: job.stage,
            attempt: job.attempt,
            seconds: job.since.milliseconds(until: .now) / 1000)
    }
}

extension StatusDocument.RecentFailure {
    fileprivate init(_ failure: DropFolderStatus.RecentFailure) {
        self.init(
            inbox: ShownPath(failure.inbox), path: ShownPath(failure.path), code: failure.failure.code,
            message: failure.failure.message, remedy: failure.failure.remedy(in: .millFile),
            attempts: failure.attempts, time: failure.time)
    }
}
