// What follows from what: the only place that decides how a job goes on.
import Pipeline

/// What an event makes of a job, and what has to be done because of it. Pure, and total: every pair of a state and an
/// event has an answer. The table is in `docs/decisions/0015-one-queue.md`.
///
/// - Returns: nil as progress if the job is to be forgotten. A pair that does not occur in a correct program leaves the
///   job as it is, with the effect `outOfStep`.
package func transition(
    _ progress: JobProgress, _ event: JobEvent, policy: RetryPolicy
) -> (progress: JobProgress?, effects: [JobEffect]) {
    let isUsedUp = progress.attempts >= policy.attempts
    return switch (progress.state, event) {
    // A power cut undid the claim of a source that took the machine down: its attempts count although it is in the
    // inbox again.
    case (.offered, .taken): isUsedUp ? progress.rejected(claiming: true) : progress.attempted(claiming: true)
    // Its lease ran out: the holder died or was cut off, perhaps before it had the source.
    case (.running, .taken): isUsedUp ? progress.rejected(claiming: true) : progress.attempted(claiming: true)
    case (.waiting, .taken): isUsedUp ? progress.rejected() : progress.attempted()
    case (.published, .taken): (progress, [.settle])
    case (.rejected, .taken): (progress, [.deadLetter(progress.reason)])

    case (.running, .unclaimed), (.rejected, .unclaimed): (nil, [])
    case (.running, .returned): (nil, [])

    case (.running, .unreached):
        (progress.offered(due: progress.notBefore, attempts: max(0, progress.attempts - 1)), [])
    case (.rejected, .unreached): (progress.offered(due: progress.notBefore, attempts: progress.attempts), [])

    case (.running, .interrupted): (progress.waiting(until: 0, attempts: progress.attempts - 1), [])
    case (.published, .interrupted), (.rejected, .interrupted): (progress, [])

    case (.running, .obstructed(let failure, let time)):
        (progress.waiting(until: time, attempts: progress.attempts - 1, because: failure), [])
    case (.published, .obstructed(_, let time)), (.rejected, .obstructed(_, let time)): (progress.due(at: time), [])

    case (.running, .attemptFailed(let failure, let isFinal, let now)):
        isFinal || isUsedUp ? progress.rejected(because: failure) : progress.retried(because: failure, now: now, policy)

    case (.running, .published(let damage)): (progress.changed(to: .published, failure: damage), [.settle])

    case (.published, .settled): (progress.changed(to: .done, failure: nil), [.countDone])
    case (.rejected, .settled): (progress.changed(to: .failed, failure: progress.failure), [.countFailed])
    // Said again after a crash: nothing is counted twice.
    case (.done, .settled), (.failed, .settled): (progress, [])

    case (_, .found(let place, let now)): progress.found(place, now: now, policy)

    case (.done, .taken), (.failed, .taken),
        (.offered, .unclaimed), (.waiting, .unclaimed), (.published, .unclaimed), (.done, .unclaimed),
        (.failed, .unclaimed),
        (.offered, .unreached), (.waiting, .unreached), (.published, .unreached), (.done, .unreached),
        (.failed, .unreached),
        (.offered, .returned), (.waiting, .returned), (.published, .returned), (.rejected, .returned),
        (.done, .returned), (.failed, .returned),
        (.offered, .interrupted), (.waiting, .interrupted), (.done, .interrupted), (.failed, .interrupted),
        (.offered, .obstructed), (.waiting, .obstructed), (.done, .obstructed), (.failed, .obstructed),
        (.offered, .attemptFailed), (.waiting, .attemptFailed), (.published, .attemptFailed),
        (.rejected, .attemptFailed),
        (.done, .attemptFailed), (.failed, .attemptFailed),
        (.offered, .published), (.waiting, .published), (.published, .published), (.rejected, .published),
        (.done, .published),
        (.failed, .published),
        (.offered, .settled), (.running, .settled), (.waiting, .settled):
        (progress, [.outOfStep])
    }
}

extension JobProgress {
    fileprivate typealias Result = (progress: JobProgress?, effects: [JobEffect])

    /// Why the job is or would be rejected.
    fileprivate var reason: Failure {
        failure
            ?? Failure(
                .workerCrashed, stage: "render", "it was under way \(counted(attempts, "time")) when the program ended")
    }

    fileprivate func changed(to state: JobState, failure: Failure?) -> JobProgress {
        JobProgress(state, attempts: attempts, notBefore: notBefore, failure: failure)
    }

    fileprivate func due(at time: Int) -> JobProgress {
        JobProgress(state, attempts: attempts, notBefore: time, failure: failure)
    }

    fileprivate func waiting(until time: Int, attempts: Int, because failure: Failure? = nil) -> JobProgress {
        JobProgress(.waiting, attempts: max(0, attempts), notBefore: time, failure: failure ?? self.failure)
    }

    fileprivate func offered(due time: Int, attempts: Int) -> JobProgress {
        JobProgress(.offered, attempts: attempts, notBefore: time, failure: failure)
    }

    fileprivate func attempted(claiming: Bool = false) -> Result {
        (
            JobProgress(.running, attempts: attempts + 1, notBefore: notBefore, failure: failure),
            claiming ? [.claim, .attempt] : [.attempt]
        )
    }

    fileprivate func rejected(because failure: Failure? = nil, claiming: Bool = false) -> Result {
        let reason = failure ?? self.reason
        return (changed(to: .rejected, failure: reason), (claiming ? [.claim] : []) + [.deadLetter(reason)])
    }

    fileprivate func retried(because failure: Failure, now: Int, _ policy: RetryPolicy) -> Result {
        let delay = policy.delay(afterAttempt: attempts, because: failure.code)
        return (waiting(until: now + delay, attempts: attempts, because: failure), [.retry(after: delay)])
    }

    /// What a start makes of a job, by where it finds the source.
    fileprivate func found(_ place: SourcePlace, now: Int, _ policy: RetryPolicy) -> Result {
        let isUsedUp = attempts >= policy.attempts
        return switch (state, place) {
        case (.offered, .spool): (waiting(until: min(notBefore, now), attempts: attempts), [])
        case (.offered, .inbox): (offered(due: min(notBefore, now), attempts: attempts), [])
        case (.offered, .nowhere): (nil, [])

        case (.running, .spool): isUsedUp ? rejected() : (waiting(until: now, attempts: attempts), [])
        case (.running, .inbox): (offered(due: now, attempts: attempts), [])
        case (.waiting, .spool):
            isUsedUp ? rejected() : (waiting(until: policy.capped(notBefore, now: now), attempts: attempts), [])
        case (.waiting, .inbox): (offered(due: policy.capped(notBefore, now: now), attempts: attempts), [])
        case (.running, .nowhere), (.waiting, .nowhere): (nil, [.lost])

        case (.published, .spool): (self, [.settle])
        case (.published, .inbox), (.published, .nowhere): (changed(to: .done, failure: nil), [.countDone])

        case (.rejected, .spool): (self, [.deadLetter(reason)])
        // Its attempts stay used up, so that `taken` rejects it at once.
        case (.rejected, .inbox): (offered(due: now, attempts: max(attempts, policy.attempts)), [])
        case (.rejected, .nowhere): (changed(to: .failed, failure: failure), [.countFailed, .completeNote])

        case (.done, .spool), (.failed, .spool): (self, [.adopt])
        case (.done, .inbox), (.done, .nowhere), (.failed, .inbox), (.failed, .nowhere): (self, [])
        }
    }
}
