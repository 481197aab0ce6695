// Times as the user writes them.
import Testing

@testable import Pipeline

struct DurationTests {
    @Test(
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("2s", .seconds(2)), ("1.5s", .milliseconds(1500)),
            ("10m", .seconds(600)), ("1h", .seconds(3600)),
            ("1d", .seconds(86_400)), ("0s", .zero), ("0.5ms", .microseconds(500)),
        ])
    func `a time is a number with its unit`(text: String, expected: Duration) {
        #expect(Duration(written: text) == expected)
    }

    @Test(arguments: [
        "", "2", "s", "-1s", "+1s", "1e3s", ".5s", "1.s", "2 s", "2sec", "1h30m", "2S", "nans", "99999d", "1..2s",
    ])
    func `anything else is none`(text: String) {
        #expect(Duration(written: text) == nil)
    }

    @Test(arguments: ["500ms", "2s", "90s", "10m", "1h", "1d", "0s", "1500ms", "0.5ms"])
    func `what is written can be read again`(text: String) throws {
        let time = try #require(Duration(written: text))
        #expect(time.written == text)
        #expect(Duration(written: time.written) == time)
    }
}
