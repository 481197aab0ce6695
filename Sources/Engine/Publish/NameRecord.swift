// Which source owns which name in the output folder: kept in OUT/.imagemill/names.sqlite, written before the rename.
import FoundationEssentials
import GRDB
import Pipeline

/// Names that a source may write.
struct ClaimedNames {
    let names: [RenditionName]
    /// The sources that they belonged to before.
    var losers: [BytePath] = []
}

/// The record of names. Used from one thread at a time; several processes may share the file.
final class NameRecord {
    private let database: DatabaseQueue

    init(_ database: DatabaseQueue) { self.database = database }

    /// Finds names that a source may write, and records them as its own.
    /// - Parameters:
    ///   - source: the source's identity.
    ///   - candidates: the names of all its renditions at a version, 1 and up.
    ///   - occupant: what stands at a name.
    func claim(
        for source: BytePath, policy: CollisionPolicy, candidates: (_ version: Int) throws(PlanFailure) -> [RenditionName],
        occupant: @escaping (BytePath) -> Occupant
    ) throws -> ClaimedNames {
        try database.write { database in
            let owner = { name in try self.owner(of: name, database) }
            let names = try NameOwnership(owner: owner, occupant: occupant).names(for: source, policy: policy, candidates: candidates)
            let losers = policy == .overwrite ? try names.compactMap { try owner($0.path) }.filter { $0 != source } : []
            try record(names, source, database)
            return ClaimedNames(names: names, losers: losers)
        }
    }

    private func owner(of name: BytePath, _ database: Database) throws -> BytePath? {
        let owner = try database.cachedStatement(sql: "SELECT source FROM names WHERE name = ?")
        return try Data.fetchOne(owner, arguments: [Data(name.bytes)]).map { BytePath([UInt8]($0)) }
    }

    private func record(_ names: [RenditionName], _ source: BytePath, _ database: Database) throws {
        let insert = try database.cachedStatement(
            sql: "INSERT INTO names (name, source) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET source = excluded.source")
        for name in names { try insert.execute(arguments: [Data(name.path.bytes), Data(source.bytes)]) }
    }
}

/// Whether the record could not be written for want of room.
func isDiskFull(_ error: any Error) -> Bool { (error as? DatabaseError)?.resultCode == .SQLITE_FULL }
