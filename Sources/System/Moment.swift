// Time that only goes forward: whoever sets the clock moves nothing here.
import Glibc
import Pipeline

/// An instant of this boot's time, which stops while the machine sleeps.
package struct Moment: Comparable, Hashable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Later than any other.
    package static let never = Moment(nanoseconds: .max)

    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }
    package static func + (moment: Moment, time: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(time.inNanoseconds)
        return overflow ? .never : Moment(nanoseconds: sum)
    }

    /// Milliseconds until another moment for `poll`, rounded up, so that a wait never ends early; at least 0.
    package func milliseconds(until other: Moment) -> Int {
        guard other > self else { return 0 }
        return Int(min((other.nanoseconds - nanoseconds + 999_999) / 1_000_000, 3_600_000))
    }
}

/// Whole milliseconds of a duration, rounded up.
package func milliseconds(in duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
