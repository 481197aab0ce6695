// The daemon in one sentence.
import Pipeline
import TestSupport
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

    private func known(_ count: Int) -> Headline.Failed { Headline.Failed(count: count) }

    @Test func `the worst comes first`() {
        let headline = Headline(status([inbox("a", .noSpace), inbox("b")], queued: 3), failed: known(11))
        #expect(headline.sentence == "1 inbox paused, 11 failed, 3 queued, oldest 4 min")
        #expect(headline.level == .trouble)
    }

    @Test func `a pause that somebody has asked for is said, and is no trouble`() {
        let headline = Headline(status([inbox("a", .byRequest), inbox("b")]), failed: known(0))
        #expect(headline == Headline(level: .attention, sentence: "1 inbox paused by request"))
        var both = status([inbox("a", .byRequest), inbox("b", .ioError)])
        both.disks = [true, false].map {
            StatusDocument.Disk(path: ShownPath(BytePath("/")), freeBytes: 1, totalBytes: 100, isLow: $0)
        }
        #expect(
            Headline(both, failed: known(0))
                == Headline(
                    level: .trouble, sentence: "2 inboxes paused, 1 of them by request, 1 disk nearly full"))
    }

    @Test func `what has failed is never good, however much is done`() {
        #expect(Headline(status([inbox("a")], queued: 3), failed: known(10_000)).level == .attention)
        var refused = status([inbox("a")])
        refused.reload.state = .refused
        #expect(Headline(refused, failed: known(0)) == Headline(level: .attention, sentence: "configuration refused"))
        var blocked = status([inbox("a")])
        blocked.inboxes[0].blocked = 2
        #expect(Headline(blocked, failed: known(0)) == Headline(level: .attention, sentence: "2 blocked"))
        var deaf = status([inbox("a")])
        deaf.hooks.lost = 1
        #expect(Headline(deaf, failed: known(0)) == Headline(level: .attention, sentence: "1 hook event lost"))
    }

    @Test func `a cache that is not used is said`() {
        var busy = FakeDaemon.busy
        busy.inboxes = []
        #expect(
            Headline.troubles(busy, failed: known(0)) == [
                "configuration refused", "1 disk nearly full", "3 hook events lost", "cache not used",
            ])
    }

    @Test func `a folder of failures that cannot be read is never good, whatever the others hold`() {
        let inboxes = status([inbox("a"), inbox("b"), inbox("c")])
        let some = Headline(inboxes, failed: Headline.Failed(count: 0, unreadable: 1))
        #expect(some == Headline(level: .attention, sentence: "failed/ of 1 inbox cannot be read"))
        let most = Headline(inboxes, failed: Headline.Failed(count: 4, unreadable: 2))
        #expect(most == Headline(level: .attention, sentence: "4 failed, failed/ of 2 inboxes cannot be read"))
        let lost = status([inbox("a", .missingState)])
        #expect(
            Headline.troubles(lost, failed: Headline.Failed(count: 0, unreadable: 1)) == [
                "state folder missing", "1 inbox paused",
            ])
    }

    @Test func `events that wait for their hook are said from five minutes on`() {
        var late = status([inbox("a"), inbox("b"), inbox("c")])
        (late.inboxes[0].hooksWaiting, late.inboxes[0].oldestHookSeconds) = (9, 299)
        #expect(Headline(late, failed: known(0)).level == .good)
        (late.inboxes[1].hooksWaiting, late.inboxes[1].oldestHookSeconds) = (1, 300)
        #expect(
            Headline(late, failed: known(0))
                == Headline(level: .attention, sentence: "1 hook event waits, oldest 5 min"))
        (late.inboxes[2].hooksWaiting, late.inboxes[2].oldestHookSeconds) = (2, 730)
        #expect(Headline(late, failed: known(0)).sentence == "3 hook events wait, oldest 12 min")
    }

    @Test func `what was not looked at yet is not called good, in a few words for any number of inboxes`() {
        let many = status((1...50).map { inbox("in\($0)") }, queued: 3)
        let headline = Headline(many, failed: Headline.Failed(count: 0, awaited: 50))
        #expect(
            headline
                == Headline(
                    level: .attention, sentence: "looking into failed/ of 50 inboxes, 3 queued, oldest 4 min"))
    }

    @Test func `the dashboard tells folders that cannot be read from those that were not looked at yet`() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "failed/z.jpg")
        let document = status([inbox("a"), inbox("b"), inbox("c"), inbox("d", .byRequest)])
        let standing = [
            "a": Standing(failures: StandingFailures(BytePath(folder.path("failed")))),
            "b": Standing(failures: StandingFailures(BytePath(folder.path("gone")))),
        ]
        let shown = DashboardDocument(FakeDaemon(document, standing: standing))
        #expect(
            shown.headline.sentence
                == "1 inbox paused by request, 1 failed, failed/ of 1 inbox cannot be read, looking into failed/ of 1 inbox"
        )
        #expect(shown.failures.counts == ["a": 1])
    }

    @Test func `if nothing is wrong it says what there is to do`() {
        #expect(
            Headline(status([inbox("a"), inbox("b")]), failed: known(0))
                == Headline(level: .good, sentence: "nothing to do: 2 inboxes watched"))
        #expect(
            Headline(status([inbox("a")], queued: 3), failed: known(0))
                == Headline(level: .good, sentence: "3 queued, oldest 4 min"))
    }

    @Test func `large numbers are grouped, and what has failed comes before what is blocked`() {
        var many = status([inbox("a")], queued: 1_234_567)
        many.inboxes[0].blocked = 1000
        #expect(
            Headline(many, failed: known(12_345)).sentence
                == "12,345 failed, 1,000 blocked, 1,234,567 queued, oldest 4 min")
        #expect([0, 999, -1000, 100_000].map { grouped($0) } == ["0", "999", "-1,000", "100,000"])
    }

    @Test func `a daemon that starts or stops is not well`() {
        var stopping = status([inbox("a")], queued: 1)
        stopping.state = .draining
        let headline = Headline(stopping, failed: known(0))
        #expect(headline.level == .attention && headline.sentence == "stopping, 1 queued, oldest 4 min")
    }
}
