// What becomes of a source that failed: again later, never again, or not its fault. Pure.
package import Pipeline

/// Waiting longer after each attempt.
package struct BackOff: Equatable, Sendable {
    package var first: Int
    package var longest: Int

    /// Milliseconds.
    package init(first: Int = 1_000, longest: Int = 300_000) { (self.first, self.longest) = (first, longest) }

    /// How long to wait after the n-th failure in a row, n from 1: the first time, then twice as long each time.
    package func delay(afterFailure number: Int) -> Int {
        let doublings = min(max(0, number - 1), 40)
        let (product, overflow) = first.multipliedReportingOverflow(by: 1 << doublings)
        return overflow ? longest : min(product, longest)
    }

    /// A recorded time as it holds now: never further away than the longest delay, whatever the clock has done meanwhile.
    package func effective(_ notBefore: Int, now: Int) -> Int { min(notBefore, now + longest) }
}

/// What to do with a job after an attempt that failed.
package enum AfterFailure: Equatable, Sendable {
    /// Again, this many milliseconds from now.
    case retry(after: Int)
    /// To `failed/`.
    case reject
    /// The world is broken: the inbox pauses, the source stays, and the attempt costs nothing.
    case pause(PauseReason)
}

/// - Parameters:
///   - attempt: its number, from 1.
///   - limit: how many attempts a source has.
///   - brokenWorld: looks whether the outbox can be written to, and says why not. Only asked where it matters: a failure of the one file, such
///     as a folder in the outbox that only this source needs, must not stop the others.
package func decide(
    after failure: Failure, attempt: Int, limit: Int, backOff: BackOff = BackOff(), brokenWorld: () -> PauseReason?
) -> AfterFailure {
    switch failure.code {
    case .diskFull: return .pause(.noSpace)
    case .outputNotWritable, .ioError, .permissionDenied, .notFound:
        if let reason = brokenWorld() { return .pause(reason) }
    case .empty, .notAnImage, .unsupportedFormat, .unsupportedColour, .truncated, .corrupt, .tooManyPixels, .tooManyFrames, .tooManyBytes,
        .tooMuchMemory, .isADirectory, .notARegularFile, .changedWhileRead, .emptyResult, .overlayDoesNotFit, .tooLargeForFormat, .unequalSizes,
        .setMemberFailed, .timedOut, .workerCrashed, .outOfMemory, .encodingFailed, .outputRejected, .nameTaken, .nameInvalid, .outputTooLarge,
        .internal:
        break
    }
    guard failure.code.isRetryable, attempt < limit else { return .reject }
    return .retry(after: backOff.delay(afterFailure: attempt))
}
