// A job as a row of the ledger in PostgreSQL: the one place that knows the columns of its `jobs`.
import Pipeline
import Postgres
import System

/// The columns of a job, in the order in which they are read and written.
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

    var type: String {
        switch self {
        case .isSet: "boolean"
        case .path, .document: "bytea"
        case .number, .device, .inode, .bytes, .modified, .attempts, .ends, .notBefore, .offered, .changed, .leaseUntil:
            "bigint"
        case .id, .inbox, .originals, .state, .code, .stage, .message, .detail, .recipe, .owner, .token: "text"
        }
    }

    /// The columns that can change in a job's row.
    static let changing: [Column] = allCases.filter {
        ![.number, .document, .id, .inbox, .path, .offered].contains($0)
    }
    static let inserted: [Column] = [.id, .inbox, .path, .offered] + changing

    static func list(_ columns: [Column]) -> String { columns.map(\.name).joined(separator: ", ") }
}

// Made once: a job's row is read and written five times.
private let selection =
    "SELECT \(Column.list(Column.allCases)) FROM jobs LEFT JOIN reports ON reports.job = jobs.number"

// MARK: - Reading

extension PostgresConnection {
    func records(_ condition: String, _ parameters: [PostgresValue?]) throws -> [JobRecord] {
        try run("\(selection) WHERE \(condition)", parameters).compactMap(JobRecord.init)
    }

    /// Records, locked until the transaction ends. They are read after they are locked: a statement that waits for a
    /// lock sees the row as it is then, and its report as it was before.
    /// - Parameter order: that of the result, in which rows are locked.
    func locked(
        _ condition: String, _ parameters: [PostgresValue?], order: String = "number", passingOver: Bool = false
    ) throws -> [JobRecord] {
        let numbers = try run(
            "SELECT number FROM jobs WHERE \(condition) FOR UPDATE\(passingOver ? " SKIP LOCKED" : "")", parameters
        ).compactMap { $0.integer(0) }
        guard !numbers.isEmpty else { return [] }
        return try records("number = ANY($1::bigint[]) ORDER BY \(order)", [.integers(numbers)])
    }

    /// The records of jobs, locked in an order in which no two transactions wait for each other.
    func locked(_ ids: [JobID]) throws -> [JobID: JobRecord] {
        let found = try locked("id = ANY($1::text[]) ORDER BY number", [.texts(ids.map(\.text))])
        return Dictionary(uniqueKeysWithValues: found.map { ($0.job.id, $0) })
    }
}

extension PostgresRow {
    fileprivate func integer(_ column: Column) -> Int? { integer(column.rawValue) }
    fileprivate func text(_ column: Column) -> String? { text(column.rawValue) }
}

extension JobRecord {
    /// - Returns: nil for a row that this program did not write.
    fileprivate init?(_ row: PostgresRow) {
        guard let number = row.integer(.number), let id = row.text(.id).flatMap({ JobID(Array($0.utf8)) }),
            let inbox = row.text(.inbox), let path = row.bytes(Column.path.rawValue),
            let isSet = row.boolean(Column.isSet.rawValue), let device = row.integer(.device),
            let inode = row.integer(.inode), let bytes = row.integer(.bytes), let modified = row.integer(.modified),
            let originals = row.text(.originals).flatMap(OriginalPolicy.init), let attempts = row.integer(.attempts),
            let state = row.text(.state).flatMap(JobState.init), let ends = row.integer(.ends),
            let notBefore = row.integer(.notBefore), let recipe = row.text(.recipe),
            let offered = row.integer(.offered), let changed = row.integer(.changed)
        else { return nil }
        let failure = row.text(.code).map { word in
            // A code of another version is a failure all the same.
            Failure(
                FailureCode(rawValue: word) ?? .internal, stage: row.text(.stage) ?? "", row.text(.message) ?? "",
                detail: row.text(.detail))
        }
        let job = Job(
            id: id, inbox: inbox, path: BytePath(path), isSet: isSet,
            observed: FileVersion(
                signedDevice: Int64(device), signedInode: Int64(inode), bytes: bytes, modified: modified),
            originals: originals,
            progress: JobProgress(state, attempts: attempts, ends: ends, notBefore: notBefore, failure: failure),
            recipe: recipe, report: row.bytes(Column.document.rawValue), offered: offered, changed: changed)
        var hold: Hold?
        if let owner = row.text(.owner), let token = row.text(.token), let until = row.integer(.leaseUntil) {
            hold = Hold(owner: owner, token: token, until: until)
        }
        self.init(job: job, number: number, hold: hold)
    }
}

