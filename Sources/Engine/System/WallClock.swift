// The time of day, which people read and files carry. Waiting uses `Moment` instead: whoever sets the clock moves nothing there.
import Glibc

/// Milliseconds since 1970.
package func wallClock() -> Int { nanosecondsSince1970() / 1_000_000 }

/// Now, in nanoseconds since 1970.
func nanosecondsSince1970() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Seconds since 1970 as EXIF writes dates, in UTC.
func exifDate(seconds: Int) -> String { formatted(seconds, "%04Y:%m:%d %H:%M:%S") }

/// Now, in UTC, as ISO 8601 with milliseconds.
package func timestamp() -> String {
    timestamp(milliseconds: wallClock())
}

/// A time in milliseconds since 1970, as ISO 8601.
package func timestamp(milliseconds: Int) -> String {
    let fraction = String(milliseconds % 1000 + 1000).dropFirst()
    return "\(formatted(milliseconds / 1000, "%04Y-%m-%dT%H:%M:%S")).\(fraction)Z"
}

/// Seconds since 1970, in UTC; a time that no calendar has is the first one.
private func formatted(_ seconds: Int, _ format: String) -> String {
    var time = time_t(seconds)
    var fields = tm()
    if gmtime_r(&time, &fields) == nil {
        time = 0
        gmtime_r(&time, &fields)
    }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
        let count = strftime(buffer.baseAddress!, buffer.count, format, &fields)
        return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
    }
}
