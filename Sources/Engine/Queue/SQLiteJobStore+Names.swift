// Which source owns which name in which outbox, in the ledger.
import FoundationEssentials
import GRDB
package import Pipeline

extension SQLiteJobStore {
    package func names(of source: BytePath, in outbox: BytePath) throws(StoreError) -> [BytePath] {
        try look { database in
            let statement = try database.cachedStatement(sql: "SELECT name FROM names WHERE outbox = ? AND source = ?")
            return try Data.fetchAll(statement, arguments: [outbox.blob, source.blob]).map { BytePath(blob: $0) }
        }
    }

    package func owners(of names: [BytePath], in outbox: BytePath) throws(StoreError) -> [BytePath: BytePath] {
        try look { try $0.owners(of: names, in: outbox) }
    }

    package func claim(
        _ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath]
    ) throws(StoreError) -> Bool {
        try change { database in
            let owners = try database.owners(of: names, in: outbox)
            guard owners.allSatisfy({ name, owner in owner == source || owner == seen[name] }) else { return false }
            let insert = try database.cachedStatement(
                sql:
                    "INSERT INTO names (outbox, name, source) VALUES (?, ?, ?) ON CONFLICT (outbox, name) DO UPDATE SET source = excluded.source"
            )
            for name in names where owners[name] != source {
                try insert.execute(arguments: [outbox.blob, name.blob, source.blob])
            }
            return true
        }
    }

    package func release(_ names: [BytePath], in outbox: BytePath) throws(StoreError) {
        try change { database in
            let delete = try database.cachedStatement(sql: "DELETE FROM names WHERE outbox = ? AND name = ?")
            for name in names { try delete.execute(arguments: [outbox.blob, name.blob]) }
        }
    }

    package func ownedNames(after place: OwnedName?, limit: Int) throws(StoreError) -> [OwnedName] {
        try look { database in
            let statement = try database.cachedStatement(
                sql:
                    "SELECT outbox, name, source FROM names WHERE (outbox, name) > (?, ?) ORDER BY outbox, name LIMIT ?"
            )
            // Before the first: no name is empty.
            let arguments: StatementArguments = [
                (place?.outbox ?? BytePath([])).blob, (place?.name ?? BytePath([])).blob, limit,
            ]
            return try Row.fetchAll(statement, arguments: arguments).map { row in
                OwnedName(
                    outbox: BytePath(blob: row["outbox"]), name: BytePath(blob: row["name"]),
                    source: BytePath(blob: row["source"]))
            }
        }
    }
}

extension Database {
    fileprivate func owners(of names: [BytePath], in outbox: BytePath) throws -> [BytePath: BytePath] {
        let statement = try cachedStatement(sql: "SELECT source FROM names WHERE outbox = ? AND name = ?")
        return try names.reduce(into: [:]) { owners, name in
            owners[name] = try Data.fetchOne(statement, arguments: [outbox.blob, name.blob]).map { BytePath(blob: $0) }
        }
    }
}
