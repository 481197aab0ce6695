// Takes sources that are ready out of their inboxes: recorded first, then renamed.
import Glibc
import Pipeline
import Synchronization

struct Claiming {
    private let mill: MillCore

    init(_ mill: MillCore) { self.mill = mill }

    private struct Candidate {
        let source: ReadySource
        let post: InboxPost
        let place: WorkPlace
        let id: JobID
        let keeps: Bool
    }

    /// Claims what can be claimed, and answers for the rest.
    func claim(_ sources: [ReadySource]) -> [MillJob] {
        let candidates = sources.compactMap(candidate)
        guard !candidates.isEmpty else { return [] }
        do throws(LedgerError) {
            try mill.ledger.add(candidates.map(record))
        } catch {
            for candidate in candidates { rest(candidate, InboxPause(error.pauseReason, error.description)) }
            return []
        }
        let jobs = candidates.compactMap(claim)
        // One that was claimed may already wait for a broken world; it is still open.
        let unclaimed = candidates.filter { !$0.post.isOpen($0.id) }.map(\.id)
        // Where this fails, the next start forgets them.
        if !unclaimed.isEmpty { try? mill.ledger.forget(unclaimed) }
        return jobs
    }

    /// What can be claimed now; the others are answered.
    private func candidate(_ source: ReadySource) -> Candidate? {
        guard let post = mill.post(source.inbox) else { return nil }
        // Offered again by itself when the inbox goes on.
        guard !mill.isDraining, post.pause == nil else {
            post.answer(source, .later(.seconds(2)))
            return nil
        }
        if let pause = post.outboxPause {
            mill.rest(post, pause)
            post.answer(source, .later(.seconds(2)))
            return nil
        }
        let keeps = post.route.inbox.settings.originals == .keep
        let id = mill.names.next()
        switch post.begin(source.relative, as: id) {
        case .begun(let place): return Candidate(source: source, post: post, place: place, id: id, keeps: keeps)
        case .resting: post.answer(source, .later(.seconds(2)))
        // Another of the same name is under way; this one is to be the last.
        case .busy: post.answer(source, .later(.milliseconds(200)))
        }
        return nil
    }

    private func record(_ candidate: Candidate) -> NewJob {
        NewJob(
            id: candidate.id, inbox: candidate.post.path, path: candidate.source.relative, observed: ObservedFile(candidate.source.sighting),
            staysInInbox: candidate.keeps)
    }

    private func claim(_ candidate: Candidate) -> MillJob? {
        do {
            try FaultPoint.pass(.afterClaimRecord)
            let limits = candidate.post.route.render.limits
            let outcome = try candidate.place.claim(
                candidate.source, from: candidate.post.path, as: candidate.id, keepsOriginal: candidate.keeps, largest: limits.maximumSourceBytes
            ) {}
            guard case .claimed = outcome else {
                refuse(candidate, outcome)
                return nil
            }
        } catch {
            rest(candidate, InboxPause(.ioError, "\(error)"))
            return nil
        }
        var job = MillJob(
            id: candidate.id, post: candidate.post, place: candidate.place, relative: candidate.source.relative, isSet: candidate.source.isSet,
            observed: ObservedFile(candidate.source.sighting), staysInInbox: candidate.keeps)
        if candidate.keeps { job.offered = candidate.source } else { candidate.post.answer(candidate.source, .taken) }
        // The rename is done; what a test breaks here is the job's trouble.
        do {
            try FaultPoint.pass(.afterClaimRename)
        } catch {
            mill.endings.rest(job, InboxPause(.ioError, "\(error)"))
            return nil
        }
        return job
    }

    private func refuse(_ candidate: Candidate, _ outcome: ClaimOutcome) {
        if case .unavailable(let error) = outcome { mill.rest(candidate.post, InboxPause(error, missing: .missingInbox)) }
        // The inbox came back on another file system: its folders are looked for anew.
        if case .blocked(let error) = outcome, error.code == EXDEV { candidate.post.state.withLock { $0.place = nil } }
        candidate.post.end(candidate.source.relative, candidate.id)
        candidate.post.answer(candidate.source, outcome.answer)
    }

    private func rest(_ candidate: Candidate, _ pause: InboxPause) {
        mill.rest(candidate.post, pause)
        candidate.post.end(candidate.source.relative, candidate.id)
        candidate.post.answer(candidate.source, .later(.seconds(2)))
    }
}

extension LedgerError {
    /// Why an inbox rests that cannot use its ledger.
    var pauseReason: PauseReason { kind == .full ? .noSpace : .ioError }
}
