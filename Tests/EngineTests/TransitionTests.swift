// Every state and every event: one answer, and no surprise.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct TransitionTests {
    private let policy = RetryPolicy(attempts: 3)
    private let failure = Failure(.workerCrashed, stage: "render", "too slow")
    private let now = 1_000_000

    private func after(_ progress: JobProgress, _ event: JobEvent) -> (progress: JobProgress?, effects: [JobEffect]) {
        transition(progress, event, now: now, policy: policy)
    }

    private var events: [(name: String, event: JobEvent)] {
        [
            .taken, .begunAlone, .unclaimed, .unreached, .returned, .interrupted, .obstructed(failure, after: 0),
            .attemptFailed(failure, isFinal: false), .attemptFailed(failure, isFinal: true), .published(damage: nil),
            .settled, .found(.spool), .found(.inbox), .found(.nowhere),
        ].map { ($0.name, $0) }
    }

    /// The rows of the table in decision 15: the cell of each state, by the event.
    private static func table() throws -> [String: [JobState: String]] {
        let lines = try Checkout.text("docs/decisions/0015-one-queue.md").split(separator: "\n")
        let rows = lines.filter { $0.hasPrefix("| ") }.map { line in
            line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let states = try rows[0].dropFirst().map { try #require(JobState(rawValue: $0)) }
        #expect(Set(states) == Set(JobState.allCases))
        return Dictionary(
            uniqueKeysWithValues: rows.dropFirst().map { row in
                (row[0], Dictionary(uniqueKeysWithValues: zip(states, row.dropFirst())))
            })
    }

    private func cell(_ state: JobState?, _ effects: [JobEffect]) -> String {
        (state?.rawValue ?? "-") + (effects.isEmpty ? "" : ": " + effects.map(\.name).joined(separator: ", "))
    }

    @Test(arguments: JobState.allCases)
    func `every pair of a state and an event has the answer of the table in decision 15`(state: JobState) throws {
        let table = try Self.table()
        let names = Set(events.map(\.name))
        #expect(Set(table.keys.filter { !$0.hasSuffix(", used up") }) == names)
        for isUsedUp in [false, true] {
            for (name, event) in events {
                let row = table[isUsedUp ? "\(name), used up" : name] ?? table[name]
                let expected = try #require(row?[state])
                let progress = JobProgress(
                    state, attempts: 1, ends: isUsedUp ? RetryPolicy.mostEnds : 0, notBefore: 7,
                    failure: state == .rejected ? failure : nil)
                let (next, effects) = after(progress, event)
                if expected.isEmpty {
                    #expect(next == progress && effects == [.outOfStep], "\(state), \(name)")
                } else {
                    #expect(cell(next?.state, effects) == expected, "\(state), \(name), used up: \(isUsedUp)")
                }
            }
        }
    }

    @Test(arguments: JobState.allCases)
    func `no pair traps or counts below zero, whatever the attempts, ends and times`(state: JobState) {
        for (name, event) in events {
            for count in [0, 1, 3, 99] {
                for time in [0, now, Int.max] {
                    for progress in [
                        JobProgress(state, attempts: count, notBefore: time),
                        JobProgress(state, ends: count, notBefore: time),
                    ] {
                        let (next, _) = after(progress, event)
                        #expect((next?.attempts ?? 0) >= 0 && (next?.ends ?? 0) >= 0, "\(state), \(name)")
                    }
                }
            }
        }
    }

    @Test func `an attempt is counted when it is taken`() {
        for state in [JobState.offered, .waiting] {
            #expect(after(JobProgress(state, attempts: 1), .taken).progress == JobProgress(.running, attempts: 2))
        }
        #expect(after(JobProgress(.published, attempts: 3), .taken).progress == JobProgress(.published, attempts: 3))
    }

    @Test(arguments: [JobState.offered, .waiting, .running])
    func `a source whose attempts are used up is rejected when it is taken, with the reason`(state: JobState) {
        let (next, effects) = after(JobProgress(state, attempts: 3, failure: failure), .taken)
        #expect(next == JobProgress(.rejected, attempts: 3, failure: failure))
        #expect(effects == (state != .waiting ? [.claim, .deadLetter(failure)] : [.deadLetter(failure)]))
    }

    @Test(arguments: [JobState.offered, .waiting, .running])
    func `a source that the program has ended over again and again is rejected when it is taken, with the reason`(
        state: JobState
    ) {
        let words = "the program ended 16 times in a row while it was under way, at last with nothing beside it"
        let reason = Failure(.workerCrashed, stage: "render", words)
        for before in [nil, failure] {
            let (next, effects) = after(JobProgress(state, ends: 16, failure: before), .taken)
            #expect(next == JobProgress(.rejected, ends: 16, failure: reason))
            #expect(effects == (state != .waiting ? [.claim, .deadLetter(reason)] : [.deadLetter(reason)]))
        }
    }

    @Test func `an end of the program costs no attempt, and all ends beside other sources count once`() {
        var progress: JobProgress? = JobProgress(.waiting, attempts: 1)
        for _ in 0..<5 {
            progress = progress.flatMap { after($0, .taken).progress }
            #expect(progress?.attempts == 2 && progress?.state == .running)
            progress = progress.flatMap { after($0, .found(.spool)).progress }
            #expect(progress == JobProgress(.waiting, attempts: 1, ends: 1, notBefore: now))
        }
        // Another start of the program has let it go.
        let held = JobProgress(.running, attempts: 2)
        #expect(after(held, .taken).progress == JobProgress(.running, attempts: 2, ends: 1))
        #expect(after(held, .taken).progress?.isSuspect == true)
    }

    @Test func `ends with nothing beside it are counted, with longer and longer delays, up to the last`() throws {
        var progress = JobProgress(.waiting, ends: 1)
        var delays: [Int] = []
        while progress.state == .waiting {
            for event in [JobEvent.taken, .begunAlone, .found(.spool)] {
                progress = try #require(after(progress, event).progress)
            }
            delays.append((progress.notBefore - now) / 1000)
        }
        #expect(progress.state == .rejected && progress.ends == 16 && progress.failure?.code == .workerCrashed)
        #expect(delays.dropLast() == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300, 300])
    }

    @Test func `what the program has survived is no longer suspect`() {
        let running = JobProgress(.running, attempts: 1, ends: 9)
        let events: [JobEvent] = [
            .interrupted, .obstructed(failure, after: 0), .attemptFailed(failure, isFinal: false),
        ]
        for event in events { #expect(after(running, event).progress?.isSuspect == false, "\(event)") }
        #expect(after(running, .unreached).progress?.ends == 1, "nothing had begun")
    }

    @Test func `what is counted is not lost if a power cut undid the claim`() {
        for attempts in 1...2 {
            let (next, effects) = after(JobProgress(.running, attempts: attempts), .found(.inbox))
            #expect(
                next == JobProgress(.offered, attempts: attempts - 1, ends: 1, notBefore: now) && effects.isEmpty)
        }
        let used = after(JobProgress(.running, ends: 16), .found(.inbox)).progress
        #expect(used.map { after($0, .taken).progress?.state } == .rejected)
        // Rejected by an error that no attempt can change, after one attempt.
        let final = after(JobProgress(.rejected, attempts: 1, failure: failure), .found(.inbox)).progress
        #expect(final == JobProgress(.offered, attempts: 3, notBefore: now, failure: failure))
        #expect(final.map { after($0, .taken).effects } == [.claim, .deadLetter(failure)])
    }

    @Test func `what the surroundings or a signal stopped has lost no attempt`() {
        let running = JobProgress(.running, attempts: 2, notBefore: 5)
        #expect(
            after(running, .interrupted).progress == JobProgress(.waiting, attempts: 1, notBefore: 0),
            "it is first again")
        #expect(
            after(running, .obstructed(failure, after: 0)).progress
                == JobProgress(.waiting, attempts: 1, notBefore: now, failure: failure))
        #expect(after(JobProgress(.running), .interrupted).progress?.attempts == 0)
        for state in [JobState.published, .rejected] {
            #expect(
                after(JobProgress(state, attempts: 2, notBefore: 5), .interrupted).progress
                    == JobProgress(state, attempts: 2, notBefore: 5))
            let obstructed = after(JobProgress(state, attempts: 2, notBefore: 5), .obstructed(failure, after: 0))
            #expect(
                obstructed.progress == JobProgress(state, attempts: 2, notBefore: now) && obstructed.effects.isEmpty)
        }
    }

    @Test func `a source whose inbox could not be looked into has lost no attempt and keeps its place`() {
        #expect(
            after(JobProgress(.running, attempts: 1, notBefore: 5), .unreached).progress
                == JobProgress(.offered, attempts: 0, notBefore: 5))
        #expect(
            after(JobProgress(.rejected, attempts: 3, notBefore: 5), .unreached).progress
                == JobProgress(.offered, attempts: 3, notBefore: 5))
    }

    @Test func `a failed attempt waits longer each time, and the last one is final`() {
        for (attempts, delay) in [(1, 1000), (2, 2000)] {
            let (next, effects) = after(
                JobProgress(.running, attempts: attempts), .attemptFailed(failure, isFinal: false))
            #expect(next == JobProgress(.waiting, attempts: attempts, notBefore: now + delay, failure: failure))
            #expect(effects == [.retry(after: delay)])
        }
        let last = after(JobProgress(.running, attempts: 3), .attemptFailed(failure, isFinal: false))
        #expect(
            last.progress == JobProgress(.rejected, attempts: 3, failure: failure)
                && last.effects == [.deadLetter(failure)])
    }

    @Test func `success forgets why earlier attempts failed; the end of a failure keeps it`() {
        #expect(
            after(JobProgress(.running, attempts: 2, failure: failure), .published(damage: nil)).progress
                == JobProgress(.published, attempts: 2))
        #expect(after(JobProgress(.rejected, attempts: 3, failure: failure), .settled).progress?.failure == failure)
    }

    @Test
    func `what is wrong with a published job's source is kept until its original has left the spool, over restarts`() {
        let published = after(JobProgress(.running, attempts: 1), .published(damage: failure)).progress
        #expect(published == JobProgress(.published, attempts: 1, failure: failure))
        for event in [JobEvent.taken, .interrupted, .obstructed(failure, after: 0), .found(.spool)] {
            #expect(published.flatMap { after($0, event).progress?.failure } == failure)
        }
        #expect(published.flatMap { after($0, .settled).progress } == JobProgress(.done, attempts: 1))
    }

    @Test func `a start rejects what is used up, and does not believe a time beyond the longest delay`() {
        for progress in [JobProgress(.waiting, attempts: 3), JobProgress(.running, ends: 16)] {
            #expect(after(progress, .found(.spool)).progress?.state == .rejected)
        }
        #expect(after(JobProgress(.running, attempts: 1), .found(.spool)).progress?.notBefore == now)
        #expect(
            after(JobProgress(.waiting, attempts: 1, notBefore: now + 9), .found(.spool)).progress?.notBefore
                == now + 9)
        #expect(
            after(JobProgress(.waiting, attempts: 1, notBefore: .max), .found(.spool)).progress?.notBefore
                == now + 300_000)
        #expect(
            after(JobProgress(.offered, attempts: 2, notBefore: .max), .found(.spool)).progress?.attempts == 2
        )
    }
}
