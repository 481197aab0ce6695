// The names of renditions in the ledger.
package import Pipeline
import Postgres

extension PostgresLedger {
    package func names(of source: BytePath, in outbox: BytePath) throws(StoreError) -> [BytePath] {
        try pool.run(
            "SELECT name FROM names WHERE outbox = $1 AND source = $2", [.bytes(outbox.bytes), .bytes(source.bytes)]
        ).compactMap { $0.bytes(0).map { BytePath($0) } }
    }

    package func owners(of names: [BytePath], in outbox: BytePath) throws(StoreError) -> [BytePath: OwnedName] {
        let rows = try pool.run(
            "SELECT outbox, name, source, contents FROM names WHERE outbox = $1 AND name = ANY($2::bytea[])",
            [.bytes(outbox.bytes), .manyBytes(names.map(\.bytes))])
        return Dictionary(uniqueKeysWithValues: rows.compactMap { OwnedName($0) }.map { ($0.name, $0) })
    }

    package func claim(
        _ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath]
    ) throws(StoreError) -> Bool {
        // In one order, so that no two claims wait for each other.
        let names = Set(names).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        let here = [PostgresValue.bytes(outbox.bytes), .manyBytes(names.map(\.bytes)), .bytes(source.bytes)]
        // The usual case: all names are new. This commit does not wait for the disk; that of `record` does, for both.
        let new = try pool.run(
            """
            WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
            INSERT INTO names (outbox, name, source, contents) SELECT $1, unnest($2::bytea[]), $3, '' FROM quick
            WHERE NOT EXISTS (SELECT 1 FROM names WHERE outbox = $1 AND name = ANY($2::bytea[]) AND source <> $3)
            ON CONFLICT DO NOTHING RETURNING name
            """, here
        ).compactMap { $0.bytes(0).map { BytePath($0) } }
        if new.count == names.count { return true }
        return try claimRest(of: names, for: source, in: outbox, seen: seen, new)
    }

    /// Claims names of which some have an owner.
    /// - Parameter new: those that were claimed already. They are freed if the source does not get all.
    private func claimRest(
        of names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath], _ new: [BytePath]
    ) throws(StoreError) -> Bool {
        try pool.transaction { connection, _ in
            try connection.run("SAVEPOINT claim")
            try connection.run(
                """
                INSERT INTO names (outbox, name, source, contents) SELECT $1, unnest($2::bytea[]), $3, ''
                ON CONFLICT DO NOTHING
                """, [.bytes(outbox.bytes), .manyBytes(names.map(\.bytes)), .bytes(source.bytes)])
            let owned = try connection.run(
                """
                SELECT outbox, name, source, contents FROM names WHERE outbox = $1 AND name = ANY($2::bytea[])
                ORDER BY name FOR UPDATE
                """, [.bytes(outbox.bytes), .manyBytes(names.map(\.bytes))]
            ).compactMap { OwnedName($0) }
            let others = owned.filter { $0.source != source }
            // One that somebody has freed just now is claimed anew.
            guard owned.count == names.count, others.allSatisfy({ $0.source == seen[$0.name] }) else {
                try connection.run("ROLLBACK TO SAVEPOINT claim")
                try connection.run(
                    "DELETE FROM names WHERE outbox = $1 AND name = ANY($2::bytea[]) AND source = $3",
                    [.bytes(outbox.bytes), .manyBytes(new.map(\.bytes)), .bytes(source.bytes)])
                return false
            }
            if !others.isEmpty {
                try connection.run(
                    "UPDATE names SET source = $3 WHERE outbox = $1 AND name = ANY($2::bytea[])",
                    [.bytes(outbox.bytes), .manyBytes(others.map(\.name.bytes)), .bytes(source.bytes)])
            }
            return true
        }
    }

    /// One transaction that waits for the disk brings all there that was committed before it, claims too.
    package func record(_ names: [OwnedName], areNoted: Bool) throws(StoreError) {
        guard !names.isEmpty else { return }
        // In one order, so that no two wait for each other.
        let names = names.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }
        try pool.change(
            """
            UPDATE names SET contents = CASE WHEN new.is_known THEN new.contents END
            FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::text[], $5::boolean[])
                AS new (outbox, name, source, contents, is_known)
            WHERE names.outbox = new.outbox AND names.name = new.name AND names.source = new.source
            """,
            [
                .manyBytes(names.map(\.outbox.bytes)), .manyBytes(names.map(\.name.bytes)),
                .manyBytes(names.map(\.source.bytes)), .texts(names.map { $0.contentsText ?? "" }),
                .texts(names.map { $0.contentsText == nil ? "f" : "t" }),
            ])
    }

    package func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath) throws(StoreError) {
        try pool.change(
            "DELETE FROM names WHERE outbox = $1 AND name = ANY($2::bytea[]) AND source = $3",
            [.bytes(outbox.bytes), .manyBytes(names.map(\.bytes)), .bytes(source.bytes)])
    }

    package func idle(_ names: [OwnedName]) throws(StoreError) -> (names: [OwnedName], latest: Int) {
        try look { connection in
            try connection.run("SELECT pg_advisory_xact_lock(\(Self.offers))")
            let latest = try connection.run("SELECT coalesce(max(number), 0) FROM jobs").first?.integer(0) ?? 0
            let idle = try names.filter { name in
                let (inbox, path) = Job.inboxAndPath(of: name.source)
                return try connection.run(
                    "SELECT 1 FROM jobs WHERE inbox = $1 AND path = $2 AND \(PostgresSchema.isOpen)",
                    [.text(inbox), .bytes(path.bytes)]
                ).count == 0
            }
            return (idle, latest)
        }
    }

    package func release(_ names: [OwnedName], unlessJobsAfter latest: Int) throws(StoreError) {
        try pool.transaction { connection, _ in
            for name in names.sorted(by: { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }) {
                let (inbox, path) = Job.inboxAndPath(of: name.source)
                try connection.run(
                    """
                    DELETE FROM names WHERE outbox = $1 AND name = $2 AND source = $3
                        AND NOT EXISTS (SELECT 1 FROM jobs WHERE inbox = $4 AND path = $5 AND \(PostgresSchema.isOpen))
                        AND NOT EXISTS (SELECT 1 FROM jobs WHERE number > $6 AND inbox = $4 AND path = $5)
                    """,
                    [
                        .bytes(name.outbox.bytes), .bytes(name.name.bytes), .bytes(name.source.bytes), .text(inbox),
                        .bytes(path.bytes), .integer(latest),
                    ])
            }
        }
    }

    package func ownedNames(after place: OwnedName?, limit: Int) throws(StoreError) -> [OwnedName] {
        // Before the first: no name is empty.
        let (outbox, name) = (place?.outbox.bytes ?? [], place?.name.bytes ?? [])
        return try pool.run(
            """
            SELECT outbox, name, source, contents FROM names WHERE (outbox, name) > ($1, $2)
            ORDER BY outbox, name LIMIT $3
            """, [.bytes(outbox), .bytes(name), .integer(limit)]
        ).compactMap { OwnedName($0) }
    }
}

extension OwnedName {
    /// - Parameter row: outbox, name, source, contents.
    fileprivate init?(_ row: PostgresRow) {
        guard let outbox = row.bytes(0), let name = row.bytes(1), let source = row.bytes(2) else { return nil }
        self.init(
            outbox: BytePath(outbox), name: BytePath(name), source: BytePath(source), contentsText: row.text(3))
    }
}
