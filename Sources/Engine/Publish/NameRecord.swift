// Which source owns which name in the output folder: kept in OUT/.imagemill/names.sqlite, written before the rename.
import FoundationEssentials
import GRDB
import Pipeline

/// What stands at a name that no source owns.
enum Occupant {
    case nothing
    /// A file that Imagemill did not write.
    case file
    /// A source of this run.
    case source
}

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
        occupant: (BytePath) -> Occupant
    ) throws -> ClaimedNames {
        try database.write { database in
            for version in 1... {
                let names = try candidates(version)
                guard let obstacle = try obstacle(to: names, source, database, occupant) else {
                    try record(names, source, database)
                    return ClaimedNames(names: names)
                }
                switch policy {
                case .version: continue
                // A source is never written over: it would be lost.
                case .overwrite where names.contains { occupant($0.path) == .source }: continue
                case .overwrite:
                    let losers = try owners(of: names, database).filter { $0 != source }
                    try record(names, source, database)
                    return ClaimedNames(names: names, losers: losers)
                case .fail: throw Failure(.nameTaken, stage: "publish", obstacle)
                }
            }
            preconditionFailure("there is no largest version")
        }
    }

    /// Why the names cannot all be this source's: the first reason, as a sentence.
    private func obstacle(to names: [RenditionName], _ source: BytePath, _ database: Database, _ occupant: (BytePath) -> Occupant) throws -> String? {
        let owner = try database.cachedStatement(sql: "SELECT source FROM names WHERE name = ?")
        for name in names {
            let owner = try Row.fetchOne(owner, arguments: [Data(name.path.bytes)])
            if let owner {
                let bytes = [UInt8](owner["source"] as Data)
                if bytes != source.bytes { return "the name '\(name.path.printable)' belongs to '\(BytePath(bytes).printable)'" }
            } else if !name.isThumbnail && occupant(name.path) != .nothing {
                return "a file that Imagemill did not write stands at '\(name.path.printable)'"
            }
        }
        return nil
    }

    private func owners(of names: [RenditionName], _ database: Database) throws -> [BytePath] {
        let owner = try database.cachedStatement(sql: "SELECT source FROM names WHERE name = ?")
        return try names.compactMap { name in
            try Data.fetchOne(owner, arguments: [Data(name.path.bytes)]).map { BytePath([UInt8]($0)) }
        }
    }

    private func record(_ names: [RenditionName], _ source: BytePath, _ database: Database) throws {
        let insert = try database.cachedStatement(
            sql: "INSERT INTO names (name, source) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET source = excluded.source")
        for name in names { try insert.execute(arguments: [Data(name.path.bytes), Data(source.bytes)]) }
    }
}

/// Whether the record could not be written for want of room.
func isDiskFull(_ error: any Error) -> Bool { (error as? DatabaseError)?.resultCode == .SQLITE_FULL }
