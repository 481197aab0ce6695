// Puts finished renditions in place so that nothing can take them back: synced, renamed, the report last. Several sources share their syncs.
import Pipeline

struct Publication {
    private let mill: MillCore

    init(_ mill: MillCore) { self.mill = mill }

    /// Publishes what was rendered, and lets the sources leave.
    func publish(_ jobs: [ActiveJob]) {
        var clock = Stopwatch()
        var jobs = each(jobs) { active throws(SystemError) in
            for output in active.outputs {
                try output.sync()
                try FaultPoint.pass(.afterTargetSync)
            }
            for output in active.outputs { try output.makeReady() }
        }
        jobs = each(jobs) { active throws(SystemError) in
            for output in active.outputs {
                try output.publish()
                try FaultPoint.pass(.betweenRenames)
            }
            try FaultPoint.pass(.afterLastRename)
        }
        jobs = synced(jobs) { $0.outputs.map(\.destination.directory) }
        let time = clock.lap()
        for index in jobs.indices {
            jobs[index].work.report.status = .done
            jobs[index].work.report.milliseconds.publish = time
        }
        jobs = each(jobs) { active throws(SystemError) in
            try active.route.reports.write(active.work.report, to: active.report, token: mill.newToken(), syncsFolder: false)
        }
        jobs = synced(jobs) { [$0.route.inbox.outbox.appending($0.report.directory)] }
        record(jobs)
    }

    /// Does something for each job; those for which it fails are taken care of, and left out.
    private func each(_ jobs: [ActiveJob], _ work: (ActiveJob) throws(SystemError) -> Void) -> [ActiveJob] {
        jobs.filter { active in
            do throws(SystemError) {
                try work(active)
                return true
            } catch {
                mill.endings.fail(active, error.asOutputFailure)
                return false
            }
        }
    }

    /// Syncs folders, each once.
    private func synced(_ jobs: [ActiveJob], _ folders: (ActiveJob) -> [BytePath]) -> [ActiveJob] {
        var failed: [BytePath: SystemError] = [:]
        for folder in Set(jobs.flatMap(folders)) {
            do throws(SystemError) {
                try DurableFile.syncFolder(folder)
            } catch {
                failed[folder] = error
            }
        }
        return each(jobs) { active throws(SystemError) in
            if let error = folders(active).lazy.compactMap({ failed[$0] }).first { throw error }
        }
    }

    private func record(_ jobs: [ActiveJob]) {
        guard !jobs.isEmpty else { return }
        do throws(LedgerError) {
            try mill.ledger.publish(jobs.map(\.job.id))
        } catch {
            // They are done again under the same names when the ledger can be written.
            for active in jobs { mill.endings.rest(active.job, InboxPause(error.pauseReason, error.description)) }
            return
        }
        for active in jobs {
            mill.log(active.work.report)
            mill.tell(.done(active.job.id, active.work.report), active.job.post)
        }
        mill.endings.commit(jobs.map(\.job))
    }
}
