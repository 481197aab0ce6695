// All that a drop folder keeps.
package import Pipeline

/// Jobs, names, originals, hooks and inboxes in one place, so that one transaction can change several of them.
package protocol Ledger: JobStore, NameStore, OriginalStore, HookStore, InboxStore {
    /// There was none before.
    var isNew: Bool { get }

    /// Those of these names whose source has no open job, and the number of the latest job. Whoever looks for the files
    /// then tells `release` of both: a job that was open during the look may have put a file there after it.
    func idle(_ names: [OwnedName]) throws(StoreError) -> (names: [OwnedName], latest: Int)
    /// Frees those of these names whose source has no open job, and has had none since the latest one of a look.
    func release(_ names: [OwnedName], unlessJobsAfter latest: Int) throws(StoreError)

    /// Records how far the store's time has come, if something waits for a time that the record has not reached. If
    /// nothing does, nothing is written, so that a disk can sleep.
    func recordTime() throws(StoreError)
    /// Brings all that is recorded to where a backup finds it.
    func checkpoint() throws(StoreError)
}

/// The file of a ledger that is a file, in the state folder.
package enum LedgerFile {
    package static let name = BytePath("ledger.sqlite")
}
