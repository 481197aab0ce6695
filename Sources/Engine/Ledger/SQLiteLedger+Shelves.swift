// The originals in `done/` and `failed/`, and their ages, in the ledger.
import FoundationEssentials
import GRDB
import Pipeline

extension SQLiteLedger {
    package func shelf(_ name: String, of inbox: String) -> any ShelfRecord {
        SQLiteShelf(store: self, inbox: inbox, shelf: name)
    }
}

private struct SQLiteShelf: ShelfRecord {
    let store: SQLiteLedger
    let inbox: String
    let shelf: String

    private static let isHere = "inbox = ? AND shelf = ?"
    private var here: StatementArguments { [inbox, shelf] }

    func recordedNow() throws(StoreError) -> Int {
        try store.change { try store.clock.record(in: $0) }
        return store.now
    }

    func paths(after path: BytePath?, limit: Int) throws(StoreError) -> [BytePath] {
        try store.look { database in
            try Data.fetchAll(
                database, sql: "SELECT path FROM shelved WHERE \(Self.isHere) AND path > ? ORDER BY path LIMIT ?",
                arguments: here + [(path ?? BytePath([])).blob, limit]
            ).map { BytePath(blob: $0) }
        }
    }

    func changes(of paths: [BytePath]) throws(StoreError) -> [BytePath: Int] {
        try store.look { database in
            let statement = try database.cachedStatement(
                sql: "SELECT changed FROM shelved WHERE \(Self.isHere) AND path = ?")
            return try paths.reduce(into: [:]) { found, path in
                found[path] = try Int.fetchOne(statement, arguments: here + [path.blob])
            }
        }
    }

    func add(_ items: [ShelvedItem], since now: Int) throws(StoreError) {
        guard !items.isEmpty else { return }
        try store.change { database in
            let statement = try database.cachedStatement(
                sql:
                    "INSERT OR REPLACE INTO shelved (inbox, shelf, path, changed, bytes, since) VALUES (?, ?, ?, ?, ?, ?)"
            )
            for item in items {
                try statement.execute(arguments: here + [item.path.blob, item.changed, item.bytes, now])
            }
        }
    }

    func remove(_ paths: [BytePath]) throws(StoreError) {
        guard !paths.isEmpty else { return }
        try store.change { database in
            let statement = try database.cachedStatement(sql: "DELETE FROM shelved WHERE \(Self.isHere) AND path = ?")
            for path in paths { try statement.execute(arguments: here + [path.blob]) }
        }
    }

    func oldest(after last: (item: ShelvedItem, since: Int)?, limit: Int) throws(StoreError) -> [(
        item: ShelvedItem, since: Int
    )] {
        let (since, changed, path) =
            last.map { ($0.since, $0.item.changed, $0.item.path) } ?? (.min, .min, BytePath([]))
        return try store.look { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM shelved WHERE \(Self.isHere) AND (since, changed, path) > (?, ?, ?)
                    ORDER BY since, changed, path LIMIT ?
                    """,
                arguments: here + [since, changed, path.blob, limit]
            ).map { row in
                (
                    ShelvedItem(path: BytePath(blob: row["path"]), changed: row["changed"], bytes: row["bytes"]),
                    row["since"]
                )
            }
        }
    }

    func bytes() throws(StoreError) -> Int {
        try store.look {
            try Int.fetchOne($0, sql: "SELECT sum(bytes) FROM shelved WHERE \(Self.isHere)", arguments: here) ?? 0
        }
    }
}
