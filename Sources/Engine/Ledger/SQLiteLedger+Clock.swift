// The record of the ledger's time.
import GRDB
import System

extension LedgerClock {
    init(_ database: Database, _ clocks: Clocks) throws {
        let row = try Row.fetchOne(database, sql: "SELECT time, wall, uptime FROM clock")
        self.init(after: row.map { Record(time: $0["time"], wall: $0["wall"], uptime: $0["uptime"]) }, clocks)
        if row == nil { try database.execute(sql: "INSERT INTO clock (time, wall, uptime) VALUES (0, 0, 0)") }
        try record(in: database)
    }

    /// Records it so that something is written in any case: SQLite leaves out an update that changes nothing.
    func rewrite(in database: Database) throws {
        let record = record
        try database.execute(sql: "DELETE FROM clock")
        try database.execute(
            sql: "INSERT INTO clock (time, wall, uptime) VALUES (?, ?, ?)",
            arguments: [record.time, record.wall, record.uptime])
    }

    /// Records how far it has come.
    func record(in database: Database) throws {
        let record = record
        try database.execute(
            sql: "UPDATE clock SET time = ?, wall = ?, uptime = ?",
            arguments: [record.time, record.wall, record.uptime])
    }
}
