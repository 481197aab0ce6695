// The clocks of the system that count while the program does not run.
import Glibc

/// The time of day, which people and time servers set, and the time since the machine was started, which nobody sets.
package struct Clocks: Sendable {
    /// Milliseconds since 1970.
    package let wall: @Sendable () -> Int
    /// Milliseconds since the machine was started. The time that it slept counts.
    package let uptime: @Sendable () -> Int

    package init(wall: @escaping @Sendable () -> Int, uptime: @escaping @Sendable () -> Int) {
        self.wall = wall
        self.uptime = uptime
    }

    package static let system = Clocks(wall: wallClock) {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}

/// Notices that the time of day was set.
package struct ClockWatch {
    private let clocks: Clocks
    /// The wall clock less the uptime.
    private var difference: Int

    /// The smallest jump, in milliseconds; time servers correct less than that in small steps.
    private static let smallest = 60_000

    package init(_ clocks: Clocks = .system) {
        self.clocks = clocks
        difference = clocks.wall() - clocks.uptime()
    }

    /// - Returns: by how many milliseconds the time of day was set since the last look, less than 0 for back; nil if it
    ///   was not.
    package mutating func jump() -> Int? {
        let now = clocks.wall() - clocks.uptime()
        defer { difference = now }
        return abs(now - difference) < Self.smallest ? nil : now - difference
    }

    package static func sentence(_ jump: Int) -> String {
        let (seconds, way) = (abs(jump) / 1000, jump > 0 ? "forward" : "back")
        let time =
            seconds < 7200
            ? "\(seconds / 60) min" : seconds < 172_800 ? "\(seconds / 3600) h" : "\(seconds / 86_400) d"
        return "the system's clock was set \(way) by \(time); waits and retention go on by the time that really passes"
    }
}
