// From a file in a folder to an offer, with real folders and real events.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Messages
@testable import System

/// A watcher of a folder `in`, with its offers and notes.
private final class WatchedFolder: Sendable {
    struct Said {
        var ready: [Offer] = []
        var notes: [WatchNote] = []
    }

    let folder: TemporaryFolder
    let watcher: InboxWatcher
    private let said: Monitor<Said>

    init(
        _ folder: TemporaryFolder, _ change: (inout WatchSettings) -> Void = { _ in },
        isDone: @escaping @Sendable (BytePath, FileStatus) -> Bool = { _, _ in false }
    )
        throws
    {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: true)
        var settings = WatchSettings(
            name: "shop", path: BytePath(folder.path("in")), times: SettleTimes(settle: .milliseconds(200)))
        settings.rootCheck = .milliseconds(100)
        settings.setQuiet = .milliseconds(300)
        change(&settings)
        let said = Monitor(Said())
        self.said = said
        watcher = InboxWatcher(
            settings, isDone: isDone, onReady: { ready in said.change { $0.ready += ready } },
            onNote: { note in said.change { $0.notes.append(note) } })
        watcher.start()
    }

    deinit { watcher.stop() }

    /// Waits until the offers and notes are as expected, or the time is over.
    func wait(seconds: Double = 20, _ isRight: (Said) -> Bool) async throws -> Said {
        let end = Moment.now + .milliseconds(Int(seconds * 1000))
        while true {
            let now = said.change { $0 }
            if isRight(now) || Moment.now > end { return now }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func names(_ count: Int, seconds: Double = 20) async throws -> [String] {
        try await wait(seconds: seconds) { $0.ready.count >= count }.ready.map(\.path.text).sorted()
    }

    /// Waits until the first whole scan has ended, so that what follows is seen by events.
    func settled() async throws {
        for _ in 0..<1000 where watcher.status.scans == 0 { try await Task.sleep(for: .milliseconds(10)) }
    }
}

@Suite struct InboxWatcherTests {
    private let png = SmallPNG.bytes

    @Test(arguments: [WatchMode.events, .poll(every: .milliseconds(150))])
    func `files that are there at the start and files that come later are offered, each once, with sub-folders`(
        mode: WatchMode
    ) async throws {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/early.png")
        try folder.write(png, to: "in/sub/deep/early.png")
        let inbox = try WatchedFolder(folder) { $0.mode = mode }
        #expect(try await inbox.names(2) == ["early.png", "sub/deep/early.png"])
        try folder.write(png, to: "in/late.png")
        try folder.write(png, to: "in/new/er/late.png")
        #expect(try await inbox.names(4) == ["early.png", "late.png", "new/er/late.png", "sub/deep/early.png"])
        try await Task.sleep(for: .milliseconds(500))
        #expect(try await inbox.names(4).count == 4)
        #expect(inbox.watcher.status.counts == TrackerCounts(ready: 4))
    }

    @Test(arguments: [WatchMode.events, .poll(every: .milliseconds(150))])
    func `what is no picture by name and content is left alone until it changes; what is one by either is offered`(
        mode: WatchMode
    ) async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder) { $0.mode = mode }
        try folder.write("text", to: "in/notes.txt")
        try folder.write("<x:xmpmeta/>", to: "in/sub/a.xmp")
        try folder.write("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", to: "in/logo.svg")
        try folder.write("broken", to: "in/broken.jpg")
        try folder.write(png, to: "in/download")
        #expect(try await inbox.names(2) == ["broken.jpg", "download"])
        for _ in 0..<2000 where inbox.watcher.status.counts.passedOver < 3 {
            try await Task.sleep(for: .milliseconds(10))
        }
        let status = inbox.watcher.status
        #expect(status.counts == TrackerCounts(ready: 2, passedOver: 3))
        #expect(Set(status.passedOver.map(\.path.text)) == ["notes.txt", "sub/a.xmp", "logo.svg"])
        #expect(status.passedOver.first { $0.path.text == "logo.svg" }?.reason == .onRequest(.svg))
        let said = try await inbox.wait { _ in true }
        #expect(
            said.notes.contains {
                $0.sentence == "left alone 'notes.txt': it is no picture, by its name and its content"
            })
        // Scans do not open it again.
        let opened = OpenFile(owning: inotify_init1(O_NONBLOCK | O_CLOEXEC))
        #expect(inotify_add_watch(opened.descriptor, folder.path("in/notes.txt"), UInt32(IN_OPEN)) >= 0)
        var event = [UInt8](repeating: 0, count: 4096)
        inbox.watcher.rescan()
        try await Task.sleep(for: .milliseconds(600))
        #expect(read(opened.descriptor, &event, event.count) == -1 && errno == EAGAIN)
        #expect(inbox.watcher.status.counts.passedOver == 3)
        close(open(folder.path("in/notes.txt"), O_RDONLY))
        #expect(read(opened.descriptor, &event, event.count) > 0)
        // It becomes a picture.
        try folder.write(png, to: "in/notes.txt")
        #expect(try await inbox.names(3) == ["broken.jpg", "download", "notes.txt"])
    }

    @Test func `a format that the inbox allows is no file to leave alone`() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder) { $0.allowed = [.svg] }
        try folder.write("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", to: "in/logo")
        #expect(try await inbox.names(1) == ["logo"])
    }

    @Test func `a file that is moved in is offered long before the settle time is over`() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder) { $0.times.settle = .seconds(60) }
        try await inbox.settled()
        try folder.write(png, to: "beside.png")
        #expect(rename(folder.path("beside.png"), folder.path("in/a.png")) == 0)
        #expect(try await inbox.names(1) == ["a.png"])
    }

    @Test
    func `a folder that is moved in is scanned, and files of a renamed folder are offered under their new names`()
        async throws
    {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        try folder.write(png, to: "beside/x/a.png")
        #expect(rename(folder.path("beside"), folder.path("in/one")) == 0)
        #expect(try await inbox.names(1) == ["one/x/a.png"])
        #expect(rename(folder.path("in/one"), folder.path("in/two")) == 0)
        try folder.write(png, to: "in/two/x/b.png")
        #expect(try await inbox.names(3) == ["one/x/a.png", "two/x/a.png", "two/x/b.png"])
    }

    @Test func `a file is not offered while its writer holds it open, nor while its end is missing`() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        // A picture by its name alone: only the open descriptor shows that it is incomplete.
        let file = open(folder.path("in/open.jpg"), O_WRONLY | O_CREAT, 0o600)
        #expect(write(file, "abc", 3) == 3)
        try folder.write(Array(png.dropLast(8)), to: "in/torn.png")
        try await Task.sleep(for: .milliseconds(900))
        #expect(try await inbox.names(0) == [])
        #expect(inbox.watcher.status.counts == TrackerCounts(settling: 2))
        close(file)
        #expect(try await inbox.names(1) == ["open.jpg"])
        try folder.write(png, to: "in/torn.png")
        #expect(try await inbox.names(2) == ["open.jpg", "torn.png"])
    }

    @Test func `leftovers are ignored, and links, pipes and sockets are left alone and logged once`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/good.png")
        try folder.write(png, to: "in/a.part")
        try folder.write(png, to: "in/mine.tmp")
        try folder.write(png, to: "in/side.xmp")
        try folder.write(png, to: "in/@eaDir/x.png")
        #expect(symlink("/etc/passwd", folder.path("in/passwd.png")) == 0)
        #expect(symlink(".", folder.path("in/loop")) == 0)
        #expect(mkfifo(folder.path("in/pipe.png"), 0o600) == 0)
        let inbox = try WatchedFolder(folder) {
            $0.mode = .poll(every: .milliseconds(100))
            $0.ignored = IgnoredNames([NamePattern("*.xmp")!, NamePattern("!*.tmp")!])
        }
        #expect(try await inbox.names(2) == ["good.png", "mine.tmp"])
        for _ in 0..<1000 where inbox.watcher.status.scans < 4 { try await Task.sleep(for: .milliseconds(10)) }
        let said = try await inbox.wait { _ in true }
        let notes = said.notes.filter { if case .irregular = $0 { true } else { false } }.map(\.sentence).sorted()
        #expect(
            notes == [
                "left alone 'loop': it is a link, and links are not followed",
                "left alone 'passwd.png': it is a link, and links are not followed",
                "left alone 'pipe.png': it is a pipe, a socket or a device",
            ])
        #expect(inbox.watcher.status.irregular == 3 && inbox.watcher.status.ignored == 3)
    }

    @Test func `a missing inbox pauses, and resumes when it is made again`() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        try FileManager.default.removeItem(atPath: folder.path("in"))
        let paused = try await inbox.wait { $0.notes.contains { if case .paused = $0 { true } else { false } } }
        #expect(paused.notes.last?.sentence.contains("is missing; make it with mkdir -p, or mount it") == true)
        #expect(inbox.watcher.status.pause?.reason == .missingInbox)
        try folder.write(png, to: "in/a.png")
        #expect(try await inbox.names(1) == ["a.png"])
        #expect(inbox.watcher.status.pause == nil)
        #expect(try await inbox.wait { $0.notes.contains(.resumed) }.notes.contains(.resumed))
        try folder.write(png, to: "in/b.png")
        #expect(try await inbox.names(2) == ["a.png", "b.png"])
    }

    @Test func `an inbox under which another folder is put, without an event, is noticed`() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        try folder.write(png, to: "next/a.png")
        #expect(
            rename(folder.path("in"), folder.path("old")) == 0 && rename(folder.path("next"), folder.path("in")) == 0)
        #expect(try await inbox.names(1) == ["a.png"])
    }

    @Test
    func `the watcher keeps no descriptor of the inbox, which would keep its file system from being unmounted`()
        async throws
    {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        let own = FileManager.default.subpaths(atPath: "/proc/self/fd") ?? []
        let targets = own.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(!targets.isEmpty && !targets.contains(folder.path("in")))
    }

    @Test func `a set is offered as a folder after its quiet time, or immediately when .done appears`() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("in/empty"), withIntermediateDirectories: true)
        let inbox = try WatchedFolder(folder) {
            $0.takesSets = true
            $0.setQuiet = .seconds(1)
        }
        try await inbox.settled()
        try folder.write(png, to: "in/quiet/1.png")
        try folder.write(png, to: "in/quiet/more/2.png")
        let said = try await inbox.wait { !$0.ready.isEmpty }
        #expect(said.ready.map(\.path.text) == ["quiet"] && said.ready.allSatisfy(\.isSet))
        #expect(said.ready.first?.status.bytes == 2 * png.count)
        let patient = try WatchedFolder(TemporaryFolder()) {
            $0.takesSets = true
            $0.setQuiet = .seconds(600)
        }
        try await patient.settled()
        try patient.folder.write(png, to: "in/declared/1.png")
        try patient.folder.write("", to: "in/declared/.done")
        #expect(try await patient.names(1, seconds: 20) == ["declared"])
    }

    @Test(arguments: [WatchMode.events, .poll(every: .milliseconds(100))])
    func `a set is not offered while an upload into it is under way, and leftovers do not delay it`(mode: WatchMode)
        async throws
    {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/album/1.png")
        try folder.write("", to: "in/album/.DS_Store")
        let inbox = try WatchedFolder(folder) {
            $0.mode = mode
            $0.takesSets = true
        }
        #expect(try await inbox.names(1) == ["album"])
        try folder.write(png, to: "in/slow/1.png")
        try folder.write("half", to: "in/slow/sub/.2.png.AbC123")
        try folder.write("half", to: "in/declared/.2.png.AbC123")
        try folder.write(png, to: "in/declared/1.png")
        try folder.write("", to: "in/declared/.done")
        try await Task.sleep(for: .milliseconds(1500))
        #expect(try await inbox.names(1) == ["album"])
        #expect(inbox.watcher.status.counts.settling == 2)
        for set in ["slow/sub", "declared"] {
            try folder.write(png, to: "in/\(set)/.2.png.AbC123")
            #expect(rename(folder.path("in/\(set)/.2.png.AbC123"), folder.path("in/\(set)/2.png")) == 0)
        }
        #expect(try await inbox.names(3) == ["album", "declared", "slow"])
        let offers = try await inbox.wait { _ in true }.ready
        #expect(offers.filter { $0.path.text != "album" }.allSatisfy { $0.status.bytes == 2 * png.count })
    }

    @Test(arguments: [WatchMode.events, .poll(every: .milliseconds(100))])
    func `a set is not offered while a member is open under a name that is passed over`(mode: WatchMode) async throws {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/album/1.png")
        let inbox = try WatchedFolder(folder) {
            $0.mode = mode
            $0.takesSets = true
        }
        let writer = open(folder.path("in/album/.2.png"), O_WRONLY | O_CREAT, 0o644)
        try await Task.sleep(for: .milliseconds(1500))
        #expect(try await inbox.names(0) == [])
        #expect(write(writer, png, png.count) == png.count)
        close(writer)
        #expect(rename(folder.path("in/album/.2.png"), folder.path("in/album/2.png")) == 0)
        let said = try await inbox.wait { !$0.ready.isEmpty }
        #expect(said.ready.map(\.status.bytes) == [2 * png.count])
    }

    @Test func `a set with an abandoned upload is offered after incomplete-after`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/album/1.png")
        try folder.write("half", to: "in/album/2.png.part")
        let inbox = try WatchedFolder(folder) {
            $0.takesSets = true
            $0.times.incompleteAfter = .seconds(4)
        }
        try await Task.sleep(for: .milliseconds(1000))
        #expect(try await inbox.names(0) == [])
        #expect(try await inbox.names(1) == ["album"])
    }

    @Test func `what is done and kept is not offered again, and what is blocked is offered again`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/done.png")
        try folder.write(png, to: "in/locked.png")
        let inbox = try WatchedFolder(folder, isDone: { path, _ in path.text == "done.png" })
        let first = try await inbox.wait { !$0.ready.isEmpty }.ready
        #expect(first.map(\.path.text) == ["locked.png"])
        inbox.watcher.answer(
            path: first[0].path, observed: first[0].status.version, .blocked(SystemError("move", code: EACCES)))
        #expect(try await inbox.names(2) == ["locked.png", "locked.png"])
    }

    @Test func `an inbox whose file system does not answer counts as paused until it does`() async throws {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/a.png")
        let isHanging = Monitor(true)
        let inbox = try WatchedFolder(folder) {
            $0.patience = .milliseconds(300)
        } isDone: { _, _ in
            isHanging.wait { $0 ? nil : false }
        }
        func pause() async throws -> Pause? {
            for _ in 0..<1000 where (inbox.watcher.status.pause != nil) != isHanging.change({ $0 }) {
                try await Task.sleep(for: .milliseconds(10))
            }
            return inbox.watcher.status.pause
        }
        #expect(
            try await pause() == Pause(.ioError, "the file system of '\(folder.path("in"))' does not answer"))
        isHanging.change { $0 = false }
        #expect(try await pause() == nil)
        #expect(try await inbox.names(1) == ["a.png"])
    }

    @Test func `a stopped watcher has ended after waitUntilStopped`() async throws {
        let inbox = try WatchedFolder(TemporaryFolder())
        inbox.watcher.stop()
        try await onNewThread { inbox.watcher.waitUntilStopped() }
        try inbox.folder.write(png, to: "in/a.png")
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await inbox.names(0) == [])
    }
}
