// The ledger's time, by which jobs and hooks wait and originals grow old.
import GRDB
import System

/// Milliseconds that only go forward, at the pace of the machine's uptime, whatever the time of day is set to.
///
/// Between two starts of the program, it goes on by what both the wall clock and the uptime say has passed at least. A
/// wrong time of day cannot make it jump, nor can another machine. The time for which the machine is switched off does
/// not count.
///
/// One process at a time changes the jobs of an SQLite ledger: it has the lock of the state folder. A connection that is
/// opened later by a wall clock that is behind begins at what is recorded, which may be up to a minute less than what
/// the first one counts.
struct LedgerClock: Sendable {
    private let clocks: Clocks
    /// The ledger's time when it was opened.
    private let start: Int
    /// The uptime then.
    private let opened: Int

    /// Goes on from what is recorded, or begins.
    init(_ database: Database, _ clocks: Clocks) throws {
        self.clocks = clocks
        opened = clocks.uptime()
        let wall = clocks.wall()
        if let row = try Row.fetchOne(database, sql: "SELECT time, wall, uptime FROM clock") {
            // Later than all that is recorded.
            start = row["time"] + max(1, min(wall - row["wall"], opened - row["uptime"]))
        } else {
            start = wall
            try database.execute(sql: "INSERT INTO clock (time, wall, uptime) VALUES (0, 0, 0)")
        }
        try record(database)
    }

    var now: Int { start + clocks.uptime() - opened }

    /// The present hour of the wall clock, since 1970: what people look at goes by their time.
    var hour: Int { clocks.wall() / 3_600_000 }

    /// Records how far it has come. What passes between the last record and a restart of the machine is lost.
    func record(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE clock SET time = ?, wall = ?, uptime = ?", arguments: [now, clocks.wall(), clocks.uptime()])
    }
}
