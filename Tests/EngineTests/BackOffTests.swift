// What becomes of a source that failed.
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct BackOffTests {
    @Test("It waits one second, then twice as long each time, up to five minutes")
    func delays() {
        let backOff = BackOff()
        #expect((1...12).map { backOff.delay(afterFailure: $0) / 1000 } == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(backOff.delay(afterFailure: 1_000_000) == 300_000)
        #expect(backOff.delay(afterFailure: 0) == 1000)
        #expect(BackOff(first: .max / 2, longest: 7).delay(afterFailure: 3) == 7)
    }

    @Test("A clock that was set back by years does not put a job off by years")
    func clock() {
        let backOff = BackOff()
        #expect(backOff.effective(5_000, now: 4_000) == 5_000)
        #expect(backOff.effective(1_000_000_000, now: 4_000) == 304_000)
        #expect(backOff.effective(3_000, now: 4_000) == 3_000)
    }

    private func decision(_ code: FailureCode, _ attempt: Int, world: PauseReason? = nil) -> AfterFailure {
        decide(after: Failure(code, stage: "x", "x"), attempt: attempt, limit: 3) { world }
    }

    @Test("A file that cannot succeed is rejected at once, whatever the world is like", arguments: [PauseReason?.none, .noSpace])
    func hopeless(world: PauseReason?) {
        for code in FailureCode.allCases where !code.isRetryable { #expect(decision(code, 1, world: world) == .reject, "\(code)") }
    }

    @Test("What may pass is tried again until the attempts are used up")
    func again() {
        for code in FailureCode.allCases where code.isRetryable && code != .diskFull {
            #expect(decision(code, 1) == .retry(after: 1000), "\(code)")
            #expect(decision(code, 2) == .retry(after: 2000), "\(code)")
            #expect(decision(code, 3) == .reject, "\(code)")
        }
    }

    @Test("A full disk is never the file's fault, at no attempt")
    func full() {
        for attempt in [1, 3, 99] { #expect(decision(.diskFull, attempt) == .pause(.noSpace)) }
    }

    @Test("Trouble that is the outbox' pauses the inbox; the same trouble with a sound outbox is the file's own")
    func world() {
        for code: FailureCode in [.outputNotWritable, .ioError, .permissionDenied, .notFound] {
            #expect(decision(code, 3, world: .missingOutbox) == .pause(.missingOutbox))
            #expect(decision(code, 3) == .reject)
        }
        #expect(decision(.workerCrashed, 3, world: .readOnly) == .reject, "a crash says nothing of the outbox")
    }
}
