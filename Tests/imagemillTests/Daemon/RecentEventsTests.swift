// The last events that an operator sees.
import Pipeline
import Testing

@testable import Engine
@testable import System
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

    @Test func `a receiver that is away has one entry for each inbox and event, and pushes nothing out`() {
        let events = RecentEvents()
        events.noted("started")
        func fails(_ event: String, _ source: Int, in inbox: String) {
            let call = HookCall(event: event, source: BytePath("\(source).jpg"), action: "http://127.0.0.1")
            events.happened(.hook(.postponed(call, "refused", after: 1000)), inbox: inbox)
        }
        for source in 0..<200 { fails("success", source, in: "a") }
        fails("failure", 1, in: "a")
        fails("success", 2, in: "b")
        #expect(events.all.map(\.inbox) == ["b", "a", "a", nil])
        #expect(events.all[2].sentence.contains("199.jpg") && events.all[3].sentence == "started")
    }
}
