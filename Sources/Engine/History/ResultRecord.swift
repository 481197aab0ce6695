// Records the result of each source for the next run, in small batches.
import FoundationEssentials
import GRDB
import Pipeline
import Synchronization
package import System

/// A source that a run has finished with.
package struct FinishedSource: Sendable {
    package let source: SourceFile
    package var report: SourceReport
    /// The source as it was read; nil if that is not known for sure.
    package var fingerprint: Fingerprint?
    /// The renditions as they were written.
    package var outputs: Fingerprint

    package init(
        source: SourceFile, report: SourceReport, fingerprint: Fingerprint?, outputs: Fingerprint = Fingerprint([])
    ) {
        self.source = source
        self.report = report
        self.fingerprint = fingerprint
        self.outputs = outputs
    }
}

/// Records results. For any thread.
///
/// Nothing waits for the disk: if the process is killed, the next run repeats the sources whose results were not
/// written yet.
package final class ResultRecord: Sendable {
    private let record: OutboxRecord
    private let setup: String
    /// The number of the last row of earlier runs.
    private let last: Int64
    private let pending = Mutex(Pending())

    private struct Pending {
        var rows: [StatementArguments] = []
        var lastWrite = SuspendingClock.now

        mutating func take() -> [StatementArguments] {
            lastWrite = .now
            defer { rows = [] }
            return rows
        }
    }

    /// A transaction costs as much as writing some tens of rows.
    private static let batch = 64
    private static let patience = Duration.milliseconds(250)

    package init(_ record: OutboxRecord, _ setup: RunSetup) {
        self.record = record
        self.setup = json(setup)
        last = (try? record.database.read { try Int64.fetchOne($0, sql: "SELECT max(rowid) FROM results") }) ?? 0
    }

    /// Records a source.
    /// - Parameter document: its report as JSON.
    package func add(_ finished: FinishedSource, document: String) {
        guard let row = row(finished, document) else { return }
        let rows = pending.withLock { pending -> [StatementArguments] in
            pending.rows.append(row)
            guard pending.rows.count >= Self.batch || .now - pending.lastWrite > Self.patience else { return [] }
            return pending.take()
        }
        write(rows)
    }

    /// Writes what is left, and removes what nothing refers to any more: setups without results, and results of sources
    /// that are gone and whose names went to others, as after their folder was renamed.
    package func finish() {
        write(pending.withLock { $0.take() })
        let gone = record.takeDisplaced().filter { record.location.isGone($0) }
        try? record.database.write { database in
            let delete = try database.cachedStatement(sql: "DELETE FROM results WHERE source = ?")
            for source in gone { try delete.execute(arguments: [Data(source.bytes)]) }
            try database.execute(sql: "DELETE FROM setups WHERE id NOT IN (SELECT setup FROM results)")
        }
    }

    /// Forgets the results of this run, so that the next one repeats them.
    package func discard() {
        _ = pending.withLock { $0.take() }
        try? record.database.write {
            try $0.execute(sql: "DELETE FROM results WHERE rowid > ?", arguments: [last])
        }
    }

    private func row(_ finished: FinishedSource, _ document: String) -> StatementArguments? {
        let source = finished.source
        let paths = [Data(record.location.identity(of: source.identity).bytes), Data(source.relative.bytes)]
        if let error = finished.report.error {
            return [paths[0], paths[1], Data(), Data(), "\(error.code.rawValue): \(error.message)", nil]
        }
        guard let fingerprint = finished.fingerprint else { return nil }
        return [paths[0], paths[1], Data(fingerprint.encoded), Data(finished.outputs.encoded), nil, document]
    }

    /// If the record cannot be written, the next run takes longer, and nothing else happens.
    private func write(_ rows: [StatementArguments]) {
        guard !rows.isEmpty else { return }
        try? record.database.write { database in
            try database.execute(sql: "INSERT OR IGNORE INTO setups (parts) VALUES (?)", arguments: [setup])
            let id = try Int64.fetchOne(database, sql: "SELECT id FROM setups WHERE parts = ?", arguments: [setup])
            let insert = try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO results (setup, source, relative, fingerprint, outputs, failure, document)
                    VALUES (?, ?, ?, ?, ?, ?, json_set(?, '$.status', 'skipped'))
                    """)
            for row in rows { try insert.execute(arguments: [id] + row) }
        }
    }
}
