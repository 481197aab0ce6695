// The whole way from a file in a folder to an offer, with real folders and real events.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// A watcher over a folder `in`, and what it said.
private final class WatchedFolder: Sendable {
    struct Said {
        var ready: [ReadySource] = []
        var notes: [WatchNote] = []
    }

    let folder: TemporaryFolder
    let watcher: InboxWatcher
    private let said: Monitor<Said>

    init(
        _ folder: TemporaryFolder, _ change: (inout WatchSettings) -> Void = { _ in },
        isDone: @escaping @Sendable (BytePath, Sighting) -> Bool = { _, _ in false }
    )
        throws
    {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: true)
        var settings = WatchSettings(name: "shop", path: BytePath(folder.path("in")), times: SettleTimes(settle: .milliseconds(200)))
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

    /// Waits, but never for ever, until something has been said.
    func wait(seconds: Double = 20, _ isRight: (Said) -> Bool) async throws -> Said {
        let end = Moment.now + .milliseconds(Int(seconds * 1000))
        while true {
            let now = said.change { $0 }
            if isRight(now) || Moment.now > end { return now }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func names(_ count: Int, seconds: Double = 20) async throws -> [String] {
        try await wait(seconds: seconds) { $0.ready.count >= count }.ready.map(\.relative.text).sorted()
    }

    /// Waits until the first whole scan has ended, so that what follows is seen by events.
    func settled() async throws {
        for _ in 0..<1000 where watcher.status.scans == 0 { try await Task.sleep(for: .milliseconds(10)) }
    }
}

@Suite struct InboxWatcherTests {
    private let png = SmallPNG.bytes

    @Test(
        "What stands there at the start and what comes later is offered, each once, with sub-folders",
        arguments: [WatchMode.events, .poll(every: .milliseconds(150))])
    func both(mode: WatchMode) async throws {
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

    @Test("A file that is moved in is offered long before the settle time is over")
    func movedIn() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder) { $0.times.settle = .seconds(60) }
        try await inbox.settled()
        try folder.write(png, to: "beside.png")
        #expect(rename(folder.path("beside.png"), folder.path("in/a.png")) == 0)
        #expect(try await inbox.names(1) == ["a.png"])
    }

    @Test("A folder that is moved in is looked through, and one that is moved on is offered under its new name")
    func movedFolder() async throws {
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

    @Test("A file is not offered while its writer holds it open, nor while its end is missing")
    func slow() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        // Not an image: only the open descriptor speaks for it.
        let file = open(folder.path("in/open.bin"), O_WRONLY | O_CREAT, 0o600)
        #expect(write(file, "abc", 3) == 3)
        try folder.write(Array(png.dropLast(8)), to: "in/torn.png")
        try await Task.sleep(for: .milliseconds(900))
        #expect(try await inbox.names(0) == [])
        #expect(inbox.watcher.status.counts == TrackerCounts(settling: 2))
        close(file)
        #expect(try await inbox.names(1) == ["open.bin"])
        try folder.write(png, to: "in/torn.png")
        #expect(try await inbox.names(2) == ["open.bin", "torn.png"])
    }

    @Test("Leftovers are passed over, and links, pipes and sockets are left alone and mentioned once")
    func leftAlone() async throws {
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
                "left alone 'loop': it is a link, and links are not followed", "left alone 'passwd.png': it is a link, and links are not followed",
                "left alone 'pipe.png': it is a pipe, a socket or a device",
            ])
        #expect(inbox.watcher.status.irregular == 3 && inbox.watcher.status.ignored == 3)
    }

    @Test("An inbox that is not there is waited for, and one that is removed and made again is taken up again")
    func missing() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        try FileManager.default.removeItem(atPath: folder.path("in"))
        let paused = try await inbox.wait { $0.notes.contains { if case .paused = $0 { true } else { false } } }
        #expect(paused.notes.last?.sentence.contains("open the folder") == true)
        #expect(inbox.watcher.status.pause?.reason == .missingInbox)
        try folder.write(png, to: "in/a.png")
        #expect(try await inbox.names(1) == ["a.png"])
        #expect(inbox.watcher.status.pause == nil)
        #expect(try await inbox.wait { $0.notes.contains(.resumed) }.notes.contains(.resumed))
        try folder.write(png, to: "in/b.png")
        #expect(try await inbox.names(2) == ["a.png", "b.png"])
    }

    @Test("An inbox under which another folder is put, without an event, is noticed")
    func swapped() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        try folder.write(png, to: "next/a.png")
        #expect(rename(folder.path("in"), folder.path("old")) == 0 && rename(folder.path("next"), folder.path("in")) == 0)
        #expect(try await inbox.names(1) == ["a.png"])
    }

    @Test("The watch keeps no descriptor of the inbox, which would keep its file system from being unmounted")
    func holdsNothing() async throws {
        let folder = try TemporaryFolder()
        let inbox = try WatchedFolder(folder)
        try await inbox.settled()
        let own = FileManager.default.subpaths(atPath: "/proc/self/fd") ?? []
        let targets = own.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        #expect(!targets.isEmpty && !targets.contains(folder.path("in")))
    }

    @Test("A set is offered as a folder after its quiet time, or at once when .done appears")
    func sets() async throws {
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
        #expect(said.ready.map(\.relative.text) == ["quiet"] && said.ready.allSatisfy(\.isSet))
        #expect(said.ready.first?.sighting.bytes == 2 * png.count)
        try folder.write(png, to: "in/told/1.png")
        try folder.write("", to: "in/told/.done")
        #expect(try await inbox.names(2, seconds: 5) == ["quiet", "told"])
    }

    @Test("What is done and kept is not offered again, and what is blocked is offered again")
    func answers() async throws {
        let folder = try TemporaryFolder()
        try folder.write(png, to: "in/done.png")
        try folder.write(png, to: "in/locked.png")
        let inbox = try WatchedFolder(folder, isDone: { path, _ in path.text == "done.png" })
        let first = try await inbox.wait { !$0.ready.isEmpty }.ready
        #expect(first.map(\.relative.text) == ["locked.png"])
        inbox.watcher.answer(first[0], .blocked(SystemError("move", code: EACCES)))
        #expect(try await inbox.names(2) == ["locked.png", "locked.png"])
    }

    @Test("A watch that is stopped has ended when it says so")
    func stopping() async throws {
        let inbox = try WatchedFolder(TemporaryFolder())
        inbox.watcher.stop()
        try await onNewThread { inbox.watcher.waitUntilStopped() }
        try inbox.folder.write(png, to: "in/a.png")
        try await Task.sleep(for: .milliseconds(300))
        #expect(try await inbox.names(0) == [])
    }
}

