// The history of a week as the dashboard draws it.
import Testing

@testable import Engine
@testable import System
@testable import imagemill

@Suite struct HistoryDocumentTests {
    @Test func `the present hour is the last, the oldest the first, and what is older is left out`() {
        let hours = [
            HistoryHour(inbox: "in", hour: 1000, done: 5, failed: 2),
            HistoryHour(inbox: "in", hour: 833, done: 3, failed: 0),
            HistoryHour(inbox: "in", hour: 832, done: 99, failed: 99),
            HistoryHour(inbox: "other", hour: 999, done: 1, failed: 0),
        ]
        let document = HistoryDocument(hours, now: 1000 * 3_600_000 + 5)
        #expect(document.inboxes["in"]?.done.count == 168 && document.inboxes["in"]?.done.last == 5)
        #expect(document.inboxes["in"]?.failed.last == 2 && document.inboxes["in"]?.done.first == 3)
        #expect(document.inboxes["in"]?.done.reduce(0, +) == 8 && document.inboxes["other"]?.done[166] == 1)
        #expect(document.hour == timestamp(milliseconds: 1000 * 3_600_000))
    }
}
