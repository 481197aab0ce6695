// A job as a row of the ledger: the one place that knows the columns of `jobs`.
import FoundationEssentials
import GRDB
import Pipeline
import System

/// The columns of a job, in the order in which they are read: GRDB would look for each name among all of them, letter
/// by letter, and every change of a job reads it first.
private enum Column: Int, CaseIterable {
    case number, id, inbox, path, isSet, device, inode, bytes, modified, originals, state, attempts, ends, notBefore
    case code, stage, message, detail, recipe, offered, changed, owner, token, leaseUntil
    /// The report, which has a table of its own.
    case document

    var name: String {
        switch self {
        case .isSet: "is_set"
        case .notBefore: "not_before"
        case .leaseUntil: "lease_until"
        default: "\(self)"
        }
    }

    /// The columns that never change in a job's row.
    static let constant: [Column] = [.id, .inbox, .path, .offered]
    /// Those that can.
    static let changing: [Column] = allCases.filter { !([.number, .document] + constant).contains($0) }

    static func list(_ columns: [Column]) -> String { columns.map(\.name).joined(separator: ", ") }
}

// Made once: a job's row is read and written five times.
private let selection =
    "SELECT \(Column.list(Column.allCases)) FROM jobs LEFT JOIN reports ON reports.job = jobs.number"
private let insertion = Column.constant + Column.changing
private let newRow =
    "INSERT INTO jobs (\(Column.list(insertion))) VALUES (\(databaseQuestionMarks(count: insertion.count)))"
private let changes =
    "UPDATE jobs SET \(Column.changing.map { $0.name + " = ?" }.joined(separator: ", ")) WHERE id = ? AND token IS ?"

extension Row {
    fileprivate subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: Column) -> Value {
        self[column.rawValue]
    }
}

// MARK: - Reading

extension Database {
    func records(_ condition: String, _ arguments: StatementArguments) throws -> [JobRecord] {
        let statement = try cachedStatement(sql: "\(selection) WHERE \(condition)")
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        var records: [JobRecord] = []
        while let row = try rows.next() {
            if let record = JobRecord(row) { records.append(record) }
        }
        return records
    }

    func record(_ condition: String, _ arguments: StatementArguments) throws -> JobRecord? {
        try records(condition, arguments).first
    }
}

extension JobRecord {
    /// - Returns: nil for a row that this program did not write.
    fileprivate init?(_ row: Row) {
        guard let id = JobID(Array((row[.id] as String).utf8)), let state = JobState(rawValue: row[.state]),
            let originals = OriginalPolicy(rawValue: row[.originals])
        else { return nil }
        let progress = JobProgress(
            state, attempts: row[.attempts], ends: row[.ends], notBefore: row[.notBefore], failure: Failure(row))
        let job = Job(
            id: id, inbox: row[.inbox], path: BytePath(blob: row[.path]), isSet: row[.isSet],
            observed: FileVersion(
                signedDevice: row[.device], signedInode: row[.inode], bytes: row[.bytes], modified: row[.modified]),
            originals: originals, progress: progress, recipe: row[.recipe],
            report: (row[.document] as Data?).map { [UInt8]($0) }, offered: row[.offered], changed: row[.changed])
        self.init(job: job, number: row[.number], hold: Hold(row))
    }
}

extension Hold {
    fileprivate init?(_ row: Row) {
        guard let owner = row[.owner] as String?, let token = row[.token] as String?,
            let until = row[.leaseUntil] as Int?
        else { return nil }
        self.init(owner: owner, token: token, until: until)
    }
}

extension Failure {
    fileprivate init?(_ row: Row) {
        guard let word = row[.code] as String? else { return nil }
        // A code of another version is a failure all the same.
        self.init(
            FailureCode(rawValue: word) ?? .internal, stage: row[.stage] ?? "", row[.message] ?? "",
            detail: row[.detail])
    }
}

extension FileVersion {
    /// As SQLite has its numbers, which have a sign.
    init(signedDevice device: Int64, signedInode inode: Int64, bytes: Int, modified: Int) {
        self.init(
            device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode), bytes: bytes, modified: modified)
    }
}

// MARK: - Writing

extension JobRecord {
    private func value(of column: Column) -> (any DatabaseValueConvertible)? {
        switch column {
        case .number: number
        case .id: job.id.text
        case .inbox: job.inbox
        case .path: job.path.blob
        case .isSet: job.isSet
        case .device: Int64(bitPattern: job.observed.identity.device)
        case .inode: Int64(bitPattern: job.observed.identity.inode)
        case .bytes: job.observed.stamp.bytes
        case .modified: job.observed.stamp.modified
        case .originals: job.originals.rawValue
        case .state: job.progress.state.rawValue
        case .attempts: job.progress.attempts
        case .ends: job.progress.ends
        case .notBefore: job.progress.notBefore
        case .code: job.progress.failure?.code.rawValue
        case .stage: job.progress.failure?.stage
        case .message: job.progress.failure?.message
        case .detail: job.progress.failure?.detail
        case .recipe: job.recipe
        case .offered: job.offered
        case .changed: job.changed
        case .owner: hold?.owner
        case .token: hold?.token
        case .leaseUntil: hold?.until
        case .document: job.report.map { Data($0) }
        }
    }

    func insert(in database: Database) throws {
        try database.cachedStatement(sql: newRow).execute(arguments: StatementArguments(insertion.map(value)))
    }

    /// Writes what can change.
    /// - Parameter token: of the lease that was read with the row.
    func update(in database: Database, token: String?) throws {
        let values = Column.changing.map(value) + [job.id.text, token]
        try database.cachedStatement(sql: changes).execute(arguments: StatementArguments(values))
    }
}
