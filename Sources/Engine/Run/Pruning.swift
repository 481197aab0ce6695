// Renditions that nothing makes any more: what `imagemill run --prune` removes.
import FoundationEssentials
import GRDB
package import Pipeline
import Synchronization
import System

/// Takes note of what a run makes of each source, and passes everything on. For any thread.
package final class MadeNames: BatchObserver {
    private let next: any BatchObserver
    /// By the source's identity in the record; nil for a source that failed.
    private let names = Mutex<[BytePath: Set<BytePath>?]>([:])

    /// The names of a dry run are not known if they say what is in the files.
    private let areKnown: Bool

    package init(_ next: any BatchObserver, areKnown: Bool) { (self.next, self.areKnown) = (next, areKnown) }

    package func begin(sources: Int) { next.begin(sources: sources) }
    package func end() { next.end() }

    package func finished(_ report: SourceReport, _ summary: BatchSummary) {
        next.finished(report, summary)
        guard let location = report.source.location else { return }
        let made = report.error == nil && areKnown ? Set(report.paths) : nil
        names.withLock { $0[location] = .some(made) }
    }

    var all: [BytePath: Set<BytePath>?] { names.withLock { $0 } }
}

/// Finds and removes renditions whose source is gone, or that their source's pipeline makes no more.
package struct Pruning {
    private let record: OutboxRecord
    private let outbox: Outbox
    private let made: MadeNames
    private let unchanged: Set<BytePath>
    /// Folders that were searched and in which something was found. An empty one may be a mount that is missing.
    private let roots: [BytePath]

    /// - Parameters:
    ///   - roots: the folders that the user named.
    ///   - unchanged: the sources of the run that were skipped.
    package init(
        _ record: OutboxRecord, roots: [BytePath], found: [SourceFile], unchanged: [UnchangedSource], made: MadeNames
    ) {
        self.record = record
        self.made = made
        let location = record.location
        outbox = Outbox(path: location.path, of: .run, writer: Outbox.runWriter)
        self.unchanged = Set(unchanged.map { location.identity(of: $0.source.identity) })
        self.roots = roots.compactMap { FileSystem.absolute($0) }
            .filter { root in found.contains { $0.identity.isAtOrBelow(root) } }
            .map { location.identity(of: $0) }
    }

    /// Names that nothing makes any more, in their order.
    package struct StaleNames {
        /// Renditions that are there.
        package var files: [BytePath] = []
        /// Names without a file: somebody has removed it, or its source has failed before it was written.
        var missing: [BytePath] = []
    }

    package func stale() throws(StoreError) -> StaleNames {
        let made = made.all
        let recorded = try outputs()
        var stale = StaleNames()
        var last: OwnedName?
        while true {
            let owned = try record.ownedNames(after: last, limit: 1000)
            guard let end = owned.last else { return stale }
            last = end
            for owned in owned where isStale(owned, made: made, recorded: recorded) { stale.add(owned, in: outbox) }
        }
    }

    private func isStale(
        _ owned: OwnedName, made: [BytePath: Set<BytePath>?], recorded: [BytePath: Set<BytePath>]
    ) -> Bool {
        // A source that failed keeps its earlier renditions.
        if let made = made[owned.source] { return made.map { !$0.contains(owned.name) } ?? false }
        if unchanged.contains(owned.source) { return recorded[owned.source].map { !$0.contains(owned.name) } ?? false }
        return roots.contains { owned.source.isAtOrBelow($0) } && record.location.isGone(owned.source)
    }

    /// The recorded outputs of the sources that were skipped.
    private func outputs() throws(StoreError) -> [BytePath: Set<BytePath>] {
        do {
            return try record.database.read { database in
                var outputs: [BytePath: Set<BytePath>] = [:]
                let rows = try Row.fetchCursor(
                    database, sql: "SELECT source, outputs FROM results WHERE failure IS NULL")
                while let row = try rows.next() {
                    let (source, bytes): (Data, Data) = (row[0], row[1])
                    let path = BytePath([UInt8](source))
                    guard unchanged.contains(path), let files = Fingerprint(encoded: [UInt8](bytes)) else { continue }
                    outputs[path] = Set(files.files.map(\.name))
                }
                return outputs
            }
        } catch {
            throw OutboxRecord.storeError(error, "read", record.location)
        }
    }

    /// Removes renditions, the folders that they leave empty, and their entries in the record.
    package func remove(_ stale: StaleNames) throws(StoreError) {
        let outbox = record.location.path
        let names = stale.files + stale.missing
        guard !names.isEmpty else { return }
        for name in names {
            guard name.staysBelow, let folder = try? Directory(outbox).folder(name.directory) else { continue }
            switch (try? folder.status(name.lastComponent))??.kind {
            case .regular: try? folder.remove(name.lastComponent)
            // A folder that is no rendition is not among the stale names.
            case .directory where stale.files.contains(name): _ = try? folder.removeTree(name.lastComponent)
            default: break
            }
            removeEmptyFolders(above: name, in: outbox)
        }
        try record.forget(names)
        let gone = (try? goneSources()) ?? []
        try? record.database.write { database in
            for source in gone {
                try database.execute(sql: "DELETE FROM results WHERE source = ?", arguments: [Data(source.bytes)])
            }
        }
    }

    private func goneSources() throws -> [BytePath] {
        let sources = try record.database.read { try Data.fetchAll($0, sql: "SELECT source FROM results") }.map {
            BytePath([UInt8]($0))
        }
        return sources.filter { source in roots.contains { source.isAtOrBelow($0) } && record.location.isGone(source) }
    }

    private func removeEmptyFolders(above name: BytePath, in outbox: BytePath) {
        var folder = name.directory
        while !folder.bytes.isEmpty {
            guard let above = try? Directory(outbox).folder(folder.directory),
                (try? above.remove(folder.lastComponent, isFolder: true)) != nil
            else { return }
            folder = folder.directory
        }
    }
}

extension Pruning.StaleNames {
    /// Adds a name if its file is as it was written, or missing: a file that others have put there since is theirs.
    fileprivate mutating func add(_ owned: OwnedName, in outbox: Outbox) {
        do throws(SystemError) {
            guard let found = try outbox.found(owned.name, recorded: owned) else { return missing.append(owned.name) }
            if found.owner == .source(owned.source) { files.append(owned.name) }
        } catch {
            // A file that cannot be looked at stays, and so does its entry.
        }
    }
}
