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

    /// Records how far it has come.
    func record(in database: Database) throws {
        let record = record
        try database.execute(
            sql: "UPDATE clock SET time = ?, wall = ?, uptime = ?",
            arguments: [record.time, record.wall, record.uptime])
    }
}
