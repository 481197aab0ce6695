// The daemon in one sentence.
import Pipeline
import Testing

@testable import Engine
@testable import imagemill

@Suite struct HeadlineTests {
    private func inbox(_ name: String, _ pause: PauseReason? = nil) -> StatusDocument.Inbox {
        let path = ShownPath(BytePath("/" + name))
        var inbox = StatusDocument.Inbox(name: name, path: path, outbox: path, pipeline: "p", watching: .events)
        inbox.state = pause == nil ? .running : .paused
        inbox.paused = pause.map { StatusDocument.Pause(reason: $0, message: "m", since: FakeDaemon.time) }
        return inbox
    }

    private func status(_ inboxes: [StatusDocument.Inbox], queued: Int = 0) -> StatusDocument {
        var status = StatusDocument(process: 1, state: .running, started: FakeDaemon.time, uptimeSeconds: 9)
        status.inboxes = inboxes
        status.queue = StatusDocument.Queue(depth: queued, oldestSeconds: queued > 0 ? 260 : nil)
        return status
    }

    @Test func `the worst comes first`() {
        let headline = Headline(status([inbox("a", .noSpace), inbox("b")], queued: 3), failed: 11)
        #expect(headline.sentence == "1 inbox paused, 11 failed, 3 queued, oldest 4 min")
        #expect(headline.level == .trouble)
    }

    @Test func `a pause that somebody has asked for is said, and is no trouble`() {
        let headline = Headline(status([inbox("a", .byRequest), inbox("b")]), failed: 0)
        #expect(headline == Headline(level: .attention, sentence: "1 paused by request"))
        let both = Headline(status([inbox("a", .byRequest), inbox("b", .ioError)]), failed: 0, lowDisks: 1)
        #expect(both == Headline(level: .trouble, sentence: "1 inbox paused, 1 paused by request, 1 disk nearly full"))
    }

    @Test func `what has failed is never good, however much is done`() {
        #expect(Headline(status([inbox("a")], queued: 3), failed: 10_000).level == .attention)
        var refused = status([inbox("a")])
        refused.reload.state = .refused
        #expect(Headline(refused, failed: 0) == Headline(level: .attention, sentence: "configuration refused"))
        var blocked = status([inbox("a")])
        blocked.inboxes[0].blocked = 2
        #expect(Headline(blocked, failed: 0) == Headline(level: .attention, sentence: "2 blocked"))
        var deaf = status([inbox("a")])
        deaf.hooks.lost = 1
        #expect(Headline(deaf, failed: 0) == Headline(level: .attention, sentence: "1 hook event lost"))
    }

    @Test func `a cache that is not used, and failures of which the number is not known, are said`() {
        var busy = FakeDaemon.busy
        busy.inboxes = []
        #expect(
            Headline.troubles(busy, failed: nil) == [
                "configuration refused", "some failed", "3 hook events lost", "cache not used",
            ])
        #expect(
            Headline.troubles(busy, failed: 0) == ["configuration refused", "3 hook events lost", "cache not used"])
    }

    @Test func `if nothing is wrong it says what there is to do`() {
        #expect(
            Headline(status([inbox("a"), inbox("b")]), failed: 0)
                == Headline(level: .good, sentence: "nothing to do: 2 inboxes watched"))
        #expect(
            Headline(status([inbox("a")], queued: 3), failed: 0)
                == Headline(level: .good, sentence: "3 queued, oldest 4 min"))
    }

    @Test func `a daemon that starts or stops is not well`() {
        var stopping = status([inbox("a")], queued: 1)
        stopping.state = .draining
        let headline = Headline(stopping, failed: 0)
        #expect(headline.level == .attention && headline.sentence == "stopping, 1 queued, oldest 4 min")
    }
}
