// Which source owns which name in which outbox, and which originals that stay need nothing more.
import FoundationEssentials
import GRDB
package import Pipeline

extension SQLiteLedger {
    package func claimNames(_ request: NameRequest) throws -> [RenditionName] {
        try changeOrFail { database in
            let owner = try database.cachedStatement(sql: "SELECT source FROM names WHERE outbox = ? AND name = ?")
            let ownership = NameOwnership(
                owner: { name in
                    let row = try Row.fetchOne(owner, arguments: [request.outbox.blob, name.blob])
                    return row.map { BytePath([UInt8]($0["source"] as Data)) }
                },
                occupant: { request.isTaken($0) ? .file : .nothing })
            let names = try ownership.names(for: request.source, policy: request.policy, candidates: request.candidates)
            try record(names.map(\.path), request, database)
            return names
        }
    }

    private func record(_ names: [BytePath], _ request: NameRequest, _ database: Database) throws {
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO names (outbox, name, source) VALUES (?, ?, ?)
                ON CONFLICT (outbox, name) DO UPDATE SET source = excluded.source WHERE source <> excluded.source
                """)
        for name in names { try insert.execute(arguments: [request.outbox.blob, name.blob, request.source.blob]) }
        // No path has a NUL in it.
        let joined = Data(names.map(\.bytes).joined(separator: [0]))
        try database.execute(sql: "UPDATE jobs SET names = ? WHERE id = ?", arguments: [joined, request.job.text])
    }

    package func kept(inbox: BytePath, path: BytePath) throws(LedgerError) -> KeptOriginal? {
        try look { database in
            let query = try database.cachedStatement(sql: "SELECT * FROM kept WHERE inbox = ? AND path = ?")
            return try Row.fetchOne(query, arguments: [inbox.blob, path.blob]).map { row in
                KeptOriginal(
                    observed: ObservedFile(row), recipe: row["recipe"], sha256: row["sha256"],
                    code: (row["code"] as String?).map { FailureCode(rawValue: $0) ?? .internal })
            }
        }
    }

    package func forgetKept(inbox: BytePath, paths: [BytePath]) throws(LedgerError) {
        try change { database in
            let delete = try database.cachedStatement(sql: "DELETE FROM kept WHERE inbox = ? AND path = ?")
            for path in paths { try delete.execute(arguments: [inbox.blob, path.blob]) }
        }
    }

    /// Notes that an original that stays in its inbox needs nothing more.
    func remember(_ job: Job, _ finished: FinishedJob, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO kept (inbox, path, device, inode, bytes, modified, recipe, sha256, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                job.inbox.blob, job.path.blob, Int64(bitPattern: job.observed.device), Int64(bitPattern: job.observed.inode), job.observed.bytes,
                job.observed.modified, finished.recipe, finished.sha256, job.failure?.code.rawValue,
            ])
    }
}