/// The loop without its thread: nothing happens between two turns.
@Suite struct WatchLoopTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func loop(watches: Int = .max, capacity: Int = 150_000, notes: @escaping (WatchNote) -> Void = { _ in }) throws
        -> WatchLoop
    {
        try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: true)
        var settings = WatchSettings(name: "shop", path: BytePath(folder.path("in")), times: SettleTimes(settle: .milliseconds(50)))
        settings.capacity = capacity
        return WatchLoop(settings, isDone: { _, _ in false }, note: notes) { () throws(FolderEvents.Shortage) in try FolderEvents(most: watches) }
    }

    /// Turns until so many are offered, and answers each.
    private func offered(_ loop: WatchLoop, _ count: Int, removes: Bool = false) -> Set<BytePath> {
        var names: Set<BytePath> = []
        let end = Moment.now + .seconds(60)
        while names.count < count && Moment.now < end {
            for source in loop.turn().ready {
                names.insert(source.relative)
                if removes { FileSystem.remove(BytePath(folder.path("in")).appending(source.relative)) }
                loop.answered(source, .taken)
            }
        }
        return names
    }

    private func fill(_ count: Int) throws {
        try FileSystem.makeDirectories(BytePath(folder.path("in")))
        let root = try Directory(BytePath(folder.path("in")))
        for number in 0..<count {
            let file = try root.making(BytePath("f\(number)"))
            _ = write(file.descriptor, "x", 1)
        }
    }

    private var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
    }

    @Test("More events than the kernel keeps lose no file, and a file costs less than a kibibyte of memory")
    func overflow() throws {
        let loop = try loop()
        while loop.status.scans == 0 { _ = loop.turn() }
        try fill(20_000)
        let before = residentBytes
        #expect(offered(loop, 20_000).count == 20_000)
        #expect(loop.status.overflows > 0)
        #expect(residentBytes - before < 20_000 * 1024)
    }

    @Test("What does not fit into the memory is found again when there is room")
    func capacity() throws {
        try fill(500)
        let loop = try loop(capacity: 100)
        #expect(offered(loop, 500, removes: true).count == 500)
        #expect(loop.status.counts.ready + loop.status.counts.settling <= 100)
        #expect(try Directory(BytePath(folder.path("in"))).names() == [])
    }

    @Test("Where there are no more watches, the inbox is looked at instead, and the log says which setting to raise")
    func shortage() throws {
        for name in ["a", "b", "c"] { try folder.write("x", to: "in/\(name)/file") }
        var notes: [WatchNote] = []
        let loop = try loop(watches: 2) { notes.append($0) }
        #expect(offered(loop, 3).count == 3)
        guard case .polling(let time, let reason)? = loop.status.how else {
            Issue.record("\(String(describing: loop.status.how))")
            return
        }
        #expect(time == .seconds(5) && reason.contains("fs.inotify.max_user_watches"))
        #expect(notes.map(\.sentence).contains { $0.hasPrefix("watching by looking every 5s: the system has no more watches") })
    }

    @Test("The table of kept files is asked before anything is tracked")
    func kept() throws {
        try fill(10)
        let settings = WatchSettings(name: "shop", path: BytePath(folder.path("in")))
        let loop = WatchLoop(settings, isDone: { _, _ in true }, note: { _ in })
        while loop.status.scans == 0 { #expect(loop.turn().ready.isEmpty) }
        #expect(loop.status.counts == TrackerCounts())
    }
}

/// A complete PNG of one pixel.
private enum SmallPNG {
    static let bytes: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]) + chunk("IDAT", [1, 2, 3, 4])
        + chunk("IEND", [])

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(body.count)] + Array(name.utf8) + body + [0, 0, 0, 0] }
}
