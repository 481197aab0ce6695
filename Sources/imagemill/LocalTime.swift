// Times for people, in the time zone of the machine.
import Glibc

/// `14:03:07` today, `2026-11-20 14:03:07` on another day; the text itself if it is not a time of ours.
/// - Parameter text: a time as documents have it, in UTC: `2026-11-20T13:03:07.123Z`.
func localTime(_ text: String) -> String {
    let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { CInt($0) }
    guard text.hasSuffix("Z"), numbers.count == 7 else { return oneLine(text) }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
    return localTime(of: timegm(&parts))
}

/// - Parameter seconds: since 1970.
func localTime(of seconds: time_t, now: time_t = time(nil)) -> String {
    let isToday = written(seconds, "%F") == written(now, "%F")
    return written(seconds, isToday ? "%T" : "%F %T")
}

private func written(_ seconds: time_t, _ format: String) -> String {
    var (seconds, parts) = (seconds, tm())
    localtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, format, &parts)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
