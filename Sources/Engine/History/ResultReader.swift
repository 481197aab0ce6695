// Reads earlier results from the record of the output folder, before a run, in one pass.
import FoundationEssentials
import GRDB
import Pipeline
import System

/// The result of a source in an earlier run. All of it comes from a file that others may have written to.
struct RecordedResult {
    let relative: BytePath
    /// The setup's number in the record.
    let setup: Int64
    /// As `Fingerprint` encodes it.
    let fingerprint: [UInt8]
    let outputs: [UInt8]
    /// Why it failed; nil if it did not.
    let failure: String?
    /// Its report with the status `skipped`; empty if there is none that can be used.
    let document: [UInt8]
}

/// An open record, as it is in the file.
struct ResultReader: Sendable {
    private let database: DatabaseQueue

    /// - Returns: nil if there is no record, or one that cannot be read: the run itself will say so.
    init?(_ location: OutboxLocation, isDryRun: Bool) {
        guard (try? FileSystem.status(location.record)).flatMap({ $0 }) != nil,
            let database = try? OutboxRecord.connect(location, isReadOnly: isDryRun),
            (try? database.read { try $0.tableExists("results") }) == true
        else { return nil }
        self.database = database
    }

    func close() { try? database.close() }

    /// The results of these sources in their order, nil for one that has none; all of them nil if the record is
    /// damaged.
    /// - Parameters:
    ///   - places: each source's place among all, from 0, by its identity in the record.
    ///   - count: of all sources.
    func results(of places: [BytePath: Int], count: Int) -> [RecordedResult?] {
        var results = [RecordedResult?](repeating: nil, count: count)
        let sql =
            "SELECT source, relative, setup, fingerprint, outputs, failure, document, json_valid(document) FROM results"
        do {
            try database.read { database in
                let rows = try Row.fetchCursor(database, sql: sql)
                while let row = try rows.next() {
                    guard let place = places[BytePath(row.bytes(0))] else { continue }
                    results[place] = RecordedResult(row)
                }
            }
            return results
        } catch {
            return results.map { _ in nil }
        }
    }

    /// The number of a setup; nil if nothing was done with it.
    func number(of setup: RunSetup) -> Int64? {
        try? database.read {
            try Int64.fetchOne($0, sql: "SELECT id FROM setups WHERE parts = ?", arguments: [json(setup)])
        }
    }

    func setup(_ number: Int64) -> RunSetup? {
        let parts = try? database.read {
            try String.fetchOne($0, sql: "SELECT parts FROM setups WHERE id = ?", arguments: [number])
        }
        return parts.flatMap { try? JSONDecoder().decode(RunSetup.self, from: Data($0.utf8)) }
    }

    /// The source that a name belongs to.
    func owner(of name: BytePath) -> BytePath? {
        let sql = "SELECT source FROM names WHERE name = ?"
        let owner = try? database.read { try Data.fetchOne($0, sql: sql, arguments: [Data(name.bytes)]) }
        return owner.map { BytePath([UInt8]($0)) }
    }
}

extension RecordedResult {
    fileprivate init(_ row: Row) {
        relative = BytePath(row.bytes(1))
        setup = Int64.fromDatabaseValue(row[2]) ?? 0
        fingerprint = row.bytes(3)
        outputs = row.bytes(4)
        failure = String.fromDatabaseValue(row[5])
        let document = row.bytes(6)
        let isObject = Int.fromDatabaseValue(row[7]) == 1 && document.first == UInt8(ascii: "{")
        self.document = isObject ? document : []
    }
}

extension Row {
    /// A column's bytes; none if it is null or a number.
    fileprivate func bytes(_ index: Int) -> [UInt8] {
        (try? withUnsafeData(atIndex: index) { $0.map { [UInt8]($0) } ?? [] }) ?? []
    }
}
