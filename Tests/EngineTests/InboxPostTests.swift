// An inbox at work: what may begin, and how often it says that it rests.
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct InboxPostTests {
    private let folder: TemporaryFolder
    private let post: InboxPost
    private let names = JobNames()

    init() throws {
        folder = try TemporaryFolder()
        for name in ["in/x", "out/x"] { try folder.write("", to: name) }
        try folder.write("renditions:\n  small: { save: { format: webp } }\n", to: "p.yaml")
        let text = "state: state\nmax-source-bytes: 1K\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n"
        let loaded = try LoadedMill(path: folder.path("mill.yaml"), text: text) { _ in nil }
        post = InboxPost(MillRoute(loaded.inboxes[0], limits: loaded.limits, memory: MemoryBudget(bytes: 1), cancellation: Cancellation()))
    }

    private var place: WorkPlace { WorkPlace(base: BytePath(folder.path("base")), name: "in") }

    private func begins(_ path: String) -> String {
        switch post.begin(BytePath(path), as: names.next()) {
        case .begun: "begun"
        case .busy: "busy"
        case .resting: "resting"
        }
    }

    @Test("Nothing begins without folders, during a pause, or when the inbox leaves; what begins is under way at once, one of a path at a time")
    func begin() {
        #expect(begins("a") == "resting" && post.state.withLock { $0.open.isEmpty && $0.busy.isEmpty })
        post.state.withLock { $0.place = place }
        #expect(begins("a") == "begun" && begins("a") == "busy" && begins("b") == "begun")
        #expect(post.state.withLock { $0.open.count } == 2)
        post.state.withLock { $0.isLeaving = true }
        #expect(begins("c") == "resting")
        post.state.withLock { $0.isLeaving = false }
        _ = post.rest(InboxPause(.noSpace, "full"), since: 0)
        #expect(begins("c") == "resting")
    }

    @Test("A pause that comes again and again is told less and less often, and lasts longer, but never so long that a repair goes unnoticed")
    func relapses() {
        var now = Moment.now
        var told: [Int] = []
        for count in 0..<40 {
            if post.rest(InboxPause(.noSpace, "full"), since: 0, at: now) { told.append(count) }
            // Again while it is paused is nothing new.
            #expect(!post.rest(InboxPause(.noSpace, "fuller"), since: 0, at: now))
            let until = post.state.withLock { $0.restsUntil }
            #expect(count == 0 ? until == now : until > now && until <= now + .seconds(6))
            now = until + .seconds(1)
            #expect(post.resume(at: now) == told.contains(count))
            now = now + .seconds(1)
        }
        #expect(told == [0, 1, 2, 4, 8, 16, 32])
        // After it has gone well for a while, it is news again.
        #expect(post.rest(InboxPause(.noSpace, "full"), since: 0, at: now + .seconds(60)))
        // So is another reason.
        #expect(post.rest(InboxPause(.permission, "no"), since: 0, at: now + .seconds(60)))
    }

    @Test("A source that is too large is not copied, though it has another name, and is refused in the words of its limit")
    func tooLarge() throws {
        try place.make()
        let id = names.next()
        let source = place.source(of: id)
        try folder.write([UInt8](repeating: 1, count: 2000), to: "base/work/in/\(id.text)/source")
        #expect(withPath(source) { link($0, folder.path("other")) } == 0)
        let observed = ObservedFile(device: 1, inode: 1, bytes: 2000, modified: 1)
        let job = MillJob(id: id, post: post, place: place, relative: BytePath("a.jpg"), isSet: false, observed: observed, staysInInbox: false)
        let limits = post.route.render.limits
        let file = try MillSource(job, ignored: IgnoredNames(), limits: limits).file()
        #expect(file.path == source)
        #expect(throws: Failure.self) { try OpenedInput(file, limits: limits) }
        #expect(try FileSystem.names(in: place.folder(of: id)).count == 1)
    }
}
