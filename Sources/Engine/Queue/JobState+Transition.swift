// The transitions of a job: the only place that decides how a job goes on.
import Pipeline

/// Applies an event to a job, at a time of the store: its next progress, and the effects to carry out. Pure, and total:
/// every pair of a state and an event has an answer. The table is in `docs/decisions/0015-one-queue.md`.
///
/// - Returns: nil as progress if the job is to be forgotten. A pair that does not occur in a correct program leaves the
///   job as it is, with the effect `outOfStep`.
package func transition(
    _ progress: JobProgress, _ event: JobEvent, now: Int, policy: RetryPolicy
) -> (progress: JobProgress?, effects: [JobEffect]) {
    let isUsedUp = progress.isUsedUp(policy)
    return switch (progress.state, event) {
    // A power cut undid the claim of a source that took the machine down: what is counted stays so although it is in
    // the inbox again.
    case (.offered, .taken): isUsedUp ? progress.rejected(claiming: true) : progress.attempted(claiming: true)
    // Its lease ran out: the holder died or was cut off, perhaps before it had the source.
    case (.running, .taken):
        isUsedUp ? progress.rejected(claiming: true) : progress.cutOff.attempted(claiming: true)
    case (.waiting, .taken): isUsedUp ? progress.rejected() : progress.attempted()
    case (.published, .taken): (progress, [.settle])
    case (.rejected, .taken): (progress, [.deadLetter(progress.reason)])

    case (.running, .begunAlone): (progress.begunAlone, [.attempt])

    case (.running, .unclaimed), (.rejected, .unclaimed): (nil, [])
    case (.running, .returned): (nil, [])

    case (.running, .unreached): (progress.unreached, [])
    case (.rejected, .unreached): (progress.offered(due: progress.notBefore, attempts: progress.attempts), [])

    case (.running, .interrupted): (progress.stopped(until: 0), [])
    case (.published, .interrupted), (.rejected, .interrupted): (progress, [])

    case (.running, .obstructed(let failure, let time)): (progress.stopped(until: now + time, because: failure), [])
    case (.published, .obstructed(_, let time)), (.rejected, .obstructed(_, let time)):
        (progress.due(at: now + time), [])

    case (.running, .attemptFailed(let failure, let isFinal)):
        isFinal || isUsedUp ? progress.rejected(because: failure) : progress.retried(because: failure, now: now, policy)

    case (.running, .published(let damage)): (progress.changed(to: .published, failure: damage), [.settle])

    case (.published, .settled): (progress.changed(to: .done, failure: nil), [.countDone])
    case (.rejected, .settled): (progress.changed(to: .failed, failure: progress.failure), [.countFailed])
    // Said again after a crash: nothing is counted twice.
    case (.done, .settled), (.failed, .settled): (progress, [])

    case (_, .found(let place)): progress.found(place, now: now, policy)

    case (.done, .taken), (.failed, .taken),
        (.offered, .begunAlone), (.waiting, .begunAlone), (.published, .begunAlone), (.rejected, .begunAlone),
        (.done, .begunAlone), (.failed, .begunAlone),
        (.offered, .unclaimed), (.waiting, .unclaimed), (.published, .unclaimed), (.done, .unclaimed),
        (.failed, .unclaimed),
        (.offered, .unreached), (.waiting, .unreached), (.published, .unreached), (.done, .unreached),
        (.failed, .unreached),
        (.offered, .returned), (.waiting, .returned), (.published, .returned), (.rejected, .returned),
        (.done, .returned), (.failed, .returned),
        (.offered, .interrupted), (.waiting, .interrupted), (.done, .interrupted), (.failed, .interrupted),
        (.offered, .obstructed), (.waiting, .obstructed), (.done, .obstructed), (.failed, .obstructed),
        (.offered, .attemptFailed), (.waiting, .attemptFailed), (.published, .attemptFailed),
        (.rejected, .attemptFailed), (.done, .attemptFailed), (.failed, .attemptFailed),
        (.offered, .published), (.waiting, .published), (.published, .published), (.rejected, .published),
        (.done, .published), (.failed, .published),
        (.offered, .settled), (.running, .settled), (.waiting, .settled):
        (progress, [.outOfStep])
    }
}

extension JobProgress {
    fileprivate typealias Result = (progress: JobProgress?, effects: [JobEffect])

    fileprivate func isUsedUp(_ policy: RetryPolicy) -> Bool {
        attempts >= policy.attempts || ends >= RetryPolicy.mostEnds
    }

