// What is in `done/` and `failed/`, and since when, kept in the ledger.
import FoundationEssentials
import GRDB
import Pipeline

/// What the ledger knows of a folder of originals whose retention has a bound.
///
/// A file's own times say nothing about its age: they come from a clock that may have been wrong, or from that of
/// another machine. So an original's age begins when it is first found in the folder. If the ledger is lost, all ages
/// begin anew.
package struct ShelfRecord: Sendable {
    /// A picture, or the folder of a set.
    struct Item: Equatable, Sendable {
        /// Its path from the folder.
        let path: BytePath
        /// Tells whether it is still the same: the file's time of change.
        let changed: Int
        let bytes: Int
    }

    let store: SQLiteJobStore
    let inbox: String
    /// The name of the folder.
    let shelf: String

    package init(_ store: SQLiteJobStore, inbox: String, shelf: String) {
        (self.store, self.inbox, self.shelf) = (store, inbox, shelf)
    }

    private static let isHere = "inbox = ? AND shelf = ?"
    private var here: StatementArguments { [inbox, shelf] }

    /// The ledger's time. It is recorded, so that a restart of the machine makes nothing younger by much.
    func recordedNow() throws(StoreError) -> Int {
        try store.change { try store.clock.record($0) }
        return store.now
    }

    /// The recorded paths after another one, in their order.
    func paths(after path: BytePath?, limit: Int) throws(StoreError) -> [BytePath] {
        try store.look { database in
            try Data.fetchAll(
                database, sql: "SELECT path FROM shelved WHERE \(Self.isHere) AND path > ? ORDER BY path LIMIT ?",
                arguments: here + [(path ?? BytePath([])).blob, limit]
            ).map { BytePath(blob: $0) }
        }
    }

    /// When these items were changed as they were recorded; an item that is not recorded is missing.
    func changes(of paths: [BytePath]) throws(StoreError) -> [BytePath: Int] {
        try store.look { database in
            let statement = try database.cachedStatement(
                sql: "SELECT changed FROM shelved WHERE \(Self.isHere) AND path = ?")
            return try paths.reduce(into: [:]) { found, path in
                found[path] = try Int.fetchOne(statement, arguments: here + [path.blob])
            }
        }
    }

    /// Records items that are new, or were changed: their age begins.
    func add(_ items: [Item], since now: Int) throws(StoreError) {
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

    /// The items that have been there for longest, and since when. Of those that were found together, the first changed
    /// come first.
    /// - Parameter last: the item after which the list begins; nil for all.
    func oldest(after last: (item: Item, since: Int)? = nil, limit: Int) throws(StoreError) -> [(
        item: Item, since: Int
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
                (Item(path: BytePath(blob: row["path"]), changed: row["changed"], bytes: row["bytes"]), row["since"])
            }
        }
    }

    /// The bytes of all items.
    func bytes() throws(StoreError) -> Int {
        try store.look {
            try Int.fetchOne($0, sql: "SELECT sum(bytes) FROM shelved WHERE \(Self.isHere)", arguments: here) ?? 0
        }
    }
}
