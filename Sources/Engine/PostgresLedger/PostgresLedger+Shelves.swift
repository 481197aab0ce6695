// The originals in `done/` and `failed/`, and their ages, in the ledger.
import Pipeline
import Postgres

extension PostgresLedger {
    package func shelf(_ name: String, of inbox: String) -> any ShelfRecord {
        PostgresShelf(pool: pool, inbox: inbox, shelf: name)
    }
}

private struct PostgresShelf: ShelfRecord {
    let pool: PostgresPool
    let inbox: String
    let shelf: String

    private static let isHere = "inbox = $1 AND shelf = $2"
    private var here: [PostgresValue?] { [.text(inbox), .text(shelf)] }

    func recordedNow() throws(StoreError) -> Int {
        try pool.run("SELECT \(PostgresSchema.now)").first?.integer(0) ?? 0
    }

    func paths(after path: BytePath?, limit: Int) throws(StoreError) -> [BytePath] {
        try pool.run(
            "SELECT path FROM shelved WHERE \(Self.isHere) AND path > $3 ORDER BY path LIMIT $4",
            here + [.bytes(path?.bytes ?? []), .integer(limit)]
        ).compactMap { $0.bytes(0).map { BytePath($0) } }
    }

    func changes(of paths: [BytePath]) throws(StoreError) -> [BytePath: Int] {
        let rows = try pool.run(
            "SELECT path, changed FROM shelved WHERE \(Self.isHere) AND path = ANY($3::bytea[])",
            here + [.manyBytes(paths.map(\.bytes))])
        return rows.reduce(into: [:]) { found, row in
            if let path = row.bytes(0) { found[BytePath(path)] = row.integer(1) }
        }
    }

    func add(_ items: [ShelvedItem], since now: Int) throws(StoreError) {
        guard !items.isEmpty else { return }
        try pool.change(
            """
            INSERT INTO shelved (inbox, shelf, path, changed, bytes, since)
            SELECT $1, $2, path, changed, bytes, $6 FROM unnest($3::bytea[], $4::bigint[], $5::bigint[])
                AS new (path, changed, bytes)
            ON CONFLICT (inbox, shelf, path)
                DO UPDATE SET changed = excluded.changed, bytes = excluded.bytes, since = excluded.since
            """,
            here + [
                .manyBytes(items.map(\.path.bytes)), .integers(items.map(\.changed)), .integers(items.map(\.bytes)),
                .integer(now),
            ])
    }

    func remove(_ paths: [BytePath]) throws(StoreError) {
        guard !paths.isEmpty else { return }
        try pool.change(
            "DELETE FROM shelved WHERE \(Self.isHere) AND path = ANY($3::bytea[])",
            here + [.manyBytes(paths.map(\.bytes))])
    }

    func oldest(after last: (item: ShelvedItem, since: Int)?, limit: Int) throws(StoreError) -> [(
        item: ShelvedItem, since: Int
    )] {
        let (since, changed, path) =
            last.map { ($0.since, $0.item.changed, $0.item.path.bytes) } ?? (.min, .min, [])
        return try pool.run(
            """
            SELECT path, changed, bytes, since FROM shelved WHERE \(Self.isHere) AND (since, changed, path) > ($3, $4, $5)
            ORDER BY since, changed, path LIMIT $6
            """, here + [.integer(since), .integer(changed), .bytes(path), .integer(limit)]
        ).compactMap { row in
            guard let path = row.bytes(0), let changed = row.integer(1), let bytes = row.integer(2),
                let since = row.integer(3)
            else { return nil }
            return (ShelvedItem(path: BytePath(path), changed: changed, bytes: bytes), since)
        }
    }

    func bytes() throws(StoreError) -> Int {
        try pool.run("SELECT coalesce(sum(bytes), 0)::bigint FROM shelved WHERE \(Self.isHere)", here).first?.integer(0)
            ?? 0
    }
}
