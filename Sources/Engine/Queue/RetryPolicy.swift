// The retry policy: how often a source is attempted, how long it waits in between, and which failures are not its own.
// Pure.
package import Pipeline

/// The next step after an attempt that failed.
package enum AfterFailure: Equatable, Sendable {
    /// The surroundings are broken: the inbox pauses, and the attempt costs the source nothing.
    case pause(Pause)
    /// The surroundings lack what this source needs and others may not: it waits so many milliseconds, which costs it
    /// nothing.
    case wait(Int)
    /// Another attempt may succeed, if the source has one left.
    case retry
    /// No other attempt can succeed.
    case final
}

/// How often and when a source is attempted again: exponential back-off.
package struct RetryPolicy: Equatable, Sendable {
    /// The failures that are attempted again.
    package enum Scope: Sendable {
        /// Every failure that may pass; trouble with the surroundings pauses the inbox.
        case everythingThatMayPass
        /// Only the loss of a worker; trouble with the output folder ends the run.
        case workerCrashes
    }

    /// How many attempts a source has.
    package let attempts: Int
    /// The delay after the first failure, in milliseconds; it doubles with each further one.
    package let first: Int
    /// No delay is longer, in milliseconds.
    package let longest: Int
    package let scope: Scope

    package init(attempts: Int, first: Int = 1_000, longest: Int = 300_000, scope: Scope = .everythingThatMayPass) {
        self.attempts = attempts
        self.first = first
        self.longest = longest
        self.scope = scope
    }

    /// For one pass over a folder: a lost worker is replaced and the source attempted again at once; every other
    /// failure is reported.
    package static let run = RetryPolicy(attempts: 3, first: 0, longest: 0, scope: .workerCrashes)

    /// How long to wait after the n-th attempt has failed, n from 1. What took its whole deadline is left alone as long
    /// as possible: at once again, a few such sources would keep the workers for themselves.
    package func delay(afterAttempt number: Int, because code: FailureCode) -> Int {
        switch code {
        case .timedOut: longest
        // A share or a disk that answers with errors for some seconds must not use up the attempts of what is on it.
        case .ioError, .outputNotWritable, .permissionDenied, .notFound:
            min(longest, Self.afterError * (number > 1 ? Self.afterErrorAgain : 1))
        default: doubled(first, number)
        }
    }

    /// How long to wait when the original could not be put away for the n-th time, n from 1.
    package func delay(afterObstacle number: Int) -> Int { doubled(max(first, Self.afterError), number) }

    private func doubled(_ delay: Int, _ number: Int) -> Int {
        let (product, overflow) = delay.multipliedReportingOverflow(by: 1 << min(max(0, number - 1), 40))
        return overflow ? longest : min(product, longest)
    }

    /// How often in a row the program may end while a source is under way. Whatever ends it does so at any time, and no
    /// source is to fail for that: with the delays in between, half an hour of nothing but such ends does not reach it.
    package static let mostEnds = 16

    /// How long a source waits after the n-th end of the program, n from 1: not at all after the first, so that a
    /// restart goes on where it was; then longer each time, so that what takes the program down lets the others work.
    package static func delay(afterEnd number: Int) -> Int {
        number > 1 ? RetryPolicy(attempts: 1).delay(afterAttempt: number - 1, because: .workerCrashed) : 0
    }

    /// How long a source waits after an error of the system, in milliseconds, and how many times as long after others.
    private static let (afterError, afterErrorAgain) = (5_000, 6)

    /// How long what lacks memory, or room on a disk that has some for others, waits for there to be more.
    private static let wantOfRoom = 30_000

    /// Whether a source fails for good because of a failure of its n-th attempt, n from 1, if its surroundings are
    /// sound.
    package func isFinal(_ code: FailureCode, attempt: Int) -> Bool {
        let mayBeRetried =
            switch scope {
            case .workerCrashes: code == .workerCrashed
            case .everythingThatMayPass: code.isRetryable
            }
        return !mayBeRetried || attempt >= attempts && !code.waitsForRoom
    }

    /// A recorded time as it holds now: never further away than the longest delay, whatever the mill file said when
    /// it was recorded.
    package func capped(_ notBefore: Int, now: Int) -> Int { min(notBefore, now + longest) }

    /// - Parameter surroundings: looks whether the outbox can be written to, and says why not. Only called if the
    ///   failure may come from there. A full disk pauses the inbox only if there is no room for a probe either; if there
    ///   is, others may fit into what is left.
    package func decide(after failure: Failure, surroundings: () -> Pause?) -> AfterFailure {
        switch scope {
        case .workerCrashes: decisionOfRun(failure.code, surroundings)
        case .everythingThatMayPass: decision(failure.code, surroundings)
        }
    }

    private func decisionOfRun(_ code: FailureCode, _ surroundings: () -> Pause?) -> AfterFailure {
        switch code {
        case .workerCrashed: .retry
        case .diskFull, .outputNotWritable, .ioError: surroundings().map { .pause($0) } ?? .final
        default: .final
        }
    }

    private func decision(_ code: FailureCode, _ surroundings: () -> Pause?) -> AfterFailure {
        switch code {
        case .outputNotWritable, .ioError, .permissionDenied, .notFound, .timedOut:
            surroundings().map { .pause($0) } ?? .retry
        case .diskFull: surroundings().map { .pause($0) } ?? .wait(min(Self.wantOfRoom, longest))
        case .changedWhileRead, .workerCrashed: .retry
        // The system killed a worker that kept to its predicted memory: others need it at present.
        case .outOfMemory: .wait(min(Self.wantOfRoom, longest))
        case .empty, .notAnImage, .isADirectory, .notARegularFile,
            .unsupportedFormat, .unsupportedColour, .truncated, .corrupt,
            .tooManyPixels, .tooLongSide, .tooManyBands, .tooMuchMetadata,
            .tooManyFrames, .tooManyScans, .tooManyMembers,
            .tooManyBytes, .tooMuchMemory, .outputTooLarge, .tooLargeForFormat,
            .changedSincePlan, .noSuchPage, .emptyResult, .overlayDoesNotFit,
            .unequalSizes, .setMemberFailed,
            .targetNotReached, .refusedByPolicy, .requirementNotMet, .badParameters,
            .encodingFailed, .outputRejected,
            .duplicate, .nameTaken, .nameInvalid, .internal:
            .final
        }
    }
}

extension FailureCode {
    /// In a drop folder, the source waits until there is room for it in memory or on a disk, however long that takes.
    package var waitsForRoom: Bool { self == .outOfMemory || self == .diskFull }
}
