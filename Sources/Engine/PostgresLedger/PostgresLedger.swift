// The queue of a drop folder that several machines share: a schema of a PostgreSQL database.
import Postgres
import Synchronization
package import System

/// Jobs and names in PostgreSQL. Every change is one transaction that has reached the server's disk when the call
/// returns. Leases and waits go by the server's clock.
///
/// SQL stores and finds; `transition` decides, on rows that are locked in the transaction which writes them. What others
/// have locked is passed over when jobs are taken.
package final class PostgresLedger: Ledger {
    let pool: PostgresPool
    let policy: @Sendable (_ inbox: String) -> RetryPolicy
    let trace: (@Sendable (JobChange) -> Void)?
    package let isNew: Bool
    private let clocks: Clocks
    /// The server's time when it was last heard, and the uptime then.
    private let heard = Mutex((time: 0, uptime: 0))
    /// Tokens of leases that this process may have and does not know of: the answer was lost.
    let unheard = Mutex<[String]>([])

    /// - Parameters:
    ///   - conninfo: the connection, as libpq's conninfo or URI; the schema is the first of its search path.
    ///   - policy: of each inbox, by its name. It must not call the store.
    ///   - inboxes: the names of the mill file's.
    ///   - patience: how long the server may take for an answer.
    ///   - trace: hears of each change of a job, after it was recorded. Any thread calls it.
    /// - Throws: `StoreError`, also if the schema has no ledger, or one of another layout.
    package init(
        _ conninfo: String, policy: @escaping @Sendable (_ inbox: String) -> RetryPolicy, inboxes: [String] = [],
        patience: Duration = .seconds(10), trace: (@Sendable (JobChange) -> Void)? = nil, clocks: Clocks = .system
    ) throws(StoreError) {
        (self.policy, self.trace, self.clocks) = (policy, trace, clocks)
        pool = PostgresPool(conninfo, patience: patience)
        // Before any transaction, which asks for the ledger's time.
        var layout: Int?
        try pool.connected { connection throws(PostgresError) in layout = try PostgresSchema.layout(connection) }
        guard let layout else { throw StoreError.noLedger }
        guard layout == PostgresSchema.version else { throw StoreError.otherLayout(layout) }
        isNew = try pool.transaction { connection, _ in
            let isNew = try connection.run("UPDATE ledger SET is_new = NOT is_new WHERE is_new").changed > 0
            try connection.run(
                "INSERT INTO inboxes (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING", [.texts(inboxes)])
            return isNew
        }
        hear(try pool.run("SELECT \(PostgresSchema.now)").first?.integer(0))
    }

    /// Makes the tables of a ledger, or brings them to the present layout.
    package static func prepare(_ conninfo: String, patience: Duration = .seconds(10)) throws(StoreError) {
        try PostgresPool(conninfo, patience: patience).connected { connection throws(PostgresError) in
            try PostgresSchema.migrate(connection)
        }
    }

    /// The server's time goes on at the pace of this machine's uptime between two answers.
    package var now: Int {
        let (time, uptime) = heard.withLock { $0 }
        return time + clocks.uptime() - uptime
    }

    package var outlivesProcess: Bool { true }

    func hear(_ time: Int?) {
        guard let time else { return }
        let uptime = clocks.uptime()
        heard.withLock { if time >= $0.time + uptime - $0.uptime { $0 = (time, uptime) } }
    }

    /// A transaction that goes by the server's time.
    func change<Value>(_ body: (PostgresConnection, _ now: Int) throws -> Value) throws(StoreError) -> Value {
        try pool.transaction { connection, now in
            hear(now)
            return try body(connection, now)
        }
    }

    /// Traces changes that were recorded.
    func tell(_ changes: @autoclosure () -> [JobChange]) {
        if let trace { changes().forEach(trace) }
    }

    // MARK: - What a file needs and a server does not

    package func recordTime() {}
    package func checkpoint() {}
}

extension PostgresError {
    /// Done anew, it may be done: two transactions have met.
    var isTransient: Bool { state == "40001" || state == "40P01" }

    /// The server has closed the connection, perhaps long ago.
    var isClosed: Bool { !isOver && (state == nil || state == "57P01") }
}

extension StoreError {
    static var noLedger: StoreError {
        StoreError(.inaccessible, "the database has no ledger yet; make one with `imagemill ledger init`")
    }

    static func otherLayout(_ layout: Int) -> StoreError {
        let writer = layout > PostgresSchema.version ? "a newer Imagemill" : "an older Imagemill"
        return StoreError(.otherLayout, "the ledger in the database has the layout of \(writer) (\(layout))")
    }

    init(_ error: PostgresError) {
        let name = "the ledger's database"
        switch error.state {
        case "53100"?: self.init(.full, "the disk of \(name) is full (\(error)); make room, and it goes on")
        // Without an answer; shutting down or starting; too many connections; a standby; too long, or in others' way.
        case nil, "57P01"?, "57P02"?, "57P03"?, "53300"?, "25006"?, "57014"?, "55P03"?, "40001"?, "40P01"?:
            self.init(.unreachable, "\(name) does not answer (\(error)); look after it and the network")
        case let state? where state.hasPrefix("08") || state.hasPrefix("58"):
            self.init(.unreachable, "\(name) does not answer (\(error)); look after it and the network")
        case let state? where state.hasPrefix("XX"): self.init(.damaged, "\(name) is damaged (\(error))")
        default: self.init(.inaccessible, "\(name) cannot be used: \(error)")
        }
    }
}
