// Inboxes whose name has changed in the mill file: what the ledger knows of them goes along.
import GRDB
import Pipeline

enum LedgerInboxes {
    private static let tables = [
        "jobs", "kept", "totals", "former_paths", "inboxes", "shelved", "pauses", "history", "hooks",
        "hook_losses",
    ]

    /// Inboxes that are gone from the mill file and keep their history, for the one that comes back.
    private static let keptHistories = 20

    /// Records where each inbox is. One that has its path and another name now takes its jobs, kept originals, totals
    /// and names along. If the new name belonged to another inbox, what is known of that goes under its path, as for
    /// every inbox that is no longer there.
    /// - Parameter running: names of inboxes under which lanes work at present: nothing gets or loses such a name.
    static func record(_ inboxes: [BytePath: String], running: Set<String>, _ database: Database) throws {
        let recorded = try Row.fetchAll(database, sql: "SELECT name, path FROM inboxes")
            .map { (name: $0["name"] as String, path: BytePath(blob: $0["path"])) }
        var renames: [String: String] = [:]
        for (name, path) in recorded {
            guard let new = inboxes[path], new != name, !running.contains(name) else { continue }
            // One that has moved here while it ran has the name already; what is known of the former one stays by its path.
            if recorded.contains(where: { $0.name == new && $0.path == path }) { continue }
            renames[name] = running.contains(new) ? path.text : new
        }
        let targets = Set(renames.values)
        for (name, path) in recorded where targets.contains(name) && renames[name] == nil { renames[name] = path.text }
        // By way of names that no inbox has, since two may have changed places.
        for old in renames.keys { try rename(old, to: "\u{1}" + old, database) }
        for (old, new) in renames { try rename("\u{1}" + old, to: new, database) }
        try database.execute(
            sql:
                "DELETE FROM former_paths WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.inbox = former_paths.inbox AND \(LedgerSchema.isOpen))"
        )
        for (path, name) in inboxes {
            // The spool may have been beside the inbox, and sources are in it still.
            try database.execute(
                sql:
                    "INSERT OR IGNORE INTO former_paths (inbox, path) SELECT name, path FROM inboxes WHERE name = ? AND path <> ?",
                arguments: [name, path.blob])
            try database.execute(
                sql:
                    "INSERT INTO inboxes (name, path) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET path = excluded.path WHERE path <> excluded.path",
                arguments: [name, path.blob])
        }
        try pruneHistories(besides: Set(inboxes.values), database)
    }

    /// They are counted: a time of day that is wrong removes nothing but the hours of an inbox that is gone for longest.
    private static func pruneHistories(besides names: Set<String>, _ database: Database) throws {
        let gone = try String.fetchAll(
            database, sql: "SELECT inbox FROM history GROUP BY inbox ORDER BY max(hour) DESC"
        ).filter { !names.contains($0) }
        for inbox in gone.dropFirst(keptHistories) {
            try database.execute(sql: "DELETE FROM history WHERE inbox = ?", arguments: [inbox])
        }
    }

    private static func rename(_ old: String, to new: String, _ database: Database) throws {
        for table in tables {
            let column = table == "inboxes" ? "name" : "inbox"
            try database.execute(
                sql: "UPDATE OR REPLACE \(table) SET \(column) = ? WHERE \(column) = ?", arguments: [new, old])
        }
        try database.renameOwners(from: BytePath(old), to: BytePath(new))
    }
}
