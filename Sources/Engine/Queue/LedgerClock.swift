// The ledger's time, by which jobs and hooks wait and originals grow old.
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
    /// The part of it that a ledger keeps. Time that passes between the last record and a restart of the machine is lost.
    struct Record {
        /// How far it had come.
        let time: Int
        /// The two clocks at that moment.
        let wall, uptime: Int
    }

    private let clocks: Clocks
    /// The ledger's time when it was opened.
    private let start: Int
    /// The uptime then.
    private let opened: Int

    /// Goes on from a record, later than all that was recorded; or begins.
    init(after record: Record?, _ clocks: Clocks) {
        self.clocks = clocks
        let (wall, uptime) = (clocks.wall(), clocks.uptime())
        opened = uptime
        start = record.map { $0.time + max(1, min(wall - $0.wall, uptime - $0.uptime)) } ?? wall
    }

    var now: Int { start + clocks.uptime() - opened }

    /// The present hour of the wall clock, since 1970: what people look at goes by their time.
    var hour: Int { clocks.wall() / 3_600_000 }

    var record: Record { Record(time: now, wall: clocks.wall(), uptime: clocks.uptime()) }
}
