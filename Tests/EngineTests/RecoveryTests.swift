// Every state that a crash can leave behind has one way on.
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct RecoveryTests {
    private let names = JobNames()

    private func job(_ state: JobState, attempts: Int = 1, stays: Bool = false) -> Job {
        Job(
            id: names.next(), inbox: BytePath("/in"), path: BytePath("a"), observed: ObservedFile(device: 1, inode: 1, bytes: 1, modified: 1),
            staysInInbox: stays, state: state, attempts: attempts, notBefore: 0, failure: nil, names: [], claimed: 0, changed: 0)
    }

    private func steps(_ jobs: [Job], _ work: [JobID: Bool]) -> [RecoveryStep] { recoverySteps(jobs: jobs, work: work, attempts: 3) }

    @Test("With the source in work/, the job goes on from where it was", arguments: JobState.allCases)
    func present(state: JobState) {
        let job = job(state)
        let expected: RecoveryStep =
            switch state {
            case .claimed, .rendering, .waiting: .attempt(job)
            case .published: .commit(job)
            case .rejected: .quarantine(job)
            // It has ended and is here again: a backup was put back. It is not thrown away.
            case .finished, .failed: .adopt(job.id)
            }
        #expect(steps([job], [job.id: true]) == [expected])
    }

    @Test("Without it, the job has moved on already, or never began", arguments: JobState.allCases, [true, false])
    func absent(state: JobState, folderIsThere: Bool) {
        let job = job(state)
        let expected: RecoveryStep =
            switch state {
            case .claimed: .forget(job)
            case .rendering, .waiting: .lost(job)
            case .published, .rejected: .finish(job)
            case .finished, .failed: .clear(job.id)
            }
        #expect(steps([job], folderIsThere ? [job.id: false] : [:]) == [expected])
    }

    @Test("A source that has taken the program down as often as it may is not tried again")
    func poison() {
        let (poison, other) = (job(.rendering, attempts: 3), job(.rendering, attempts: 2))
        #expect(steps([poison, other], [poison.id: true, other.id: true]) == [.reject(poison), .attempt(other)])
        // One that was claimed and whose attempts were given back has not used them.
        let fresh = job(.claimed, attempts: 0)
        #expect(steps([fresh], [fresh.id: true]) == [.attempt(fresh)])
    }

    @Test("An original that stays in its inbox needs no folder")
    func stays() {
        for state: JobState in [.claimed, .rendering, .waiting] {
            let job = job(state, stays: true)
            #expect(steps([job], [:]) == [.attempt(job)])
        }
        let published = job(.published, stays: true)
        #expect(steps([published], [:]) == [.finish(published)])
    }

    @Test("Folders that the ledger does not know: one with a source is taken up, an empty one goes")
    func unknown() {
        let (first, second) = (names.next(), names.next())
        #expect(steps([], [second: false, first: true]) == [.adopt(first), .clear(second)])
    }
}
