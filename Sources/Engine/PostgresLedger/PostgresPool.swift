// The connections of one process to its ledger: each transaction on one of its own, done anew if it met another.
import Pipeline
import Postgres
import Synchronization
import System

/// Connections for any number of threads: each transaction has one for itself.
final class PostgresPool: Sendable {
    private let conninfo: String
    private let patience: Duration
    private let idle = Mutex<[Idle]>([])

    /// A connection between two uses. The list's mutex protects it: whoever takes it out has it alone.
    private struct Idle: @unchecked Sendable {
        let connection: PostgresConnection
        let since = Moment.now
    }

    /// One that has not been used for longer is asked first whether it is there: the server, or what is on the way to
    /// it, closes them.
    private static let trusted = Duration.seconds(1)

    /// More than these are closed after use.
    private static let mostIdle = 16
    /// Two that wait for each other are done anew; also those that a server refuses for a moment.
    private static let mostTries = 8

    init(_ conninfo: String, patience: Duration) { (self.conninfo, self.patience) = (conninfo, patience) }

    /// Does a transaction. If it meets another one it is done anew, so that the body may be called several times.
    /// - Parameter body: also gets the ledger's time.
    func transaction<Value>(
        _ body: (PostgresConnection, _ now: Int) throws -> Value
    ) throws(StoreError) -> Value {
        for tried in 1... {
            let (connection, isFresh) = try take()
            var hasBegun = false
            do {
                try connection.run("BEGIN")
                hasBegun = true
                let value = try body(connection, begin(connection))
                try connection.run("COMMIT")
                give(back: connection)
                return value
            } catch {
                if connection.isGood { _ = try? connection.run("ROLLBACK") }
                give(back: connection)
                guard let error = error as? PostgresError else {
                    throw error as? StoreError ?? StoreError(.inaccessible, "\(error)")
                }
                // The server has closed one that was idle.
                if error.isClosed, !hasBegun, !isFresh { continue }
                if error.isTransient, tried < Self.mostTries { continue }
                throw StoreError(error)
            }
        }
        preconditionFailure("there is no last try")
    }

    /// Sets the server's own timeouts, so that a client that has given up or is gone holds up no other. They are local to
    /// the transaction, since a pooler may share the session.
    /// - Returns: the ledger's time.
    private func begin(_ connection: PostgresConnection) throws(PostgresError) -> Int {
        let milliseconds = Int(patience / .milliseconds(1))
        return try connection.run(
            """
            SELECT \(PostgresSchema.now), set_config('statement_timeout', $1, true),
                set_config('lock_timeout', $2, true), set_config('idle_in_transaction_session_timeout', $3, true)
            """,
            [milliseconds * 8 / 10, milliseconds / 2, milliseconds * 2].map { .text(String($0)) }
        ).first?.integer(0) ?? 0
    }

    /// Does one statement that changes something, in a transaction.
    @discardableResult
    func change(_ statement: String, _ parameters: [PostgresValue?] = []) throws(StoreError) -> PostgresRows {
        try transaction { connection, _ in try connection.run(statement, parameters) }
    }

    /// Does one statement, which is a transaction of its own. One that was given up may be done later all the same.
    func run(_ statement: String, _ parameters: [PostgresValue?] = []) throws(StoreError) -> PostgresRows {
        for tried in 1... {
            let (connection, isFresh) = try take()
            do throws(PostgresError) {
                let rows = try connection.run(statement, parameters)
                give(back: connection)
                return rows
            } catch {
                give(back: connection)
                if error.isClosed, !isFresh, statement.hasPrefix("SELECT") { continue }
                if error.isTransient, tried < Self.mostTries { continue }
                throw StoreError(error)
            }
        }
        preconditionFailure("there is no last try")
    }

    /// Calls a function with a connection outside of any transaction.
    func connected(_ body: (PostgresConnection) throws(PostgresError) -> Void) throws(StoreError) {
        let (connection, _) = try take()
        defer { give(back: connection) }
        do throws(PostgresError) {
            try body(connection)
        } catch {
            if connection.isGood { _ = try? connection.run("ROLLBACK") }
            throw StoreError(error)
        }
    }

    private func take() throws(StoreError) -> (PostgresConnection, isFresh: Bool) {
        if let used = idle.withLock({ $0.popLast() }) {
            let isThere = used.since + Self.trusted > .now || (try? used.connection.run("SELECT 1")) != nil
            if isThere { return (used.connection, false) }
            // The others are gone as well, and each would be waited for.
            idle.withLock { $0 = [] }
        }
        do throws(PostgresError) {
            return (try PostgresConnection(conninfo, patience: patience), true)
        } catch {
            throw StoreError(error)
        }
    }

    private func give(back connection: PostgresConnection) {
        guard connection.isGood else { return }
        let one = Idle(connection: connection)
        idle.withLock { if $0.count < Self.mostIdle { $0.append(one) } }
    }
}
