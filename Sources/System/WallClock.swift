// The time of day, which people read and files carry. Waiting uses `Moment` instead: whoever sets the clock moves
// nothing there.
import Glibc

/// Milliseconds since 1970.
package func wallClock() -> Int { nanosecondsSince1970() / 1_000_000 }

/// Now, in nanoseconds since 1970.
package func nanosecondsSince1970() -> Int {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Seconds since 1970 as EXIF writes dates, in UTC.
package func exifDate(seconds: Int) -> String { formatted(seconds, "%04Y:%m:%d %H:%M:%S") }

/// Now, in UTC, as ISO 8601 with milliseconds.
package func timestamp() -> String {
    timestamp(milliseconds: wallClock())
}

/// A time in milliseconds since 1970, as ISO 8601.
package func timestamp(milliseconds: Int) -> String {
    let fraction = String(milliseconds % 1000 + 1000).dropFirst()
    return "\(formatted(milliseconds / 1000, "%04Y-%m-%dT%H:%M:%S")).\(fraction)Z"
}

/// The time that a text of `timestamp` says, in milliseconds since 1970; nil for any other text.
package func milliseconds(timestamp text: String) -> Int? {
    let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
    guard numbers.count == 7, numbers[0] <= 9999 else { return nil }
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (fields.tm_hour, fields.tm_min, fields.tm_sec) = (numbers[3], numbers[4], numbers[5])
    let time = timegm(&fields) * 1000 + Int(numbers[6])
    // A month 13 becomes a January, and other forms become this one.
    return timestamp(milliseconds: time) == text ? time : nil
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