// MARK: - Writing

extension JobRecord {
    private func value(of column: Column) -> PostgresValue? {
        switch column {
        case .number: .integer(number)
        case .id: .text(job.id.text)
        case .inbox: .text(job.inbox)
        case .path: .bytes(job.path.bytes)
        case .isSet: .boolean(job.isSet)
        case .device: .integer(Int(bitPattern: UInt(job.observed.identity.device)))
        case .inode: .integer(Int(bitPattern: UInt(job.observed.identity.inode)))
        case .bytes: .integer(job.observed.stamp.bytes)
        case .modified: .integer(job.observed.stamp.modified)
        case .originals: .text(job.originals.rawValue)
        case .state: .text(job.progress.state.rawValue)
        case .attempts: .integer(job.progress.attempts)
        case .ends: .integer(job.progress.ends)
        case .notBefore: .integer(job.progress.notBefore)
        case .code: (job.progress.failure?.code.rawValue).map(PostgresValue.text)
        case .stage: (job.progress.failure?.stage).map(PostgresValue.text)
        case .message: (job.progress.failure?.message).map(PostgresValue.text)
        case .detail: (job.progress.failure?.detail).map(PostgresValue.text)
        case .recipe: .text(job.recipe)
        case .offered: .integer(job.offered)
        case .changed: .integer(job.changed)
        case .owner: (hold?.owner).map(PostgresValue.text)
        case .token: (hold?.token).map(PostgresValue.text)
        case .leaseUntil: (hold?.until).map(PostgresValue.integer)
        case .document: job.report.map(PostgresValue.bytes)
        }
    }

    fileprivate func values(of columns: [Column]) -> [PostgresValue?] { columns.map(value) }
}

extension PostgresConnection {
    /// Writes what can change in rows that are locked.
    func update(_ records: [JobRecord]) throws {
        guard !records.isEmpty else { return }
        let columns = [.number] + Column.changing
        let changes = Column.changing.map { "\($0.name) = new.\($0.name)" }.joined(separator: ", ")
        try run(
            "UPDATE jobs SET \(changes) FROM (\(Self.rows(columns, records.count))) AS new (\(Column.list(columns))) WHERE jobs.number = new.number",
            records.flatMap { $0.values(of: columns) })
    }

    /// Adds rows, but for jobs that somebody else has added meanwhile.
    /// - Returns: the jobs that were added.
    func insert(_ records: [JobRecord]) throws -> Set<String> {
        guard !records.isEmpty else { return [] }
        let columns = Column.inserted
        let added = try run(
            "INSERT INTO jobs (\(Column.list(columns))) \(Self.rows(columns, records.count)) ON CONFLICT DO NOTHING RETURNING id",
            records.flatMap { $0.values(of: columns) })
        return Set(added.compactMap { $0.text(0) })
    }

    private static func rows(_ columns: [Column], _ count: Int) -> String {
        let rows = (0..<count).map { row in
            let values = columns.enumerated().map { "$\(row * columns.count + $0.offset + 1)::\($0.element.type)" }
            return "(\(values.joined(separator: ", ")))"
        }
        return "VALUES \(rows.joined(separator: ", "))"
    }
}
