// The retry policy: delays, and whose fault a failure is.
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy(attempts: 3)

    private func decision(_ code: FailureCode, _ reason: PauseReason? = nil, policy: RetryPolicy? = nil) -> AfterFailure
    {
        (policy ?? self.policy).decide(after: Failure(code, stage: "x", "x")) { reason.map { Pause($0, "so") } }
    }

    @Test func `what took its whole deadline is not tried again at once`() {
        #expect(RetryPolicy(attempts: 3).delay(afterAttempt: 1, because: .timedOut) == 300_000)
        #expect(RetryPolicy.run.delay(afterAttempt: 1, because: .timedOut) == 0)
    }

    /// An answer of the file system, whichever error it is, may be another one some seconds later.
    @Test(arguments: [FailureCode.ioError, .outputNotWritable, .permissionDenied, .notFound])
    func `a file system that answers with errors for some seconds does not use up the attempts`(_ code: FailureCode) {
        #expect((1...3).map { policy.delay(afterAttempt: $0, because: code) } == [5_000, 30_000, 30_000])
        #expect(RetryPolicy(attempts: 3, longest: 100).delay(afterAttempt: 2, because: code) == 100)
        #expect(RetryPolicy.run.delay(afterAttempt: 1, because: code) == 0)
    }

    @Test func `the delay is one second, then twice as long each time, up to five minutes`() {
        #expect(
            (1...12).map { policy.delay(afterAttempt: $0, because: .workerCrashed) / 1000 } == [
                1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300,
            ])
        #expect(policy.delay(afterAttempt: 1_000_000, because: .workerCrashed) == 300_000)
        #expect(policy.delay(afterAttempt: 0, because: .workerCrashed) == 1000)
        #expect(
            RetryPolicy(attempts: 3, first: .max / 2, longest: 7).delay(afterAttempt: 3, because: .workerCrashed) == 7)
    }

    @Test func `a clock that was set back by years does not put a job off by years`() {
        #expect(policy.capped(5_000, now: 4_000) == 5_000)
        #expect(policy.capped(1_000_000_000, now: 4_000) == 304_000)
        #expect(policy.capped(3_000, now: 4_000) == 3_000)
    }

    @Test(arguments: [PauseReason?.none, .noSpace])
    func `a source that cannot succeed is final, whatever the surroundings are like`(reason: PauseReason?) {
        for code in FailureCode.allCases where !code.isRetryable {
            #expect(decision(code, reason) == .final, "\(code)")
        }
    }

    @Test func `what may pass is attempted again if the surroundings are sound`() {
        for code in FailureCode.allCases where code.isRetryable && ![.outOfMemory, .diskFull].contains(code) {
            #expect(decision(code) == .retry, "\(code)")
        }
    }

    @Test func `memory that others needed costs a source nothing but time, however often`() {
        #expect(decision(.outOfMemory) == .wait(30_000))
        #expect(decision(.outOfMemory, policy: RetryPolicy(attempts: 1, longest: 7)) == .wait(7))
        #expect(!policy.isFinal(.outOfMemory, attempt: 99))
    }

    @Test func `a failure is final if it is never tried again, or not after this attempt`() {
        #expect(policy.isFinal(.corrupt, attempt: 1) && policy.isFinal(.outputRejected, attempt: 1))
        #expect(!policy.isFinal(.timedOut, attempt: 2) && policy.isFinal(.timedOut, attempt: 3))
        #expect(RetryPolicy.run.isFinal(.timedOut, attempt: 1))
        #expect(!RetryPolicy.run.isFinal(.workerCrashed, attempt: 2))
        #expect(RetryPolicy.run.isFinal(.workerCrashed, attempt: 3))
    }

    @Test func `the first end of the program puts off nothing, each further one in a row does for longer`() {
        #expect((1...5).map { RetryPolicy.delay(afterEnd: $0) } == [0, 1_000, 2_000, 4_000, 8_000])
        #expect(RetryPolicy.delay(afterEnd: 99) == 300_000)
    }

    @Test func `a full disk never costs a source an attempt: what others may fit into, it waits to grow`() {
        #expect(decision(.diskFull, .noSpace) == .pause(Pause(.noSpace, "so")))
        #expect(decision(.diskFull) == .wait(30_000))
        #expect(!policy.isFinal(.diskFull, attempt: 99))
    }

    @Test func `trouble with the outbox pauses the inbox; a crash says nothing about it, and does not ask`() {
        for code: FailureCode in [.diskFull, .outputNotWritable, .ioError, .permissionDenied, .notFound, .timedOut] {
            #expect(decision(code, .missingOutbox) == .pause(Pause(.missingOutbox, "so")))
        }
        let crash = policy.decide(after: Failure(.workerCrashed, stage: "x", "x")) {
            Issue.record("nobody has to probe after a crash")
            return Pause(.readOnly, "so")
        }
        #expect(crash == .retry)
    }

    @Test func `a run attempts again only what lost its worker, at once`() {
        for code in FailureCode.allCases {
            #expect(decision(code, policy: .run) == (code == .workerCrashed ? .retry : .final), "\(code)")
        }
    }

    @Test func `a run ends when nothing can be written, whichever picture shows it first`() {
        let shows: Set<FailureCode> = [.diskFull, .outputNotWritable, .ioError]
        for code in FailureCode.allCases where code != .workerCrashed {
            let expected: AfterFailure = shows.contains(code) ? .pause(Pause(.noSpace, "so")) : .final
            #expect(decision(code, .noSpace, policy: .run) == expected, "\(code)")
        }
    }

    @Test func `a run has three attempts, without a delay`() {
        #expect((1...3).map { RetryPolicy.run.delay(afterAttempt: $0, because: .workerCrashed) } == [0, 0, 0])
        #expect(RetryPolicy.run.attempts == 3)
    }

    @Test func `an original that cannot be put away waits longer each time, up to five minutes`() {
        let policy = RetryPolicy(attempts: 3)
        let delays = (1...9).map { policy.delay(afterObstacle: $0) / 1000 }
        #expect(delays == [5, 10, 20, 40, 80, 160, 300, 300, 300])
        #expect(RetryPolicy.run.delay(afterObstacle: 3) == 0)
    }
}
