// All results in the record of an output folder, of whichever run.
import FoundationEssentials
import GRDB
import Pipeline

extension OutboxRecord {
    /// The result of each source that is in the record, in natural order.
    /// - Returns: the path of each from the output folder, and as its report has it; why it failed, or its report as
    ///   JSON.
    func results() throws(StoreError) -> [(
        source: BytePath, relative: BytePath, failure: String?, document: [UInt8]
    )] {
        do {
            let rows = try database.read { database in
                try Row.fetchAll(database, sql: "SELECT source, relative, failure, document FROM results")
            }
            func bytes(_ row: Row, _ index: Int) -> [UInt8] { (row[index] as Data?).map { [UInt8]($0) } ?? [] }
            let results: [(source: BytePath, relative: BytePath, failure: String?, document: [UInt8])] = rows.map {
                row in
                (BytePath(bytes(row, 0)), BytePath(bytes(row, 1)), row[2] as String?, bytes(row, 3))
            }
            return results.sorted { $0.source.precedes($1.source) }
        } catch {
            throw Self.storeError(error, "read", location)
        }
    }
}
