// The table `names`: the owner of each name in an outbox, and the contents that were last written there.
import FoundationEssentials
import GRDB
import Pipeline

/// The statements for the table. The ledger has names of all outboxes in it; the record of an output folder has those of
/// one, without a column for it.
struct NamesTable {
    let hasOutboxes: Bool

    // The arguments have one order in all statements: outbox, name, source, contents.
    private var outboxColumn: String { hasOutboxes ? "outbox, " : "" }
    private var isHere: String { hasOutboxes ? "outbox = ?1 AND " : "" }

    func names(of source: BytePath, in outbox: BytePath, _ database: Database) throws -> [BytePath] {
        let statement = try database.cachedStatement(sql: "SELECT name FROM names WHERE \(isHere)source = ?2")
        return try Data.fetchAll(statement, arguments: [outbox.blob, source.blob]).map { BytePath(blob: $0) }
    }

    func owners(
        of names: [BytePath], in outbox: BytePath, _ database: Database
    ) throws -> [BytePath: OwnedName] {
        let statement = try database.cachedStatement(
            sql: "SELECT source, contents FROM names WHERE \(isHere)name = ?2")
        return try names.reduce(into: [:]) { owners, name in
            owners[name] = try Row.fetchOne(statement, arguments: [outbox.blob, name.blob]).map { row in
                OwnedName(
                    outbox: outbox, name: name, source: BytePath(blob: row["source"]), contentsText: row["contents"])
            }
        }
    }

    /// Gives names to a source.
    /// - Parameter seen: owners who may lose a name.
    /// - Returns: the sources that have lost one; nil if somebody else owns one, and then nothing is changed.
    func claim(
        _ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath],
        _ database: Database
    ) throws -> Set<BytePath>? {
        let owners = try owners(of: names, in: outbox, database).mapValues(\.source)
        guard owners.allSatisfy({ $1 == source || $1 == seen[$0] }) else { return nil }
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO names (\(outboxColumn)name, source, contents) VALUES (\(hasOutboxes ? "?1, " : "")?2, ?3, '')
                    ON CONFLICT (\(outboxColumn)name) DO UPDATE SET source = excluded.source
                """)
        for name in names where owners[name] != source {
            try insert.execute(arguments: [outbox.blob, name.blob, source.blob])
        }
        return Set(owners.values).subtracting([source])
    }

    func record(_ contents: [OwnedName], _ database: Database) throws {
        guard !contents.isEmpty else { return }
        let update = try database.cachedStatement(
            sql: "UPDATE names SET contents = ?4 WHERE \(isHere)name = ?2 AND source = ?3")
        for name in contents {
            try update.execute(arguments: [name.outbox.blob, name.name.blob, name.source.blob, name.contentsText])
        }
    }

    func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath, _ database: Database) throws {
        let delete = try database.cachedStatement(
            sql: "DELETE FROM names WHERE \(isHere)name = ?2 AND source = ?3")
        for name in names { try delete.execute(arguments: [outbox.blob, name.blob, source.blob]) }
    }
}
