// The table `names`: the owner of each name in an outbox, and the contents that were last written there.
import FoundationEssentials
import GRDB
import Pipeline
import Synchronization

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

    /// Names in their order, of all outboxes.
    /// - Parameter outbox: the one of a table that has no column for it.
    func owned(
        after place: OwnedName?, limit: Int, in outbox: BytePath, _ database: Database
    ) throws -> [OwnedName] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT * FROM names WHERE (\(outboxColumn)name) > (\(hasOutboxes ? "?1, " : "")?2)
                    ORDER BY \(outboxColumn)name LIMIT ?3
                """)
        // Before the first: no name is empty.
        let none = BytePath([])
        let arguments: StatementArguments = [(place?.outbox ?? none).blob, (place?.name ?? none).blob, limit]
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            OwnedName(
                outbox: hasOutboxes ? BytePath(blob: row["outbox"]) : outbox, name: BytePath(blob: row["name"]),
                source: BytePath(blob: row["source"]), contentsText: row["contents"])
        }
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

/// Names whose contents the next change records: a transaction for each would cost as much as its rendition.
final class PendingNames: Sendable {
    private let names = Mutex<[OwnedName]>([])

    var isEmpty: Bool { names.withLock { $0.isEmpty } }

    func add(_ more: [OwnedName]) { names.withLock { $0 += more } }

    /// A name with the contents that are not recorded yet.
    func latest(_ owned: OwnedName) -> OwnedName {
        names.withLock { $0.last { $0.name == owned.name && $0.source == owned.source } } ?? owned
    }

    /// A change with all that is pending in it; if it fails, that is pending again.
    /// - Parameter change: takes it once the database is its own: of two that change a name, the later one must come
    ///   later in the file, too.
    func recording<Value>(_ change: (_ take: () -> [OwnedName]) throws -> Value) throws -> Value {
        var taken: [OwnedName] = []
        do {
            return try change {
                taken = names.withLock { names in
                    defer { names = [] }
                    return names
                }
                return taken
            }
        } catch {
            names.withLock { $0 = taken + $0 }
            throw error
        }
    }
}
