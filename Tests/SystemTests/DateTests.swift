import Pipeline
import Testing

@testable import System

@Suite struct DateTests {
    @Test(arguments: [
        (0, "1970:01:01 00:00:00"), (951_782_400, "2000:02:29 00:00:00"), (1_795_000_000, "2026:11:18 11:06:40"),
        (-1, "1969:12:31 23:59:59"),
        (253_402_300_799, "9999:12:31 23:59:59"), (-62_167_219_200, "0000:01:01 00:00:00"),
    ])
    func `seconds become dates as EXIF writes them`(seconds: Int, text: String) {
        #expect(exifDate(seconds: seconds) == text)
        #expect(isDate(text))
    }

    @Test(arguments: [
        "0000:00:00 00:00:00", "2024:13:01 00:00:00", "2024:00:01 00:00:00", "2024:01:00 00:00:00",
        "2024:01:32 00:00:00",
        "2024:04:31 00:00:00", "2023:02:29 00:00:00", "1900:02:29 00:00:00", "2024:01:01 24:00:00",
        "2024:01:01 00:60:00",
        "2024:01:01 00:00:61", "2024-01-01 00:00:00", "2024:01:01 00:00:0 ", "    :  :     :  :  ",
    ])
    func `what is on no calendar is no date`(text: String) {
        #expect(!isDate(text))
    }

    @Test(arguments: ["2024:02:29 23:59:59", "2000:02:29 12:00:00", "2016:12:31 23:59:60", "1999:11:30 00:00:00"])
    func `what is on the calendar is a date`(text: String) {
        #expect(isDate(text))
    }

    @Test func `a time stamp is ISO 8601 in UTC with milliseconds`() {
        let text = timestamp()
        #expect(
            text.wholeMatch(of: /20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z/) != nil,
            "\(text)")
    }

    @Test(arguments: [0, 1, 999, 951_782_400_007, 1_795_000_000_120, 253_402_300_799_999])
    func `a time stamp is read again, and nothing else is taken for one`(time: Int) {
        #expect(milliseconds(timestamp: timestamp(milliseconds: time)) == time)
        for text in [
            "", "2026-11-18", "2026-11-18T11:06:40Z", "2026-11-18T11:06:40.12Z", "2026-13-18T11:06:40.123Z",
            "2026-11-18T11:06:40.123Z ",
            "9999999999-11-18T11:06:40.123Z",
        ] {
            #expect(milliseconds(timestamp: text) == nil, "\(text)")
        }
    }

    @Test func `milliseconds are rounded up, so that a wait is never too short`() {
        #expect(milliseconds(in: .zero) == 0)
        #expect(milliseconds(in: .nanoseconds(1)) == 1)
        #expect(milliseconds(in: .microseconds(1500)) == 2)
        #expect(milliseconds(in: .seconds(2)) == 2000)
    }
}
