// The last events that an operator sees.
import Pipeline
import Testing

@testable import Engine
@testable import imagemill

@Suite struct RecentEventsTests {
    private let job = JobID(milliseconds: 1, counter: 2, random: 3)

    @Test func `the newest come first, old ones go, and what happens to each picture is left out`() {
        let events = RecentEvents()
        events.happened(.paused(Pause(.noSpace, "full")), inbox: "in")
        for _ in 0..<1000 {
            events.happened(
                .failed(job, BytePath("a"), Failure(.corrupt, stage: "decode", "x"), attempts: 1), inbox: "in")
        }
        #expect(events.all.map(\.sentence) == ["paused (no-space): full"] && events.all[0].inbox == "in")
        for number in 0..<200 { events.noted("\(number)") }
        #expect(events.all.count == 50 && events.all[0].sentence == "199" && events.all[0].inbox == nil)
        #expect(events.all.map(\.number) == events.all.map(\.number).sorted(by: >))
    }
}
