// The ID of a job: the name of its folder in work/, its key in the ledger, its place in the log.
import Glibc
package import Pipeline
import Synchronization
import System

/// A job's name: unique, in ASCII, and in the order in which jobs began as long as nobody sets the clock back.
package struct JobID: Hashable, Comparable, Sendable {
    package let text: String

    /// - Returns: nil if the name is none of ours.
    package init?(_ name: [UInt8]) {
        let isRight = name.enumerated().allSatisfy { place, byte in
            place == 12 || place == 17 ? byte == UInt8(ascii: "-") : isHexadecimal(byte)
        }
        guard name.count == 30, isRight else { return nil }
        text = String(decoding: name, as: UTF8.self)
    }

    /// - Parameters:
    ///   - milliseconds: since 1970.
    ///   - counter: tells jobs of one millisecond apart.
    ///   - random: tells apart what two machines, or two starts, name at one time.
    package init(milliseconds: UInt64, counter: UInt16, random: UInt64) {
        text = "\(hexadecimal(milliseconds, 12))-\(hexadecimal(UInt64(counter), 4))-\(hexadecimal(random, 12))"
    }

    package var path: BytePath { BytePath(text) }

    package static func < (left: JobID, right: JobID) -> Bool { left.text < right.text }
}

private func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
}

/// The last digits of a number.
private func hexadecimal(_ number: UInt64, _ digits: Int) -> String {
    let text = String(number & (1 << (4 * UInt64(digits)) - 1), radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
}

/// Gives out names for jobs, each later than the one before even if the clock goes back.
package final class JobNames: Sendable {
    private let last = Mutex<(milliseconds: UInt64, counter: UInt16)>((0, 0))

    package init() {}

    package func next() -> JobID {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return next(milliseconds: UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000)
    }

    func next(milliseconds: UInt64) -> JobID {
        let (milliseconds, counter) = last.withLock { last in
            if milliseconds > last.milliseconds {
                last = (milliseconds, 0)
            } else if last.counter == .max {
                last = (last.milliseconds + 1, 0)
            } else {
                last.counter += 1
            }
            return last
        }
        return JobID(milliseconds: milliseconds, counter: counter, random: UInt64.random(in: .min ... .max))
    }
}
