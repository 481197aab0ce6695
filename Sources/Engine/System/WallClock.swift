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
func exifDate(seconds: Int) -> String {
    var time = time_t(seconds)
    var fields = tm()
    guard gmtime_r(&time, &fields) != nil else { return "1970:01:01 00:00:00" }
    func padded(_ value: CInt, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let date = [padded(fields.tm_year + 1900, 4), padded(fields.tm_mon + 1, 2), padded(fields.tm_mday, 2)].joined(separator: ":")
    return date + " " + [padded(fields.tm_hour, 2), padded(fields.tm_min, 2), padded(fields.tm_sec, 2)].joined(separator: ":")
}

/// Now, in UTC, as ISO 8601 with milliseconds.
package func timestamp() -> String {
    timestamp(milliseconds: wallClock())
}

/// A time in milliseconds since 1970, as ISO 8601.
package func timestamp(milliseconds: Int) -> String {
    let date = exifDate(seconds: milliseconds / 1000).split(separator: " ")
    let fraction = String(milliseconds % 1000 + 1000).dropFirst()
    return date[0].split(separator: ":").joined(separator: "-") + "T" + date[1] + "." + fraction + "Z"
}
