// What became of each source, for the next run: written to the record of the output folder in small batches.
import FoundationEssentials
import GRDB
import Pipeline
import Synchronization

/// A source that a lane is done with.
package struct FinishedSource: Sendable {
    let source: SourceFile
    package var report: SourceReport
    /// The source as it was read; nil where that is not known for sure.
    var fingerprint: Fingerprint?
    /// The renditions as they were written.
    var outputs = Fingerprint([])
}

/// Records results. For any thread.
///
/// What is not yet written when the process is killed is done again by the next run, and comes out the same: so nothing waits for the disk.
package final class ResultRecord: Sendable {
    private let database: DatabaseQueue
    private let setup: String
    private let pending = Mutex(Pending())

    private struct Pending {
        var rows: [StatementArguments] = []
        var lastWrite = ContinuousClock.now

        mutating func take() -> [StatementArguments] {
            lastWrite = .now
            defer { rows = [] }
            return rows
        }
    }

    /// A transaction costs as much as writing some tens of rows.
    private static let batch = 64
    private static let patience = Duration.milliseconds(250)

    init(_ database: DatabaseQueue, _ setup: RunSetup) {
        self.database = database
        self.setup = json(setup)
    }

    /// Records a source.
    /// - Parameter document: its report as JSON.
    func add(_ finished: FinishedSource, document: String) {
        guard let row = row(finished, document) else { return }
        let rows = pending.withLock { pending -> [StatementArguments] in
            pending.rows.append(row)
            guard pending.rows.count >= Self.batch || .now - pending.lastWrite > Self.patience else { return [] }
            return pending.take()
        }
        write(rows)
    }

    /// Writes what is left, and removes setups that no result refers to any more.
    func finish() {
        write(pending.withLock { $0.take() })
        try? database.write { try $0.execute(sql: "DELETE FROM setups WHERE id NOT IN (SELECT setup FROM results)") }
    }

    private func row(_ finished: FinishedSource, _ document: String) -> StatementArguments? {
        let source = finished.source
        let paths = [Data(source.identity.bytes), Data(source.relative.bytes)]
        if let error = finished.report.error {
            return [paths[0], paths[1], Data(), Data(), "\(error.code.rawValue): \(error.message)", nil]
        }
        guard let fingerprint = finished.fingerprint else { return nil }
        return [paths[0], paths[1], Data(fingerprint.encoded), Data(finished.outputs.encoded), nil, document]
    }

    /// A record that cannot be written costs time at the next run, and nothing else.
    private func write(_ rows: [StatementArguments]) {
        guard !rows.isEmpty else { return }
        try? database.write { database in
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
