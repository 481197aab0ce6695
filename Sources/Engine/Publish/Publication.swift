// The publication of one source, and its outcome.
package import Pipeline
package import System

/// Whether what is published must survive a loss of power.
package enum Durability: Sendable {
    case none
    /// Only the content of files on a network file system: it is written when a file is closed anyway, and nothing but a
    /// sync tells whether that has succeeded. All else is synced later.
    case remoteContent
    case synced
}

/// The report that goes with a source's renditions.
package struct PublishedReport {
    /// Its path from the outbox.
    package let path: BytePath
    /// Its bytes, made when it is known how many milliseconds it took to write the renditions to the disk.
    package let bytes: (_ milliseconds: Int) -> [UInt8]

    package init(path: BytePath, bytes: @escaping (_ milliseconds: Int) -> [UInt8]) {
        self.path = path
        self.bytes = bytes
    }
}

/// The files that one source publishes: all of them or none.
package struct Publication {
    /// Each file with its destination.
    package var outputs: [StagedFile]
    /// The names of the outputs, in the same order.
    package var names: [RenditionName]
    /// The source, as the record of names knows it: noted in each file. Never an absolute path.
    package let owner: BytePath
    /// The files that may be replaced, as they were found.
    package let replaceable: [BytePath: FoundFile]
    /// Every name may be replaced: `collision: overwrite`.
    package let overwrites: Bool
    package let report: PublishedReport?

    package init(
        outputs: [StagedFile], names: [RenditionName], owner: BytePath, replaceable: [BytePath: FoundFile] = [:],
        overwrites: Bool = false, report: PublishedReport? = nil
    ) {
        self.outputs = outputs
        self.names = names
        self.owner = owner
        self.replaceable = replaceable
        self.overwrites = overwrites
        self.report = report
    }

    /// - Parameter now: what is under the name.
    func mayReplace(_ name: BytePath, _ now: FileStatus) -> Bool {
        overwrites || replaceable[name]?.isSame(as: now) == true
    }
}

/// The outcome of publishing one source.
package enum PublishOutcome {
    /// Everything is in place.
    /// - Parameter files: the renditions as they were written.
    case published(milliseconds: Int, files: Fingerprint)
    /// Something is now at a name that was free. Nothing was published; the outputs can be published under other names.
    case nameOccupied(BytePath)
    /// Nothing was published, and what was there before is there again.
    case failed(SystemError)
    /// Nothing was published, since it could not be recorded.
    case unrecorded(StoreError)
}