    /// Why the job is or would be rejected.
    fileprivate var reason: Failure {
        let ended = Failure(
            .workerCrashed, stage: "render",
            "the program ended \(counted(ends, "time")) in a row while it was under way, at last with nothing beside it"
        )
        return ends >= RetryPolicy.mostEnds ? ended : failure ?? ended
    }

    fileprivate func changed(to state: JobState, failure: Failure?) -> JobProgress {
        JobProgress(state, attempts: attempts, ends: ends, notBefore: notBefore, failure: failure)
    }

    fileprivate func due(at time: Int) -> JobProgress {
        var due = self
        due.notBefore = time
        return due
    }

    fileprivate func waiting(until time: Int) -> JobProgress {
        JobProgress(.waiting, attempts: attempts, ends: ends, notBefore: time, failure: failure)
    }

    fileprivate func offered(due time: Int, attempts: Int) -> JobProgress {
        JobProgress(.offered, attempts: attempts, ends: ends, notBefore: time, failure: failure)
    }

    /// The program has survived it, so it is no longer suspect.
    fileprivate func stopped(until time: Int, because failure: Failure? = nil) -> JobProgress {
        JobProgress(.waiting, attempts: max(0, attempts - 1), notBefore: time, failure: failure ?? self.failure)
    }

    /// Nothing has begun yet.
    fileprivate var unreached: JobProgress {
        JobProgress(
            .offered, attempts: max(0, attempts - 1), ends: min(1, ends), notBefore: notBefore, failure: failure)
    }

    /// The program has ended while the job was under way. That costs no attempt; an end with nothing beside it was
    /// counted when the attempt began.
    fileprivate var cutOff: JobProgress {
        JobProgress(state, attempts: max(0, attempts - 1), ends: max(1, ends), notBefore: notBefore, failure: failure)
    }

    fileprivate var begunAlone: JobProgress {
        var begun = self
        begun.ends += 1
        return begun
    }

    fileprivate func attempted(claiming: Bool = false) -> Result {
        (
            JobProgress(.running, attempts: attempts + 1, ends: ends, notBefore: notBefore, failure: failure),
            claiming ? [.claim, .attempt] : [.attempt]
        )
    }

    fileprivate func rejected(because failure: Failure? = nil, claiming: Bool = false) -> Result {
        let reason = failure ?? self.reason
        return (changed(to: .rejected, failure: reason), (claiming ? [.claim] : []) + [.deadLetter(reason)])
    }

    fileprivate func retried(because failure: Failure, now: Int, _ policy: RetryPolicy) -> Result {
        let delay = policy.delay(afterAttempt: attempts, because: failure.code)
        return (
            JobProgress(.waiting, attempts: attempts, notBefore: now + delay, failure: failure), [.retry(after: delay)]
        )
    }

    /// The transition at a start, by where it finds the source.
    fileprivate func found(_ place: SourcePlace, now: Int, _ policy: RetryPolicy) -> Result {
        let cutOff = cutOff
        let dueAfterEnd = now + RetryPolicy.delay(afterEnd: cutOff.ends)
        return switch (state, place) {
        case (.offered, .spool): (waiting(until: min(notBefore, now)), [])
        case (.offered, .inbox): (offered(due: min(notBefore, now), attempts: attempts), [])
        case (.offered, .nowhere): (nil, [])

        case (.running, .spool):
            cutOff.isUsedUp(policy) ? cutOff.rejected() : (cutOff.waiting(until: dueAfterEnd), [])
        case (.running, .inbox): (cutOff.offered(due: dueAfterEnd, attempts: cutOff.attempts), [])
        case (.waiting, .spool):
            isUsedUp(policy) ? rejected() : (waiting(until: policy.capped(notBefore, now: now)), [])
        case (.waiting, .inbox): (offered(due: policy.capped(notBefore, now: now), attempts: attempts), [])
        case (.running, .nowhere), (.waiting, .nowhere): (nil, [.lost])

        case (.published, .spool): (due(at: min(notBefore, now)), [.settle])
        case (.published, .inbox), (.published, .nowhere): (changed(to: .done, failure: nil), [.countDone])

        case (.rejected, .spool): (due(at: min(notBefore, now)), [.deadLetter(reason)])
        // Its attempts stay used up, so that `taken` rejects it at once.
        case (.rejected, .inbox): (offered(due: now, attempts: max(attempts, policy.attempts)), [])
        case (.rejected, .nowhere): (changed(to: .failed, failure: failure), [.countFailed, .completeNote])

        case (.done, .spool), (.failed, .spool): (self, [.adopt])
        case (.done, .inbox), (.done, .nowhere), (.failed, .inbox), (.failed, .nowhere): (self, [])
        }
    }
}
