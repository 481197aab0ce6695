// The names in the ledger: the source that owns each name in each outbox.
import FoundationEssentials
import GRDB
package import Pipeline

extension SQLiteLedger {
    static let names = NamesTable(hasOutboxes: true)

    package func names(of source: BytePath, in outbox: BytePath) throws(StoreError) -> [BytePath] {
        try look { try Self.names.names(of: source, in: outbox, $0) }
    }

    package func owners(of names: [BytePath], in outbox: BytePath) throws(StoreError) -> [BytePath: OwnedName] {
        try lookAtNames { try Self.names.owners(of: names, in: outbox, $0) }
    }

    package func claim(
        _ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath]
    ) throws(StoreError) -> Bool {
        try claim { try Self.names.claim(names, for: source, in: outbox, seen: seen, $0) != nil }
    }

    package func record(_ names: [OwnedName], areNoted: Bool) throws(StoreError) {
        if areNoted { recordLater(names) } else { try change { try Self.names.record(names, $0) } }
        try syncClaims()
    }

    /// With the contents that are not recorded yet.
    private func lookAtNames<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
        hasPending ? try change(body) : try look(body)
    }

    package func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath) throws(StoreError) {
        try change { try Self.names.release(names, of: source, in: outbox, $0) }
    }

    package func idle(_ names: [OwnedName]) throws(StoreError) -> (names: [OwnedName], latest: Int) {
        try look { database in
            let latest = try Int.fetchOne(database, sql: "SELECT max(number) FROM jobs") ?? 0
            let statement = try database.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM jobs WHERE inbox = ? AND path = ? AND \(LedgerSchema.isOpen))")
            let idle = try names.filter { name in
                let (inbox, path) = Job.inboxAndPath(of: name.source)
                return try Bool.fetchOne(statement, arguments: [inbox, path.blob]) == false
            }
            return (idle, latest)
        }
    }

    package func release(_ names: [OwnedName], unlessJobsAfter latest: Int) throws(StoreError) {
        try change { database in
            let delete = try database.cachedStatement(
                sql: """
                    DELETE FROM names WHERE outbox = ?1 AND name = ?2 AND source = ?3
                        AND NOT EXISTS (SELECT 1 FROM jobs WHERE inbox = ?4 AND path = ?5 AND \(LedgerSchema.isOpen))
                        AND NOT EXISTS (SELECT 1 FROM jobs WHERE number > ?6 AND inbox = ?4 AND path = ?5)
                    """)
            for name in names {
                let (inbox, path) = Job.inboxAndPath(of: name.source)
                try delete.execute(arguments: [
                    name.outbox.blob, name.name.blob, name.source.blob, inbox, path.blob, latest,
                ])
            }
        }
    }

    package func ownedNames(after place: OwnedName?, limit: Int) throws(StoreError) -> [OwnedName] {
        try lookAtNames { try Self.names.owned(after: place, limit: limit, in: BytePath([]), $0) }
    }
}
