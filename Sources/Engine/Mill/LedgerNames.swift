// The names of a job's renditions and of its report, which the ledger keeps.
import Pipeline

/// Names out of the ledger. The report is one of them, so that two sources never write one report.
final class LedgerNames: NameGiver {
    private let ledger: any JobLedger
    private let job: MillJob
    private let route: MillRoute
    /// Where the report goes, from the outbox.
    private(set) var report: BytePath

    init(_ ledger: any JobLedger, _ active: ActiveJob) {
        self.ledger = ledger
        (job, route, report) = (active.job, active.route, active.report)
    }

    func names(for source: SourceFile, _ candidates: @escaping (_ version: Int) throws(PlanFailure) -> [RenditionName]) throws -> [RenditionName] {
        let (outbox, reports, relative) = (route.inbox.outbox, route.reports, job.relative)
        var known: [BytePath: Bool] = [:]
        let request = NameRequest(
            job: job.id, outbox: outbox, source: source.identity, policy: route.inbox.settings.collision,
            candidates: { version throws(PlanFailure) in
                try candidates(version) + [RenditionName(path: reports.path(for: relative, version: version))]
            },
            // Looked up before the ledger's transaction where that can be: a share that hangs must not hold up the others' ledger.
            isTaken: { known[$0] ?? Self.isTaken(outbox.appending($0)) })
        do {
            known = Dictionary(try request.candidates(1).map { ($0.path, Self.isTaken(outbox.appending($0.path))) }) { first, _ in first }
            let names = try ledger.claimNames(request)
            try FaultPoint.passOutput(.afterNamesRecord)
            report = names.last?.path ?? report
            return names.dropLast()
        } catch let error as LedgerError {
            throw error.asFailure
        } catch let error as PlanFailure {
            throw error.failure
        }
    }

    private static func isTaken(_ path: BytePath) -> Bool { (try? FileSystem.status(path, followLinks: false)).flatMap { $0 } != nil }
}
