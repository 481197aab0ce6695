// One attempt at a job, from the lease to the end.
import Pipeline
import System

/// An attempt that a lane works on. Used from that lane's thread alone.
final class Attempt {
    let lease: Lease
    /// The route at the beginning of the attempt. A reload does not change it.
    let route: Route
    let began = Moment.now
    var work: SourceWork
    var outputs: [StagedFile] = []
    var allocation: Allocation?
    /// The names of the renditions at a version, once they are planned.
    var candidates: ((_ version: Int) throws(PlanFailure) -> [RenditionName])?
    /// The source was done before, under its own name: its report stays as it is.
    var repeatsItself = false
    /// The renditions as they were published.
    var files: Fingerprint?

    var job: Job { lease.job }

    init(_ lease: Lease, _ route: Route) {
        self.lease = lease
        self.route = route
        work = SourceWork(lease.job, route)
    }

    /// Finds names for the renditions, and records them as the source's own.
    /// - Parameter occupied: one of the names that it got before, which somebody else has taken since.
    func takeNames(_ site: any JobSite, insteadOf occupied: BytePath? = nil) throws {
        guard let candidates else { throw Failure(.internal, stage: "publish", "a rendition without a plan") }
        let owner = site.owner(of: job)
        if let occupied, let allocation { try route.allocator.release(allocation, of: owner, occupied: occupied) }
        // The report is one of the names, so that two sources never write one report.
        let claim = {
            try self.route.allocator.allocate(
                for: owner, extra: { version in self.reportPath(version).map { [$0] } ?? [] },
                candidates: candidates)
        }
        allocation = try site.nameOrder?.takingTurns(job, claim) ?? claim()
    }

    private func reportPath(_ version: Int) -> BytePath? { route.reports?.path(for: job.path, version: version) }

    /// The renditions and the report, ready for the publisher.
    func publication(owner: BytePath) -> Publication {
        let place = repeatsItself ? nil : reportPath(allocation?.version ?? 1)
        let report = place.map { path in
            PublishedReport(path: path) { milliseconds in
                var report = self.work.report
                report.status = .done
                report.milliseconds.publish = milliseconds
                return ReportFiles.bytes(of: report)
            }
        }
        return Publication(
            outputs: outputs, names: work.names ?? [], owner: owner, replaceable: allocation?.replaceable ?? [:],
            overwrites: route.render.overwrites,
            report: report)
    }
}
