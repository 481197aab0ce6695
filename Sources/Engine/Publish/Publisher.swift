// Puts finished renditions in place: all of a source or none, the report last. Several sources share their syncs.
package import Pipeline
import System

/// Publishes sources into an outbox. For any number of threads.
package struct Publisher: Sendable {
    private let outbox: Outbox
    private let names: (any NameStore)?
    private let key: BytePath
    private let durability: Durability
    private let keepsReplaced: Bool
    private let newToken: @Sendable () -> String

    /// - Parameters:
    ///   - names: the record of whose files are in the outbox; nil if nobody asks.
    ///   - key: the outbox as that record knows it.
    ///   - keepsReplaced: replaced files are kept until all renditions of the source are in place, so that they can be
    ///     put back; otherwise everything is replaced.
    ///   - newToken: distinct for every file that is staged at one time; what a crash leaves behind is found by its
    ///     beginning.
    package init(
        outbox: Outbox, names: (any NameStore)?, key: BytePath = BytePath([]), durability: Durability,
        keepsReplaced: Bool = true,
        newToken: @escaping @Sendable () -> String = { DurableFile.newToken }
    ) {
        self.outbox = outbox
        self.names = names
        self.key = key
        self.durability = durability
        self.keepsReplaced = keepsReplaced
        self.newToken = newToken
    }

    /// Publishes a group of sources. One that fails does not fail the others.
    ///
    /// The outputs and the new reports reach the disk first; then the record gets their contents; then the old reports
    /// are taken away, so that none describes other files than there are; then the renditions get their names; then the
    /// new reports. If a step fails for a source, all that was done for it is undone.
    /// - Returns: the outcome of each, in their order.
    package func publish(_ publications: [Publication]) -> [PublishOutcome] {
        let start = SuspendingClock.now
        let attempts = publications.map {
            PublishAttempt($0, in: outbox, durability: durability, keepsReplaced: keepsReplaced, newToken: newToken)
        }
        each(attempts) { attempt throws(PublishTrouble) in try attempt.prepare() }
        each(attempts) { attempt throws(PublishTrouble) in try attempt.syncRenditions() }
        let time = Int((SuspendingClock.now - start) / .milliseconds(1))
        each(attempts) { attempt throws(PublishTrouble) in try attempt.writeReport(milliseconds: time) }
        each(attempts) { attempt throws(PublishTrouble) in try attempt.syncReport() }
        record(attempts)
        each(attempts) { attempt throws(PublishTrouble) in try attempt.withdrawReport() }
        syncFolders(attempts)
        each(attempts) { attempt throws(PublishTrouble) in try attempt.publishRenditions() }
        syncFolders(attempts)
        each(attempts) { attempt throws(PublishTrouble) in try attempt.publishReport() }
        syncFolders(attempts)
        each(attempts) { attempt throws(PublishTrouble) in try attempt.complete() }
        return attempts.map { attempt in
            switch attempt.trouble {
            case .occupied(let name): .nameOccupied(name)
            case .system(let error): .failed(error)
            case .unrecorded(let error): .unrecorded(error)
            case nil: .published(milliseconds: time, files: attempt.files)
            }
        }
    }

    private func each(_ attempts: [PublishAttempt], _ step: (PublishAttempt) throws(PublishTrouble) -> Void) {
        for attempt in attempts { attempt.attempt { () throws(PublishTrouble) in try step(attempt) } }
    }

    private func record(_ attempts: [PublishAttempt]) {
        guard let names, attempts.contains(where: { $0.trouble == nil }) else { return }
        let changed = attempts.filter { $0.trouble == nil }.flatMap { $0.names(in: key) }
        do throws(StoreError) {
            try names.record(changed, areNoted: attempts.allSatisfy(\.isNoted))
        } catch {
            each(attempts) { _ throws(PublishTrouble) in throw .unrecorded(error) }
        }
        each(attempts) { attempt throws(PublishTrouble) in
            try attempt.system { () throws(SystemError) in try FaultPoint.pass(.afterContentsRecord) }
        }
    }

    /// Makes the new names of the last step survive a loss of power; each folder is synced once.
    private func syncFolders(_ attempts: [PublishAttempt]) {
        guard durability == .synced else { return }
        var results: [BytePath: SystemError?] = [:]
        for attempt in attempts {
            attempt.attempt { () throws(PublishTrouble) in
                for (path, folder) in attempt.changedFolders {
                    let result = results[path] ?? sync(folder)
                    results[path] = .some(result)
                    if let result { throw .system(result) }
                }
            }
        }
    }

    private func sync(_ folder: Directory) -> SystemError? {
        do throws(SystemError) {
            try folder.sync()
            try FaultPoint.pass(.afterFolderSync)
            return nil
        } catch {
            return error
        }
    }
}
