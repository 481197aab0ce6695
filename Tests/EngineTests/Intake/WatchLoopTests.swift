// The loop without its thread: nothing happens between two turns.
import Foundation
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct WatchLoopTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func loop(
        watches: Int = .max, capacity: Int = 150_000, notes: @escaping (WatchNote) -> Void = { _ in },
        settings change: (inout WatchSettings) -> Void = { _ in }
    ) throws -> WatchLoop {
        try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: true)
        var settings = WatchSettings(
            name: "shop", path: BytePath(folder.path("in")), times: SettleTimes(settle: .milliseconds(50)))
        settings.capacity = capacity
        change(&settings)
        return WatchLoop(
            settings, isDone: { _, _ in false }, log: notes,
            makeEvents: { () throws(FolderEvents.Shortage) in try FolderEvents(most: watches) })
    }

    /// Turns until so many are offered, and answers each.
    private func offered(_ loop: WatchLoop, _ count: Int, removes: Bool = false) -> Set<BytePath> {
        var names: Set<BytePath> = []
        let end = Moment.now + .seconds(60)
        while names.count < count && Moment.now < end {
            for source in loop.turn().ready {
                names.insert(source.path)
                if removes { FileSystem.remove(BytePath(folder.path("in")).appending(source.path)) }
                loop.answered(source.path, observed: source.status.version, with: .taken)
            }
        }
        return names
    }

    private func fill(_ count: Int) throws {
        try FileSystem.makeDirectories(BytePath(folder.path("in")))
        let root = try Directory(BytePath(folder.path("in")))
        for number in 0..<count {
            let file = try root.making(BytePath("f\(number).jpg"))
            _ = write(file.descriptor, "x", 1)
        }
    }

    /// A GIF whose structure has no end, in a file that is nearly all a hole.
    private func makeSparseGIF(_ name: String, bytes: Int) throws {
        try folder.write(Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], to: "in/\(name)")
        #expect(truncate(folder.path("in/\(name)"), off_t(bytes)) == 0)
    }

    private var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4096
    }

    @Test
    func `more events than the kernel keeps lose no file, and a file costs less than a kibibyte of memory`() throws {
        let loop = try loop()
        while loop.status.scans == 0 { _ = loop.turn() }
        let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        // Each file is several events.
        let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines))) + 3_000
        try fill(count)
        let before = residentBytes
        #expect(offered(loop, count).count == count)
        #expect(loop.status.overflows > 0)
        #expect(residentBytes - before < count * 1024)
    }

    @Test(arguments: [true, false])
    func `a raw file is passed over as long as its JPEG is there`(byEvents: Bool) throws {
        let loop = try loop(settings: { settings in
            settings.allowed = [.raw]
            settings.companions.raw = .preview
            settings.mode = byEvents ? .events : .poll(every: .milliseconds(20))
        })
        try folder.write("raw", to: "in/a.CR3")
        try folder.write("raw", to: "in/sub/b.nef")
        try folder.write([0xFF, 0xD8, 0xFF, 0xD9], to: "in/a.jpg")
        #expect(offered(loop, 2) == [BytePath("a.jpg"), BytePath("sub/b.nef")])
        let end = Moment.now + .seconds(60)
        while loop.status.counts.passedOver == 0, Moment.now < end { _ = loop.turn() }
        #expect(loop.status.passedOver.map(\.path) == [BytePath("a.CR3")])
        #expect(loop.status.passedOver.map(\.reason) == [.sameAs])
        FileSystem.remove(BytePath(folder.path("in/a.jpg")))
        let removed = Moment.now
        // A scan finds what was taken and is still there, too.
        #expect(offered(loop, byEvents ? 1 : 2).contains(BytePath("a.CR3")))
        #expect(.now >= removed + .milliseconds(50), "another JPEG might have come in its place")
    }

    @Test func `each file of a photo waits for the other one`() throws {
        let loop = try loop(settings: { settings in
            settings.times.settle = .milliseconds(1500)
            settings.companions.raw = .preview
        })
        while loop.status.scans == 0 { _ = loop.turn() }
        let start = Moment.now
        // Each is whole as soon as it is closed.
        for name in ["a.nef", "b.jpg", "c.png"] { try folder.write(SmallPNG.bytes, to: "in/\(name)") }
        #expect(offered(loop, 1) == [BytePath("c.png")])
        #expect(Moment.now < start + .milliseconds(1500))
        for name in ["a.jpg", "b.nef"] { try folder.write(SmallPNG.bytes, to: "in/\(name)") }
        #expect(offered(loop, 2) == [BytePath("a.jpg"), BytePath("b.jpg")])
        #expect(Moment.now >= start + .milliseconds(1500))
    }

    @Test func `a source for which there was no room is found again when there is room`() throws {
        try fill(500)
        let loop = try loop(capacity: 100)
        #expect(offered(loop, 500, removes: true).count == 500)
        #expect(loop.status.counts.ready + loop.status.counts.settling <= 100)
        #expect(try Directory(BytePath(folder.path("in"))).names() == [])
    }

    @Test func `without events, what is blocked in a folder is tried at once when its permissions change`() throws {
        try folder.write("x", to: "in/sub/a.jpg")
        let loop = try loop(settings: { $0.mode = .poll(every: .milliseconds(50)) })
        let blocked = SystemError("move 'sub/a'", code: EACCES)
        /// Turns until it is offered, and says that it cannot be taken.
        func block() -> Moment? {
            let end = Moment.now + .seconds(60)
            while Moment.now < end {
                guard let source = loop.turn().ready.first else { continue }
                loop.answered(source.path, observed: source.status.version, with: .blocked(blocked))
                return .now
            }
            return nil
        }
        // After the third time it waits for four seconds.
        _ = block()
        _ = block()
        let last = try #require(block())
        let scans = loop.status.scans + 2
        while loop.status.scans < scans { _ = loop.turn() }
        #expect(chmod(folder.path("in/sub"), 0o750) == 0)
        let next = try #require(block())
        #expect(last.milliseconds(until: next) < 3_900)
        // Others that come into the folder are no reason to try again: now it waits for eight seconds.
        let end = next + .seconds(2)
        var number = 0
        while Moment.now < end {
            number += 1
            try folder.write("x", to: "in/sub/.\(number).part")
            #expect(loop.turn().ready.isEmpty)
            usleep(20_000)
        }
    }

    @Test func `a file above max-source-bytes is offered without a look at its structure`() throws {
        try makeSparseGIF("a.gif", bytes: 1 << 40)
        // A look at all of it would take a quarter of an hour.
        let loop = try loop(settings: { $0.largest = 512 << 20 })
        let start = Moment.now
        #expect(offered(loop, 1) == [BytePath("a.gif")])
        #expect(.now < start + .seconds(20))
    }

    @Test func `files whose structure takes long to look at keep no other source waiting, and are decoded in the end`()
        throws
    {
        for number in 0..<4 { try makeSparseGIF("\(number).gif", bytes: 1 << 40) }
        try folder.write(SmallPNG.bytes, to: "in/good.png")
        let loop = try loop(settings: {
            $0.times.incompleteAfter = .seconds(6)
            $0.lookTime = .milliseconds(20)
        })
        let start = Moment.now
        #expect(offered(loop, 1) == [BytePath("good.png")])
        #expect(.now < start + .seconds(5))
        #expect(loop.status.counts.settling == 4)
        #expect(offered(loop, 4).count == 4)
    }

    @Test func `a set that takes long to look at is offered all the same, with all of its members`() throws {
        for number in 0..<300 { try folder.write(SmallPNG.bytes, to: "in/set/\(number).png") }
        let loop = try loop(settings: {
            $0.takesSets = true
            $0.setQuiet = .milliseconds(50)
            $0.lookTime = .zero
        })
        #expect(offered(loop, 1) == [BytePath("set")])
        _ = loop.turn()
        #expect(loop.status.counts == TrackerCounts())
    }

    @Test
    func `if the system has no more watches, the inbox is polled, and the log says which setting to raise`() throws {
        for name in ["a", "b", "c"] { try folder.write("x", to: "in/\(name)/file.jpg") }
        var notes: [WatchNote] = []
        let loop = try loop(watches: 2) { notes.append($0) }
        #expect(offered(loop, 3).count == 3)
        guard case .polling(let time, let reason)? = loop.status.how else {
            Issue.record("\(String(describing: loop.status.how))")
            return
        }
        #expect(time == .seconds(5) && reason.contains("fs.inotify.max_user_watches"))
        #expect(
            notes.map(\.sentence).contains {
                $0.hasPrefix("watching by polling every 5s: the system has no more watches")
            })
    }

    @Test func `files that are done and kept are not tracked`() throws {
        try fill(10)
        let settings = WatchSettings(name: "shop", path: BytePath(folder.path("in")))
        let loop = WatchLoop(settings, isDone: { _, _ in true }, log: { _ in })
        while loop.status.scans == 0 { #expect(loop.turn().ready.isEmpty) }
        #expect(loop.status.counts == TrackerCounts())
    }

    @Test func `a scan that takes long is followed by the next within a minute, or within its own duration`() {
        func next(after seconds: Int, every interval: Int = 60) -> Int64 {
            let began = Moment(nanoseconds: 1_000_000_000_000)
            let next = WatchLoop.nextScan(
                began: began, ended: began + .seconds(seconds), interval: .seconds(interval), longest: .seconds(60))
            return (next.nanoseconds - began.nanoseconds) / 1_000_000_000
        }
        #expect(next(after: 0) == 60)
        #expect(next(after: 1) == 60)
        #expect(next(after: 20) == 60)
        #expect(next(after: 40) == 80)
        #expect(next(after: 90) == 180)
        // Polling: ten times the duration, up to the same bound.
        #expect(next(after: 0, every: 5) == 5)
        #expect(next(after: 2, every: 5) == 22)
        #expect(next(after: 20, every: 5) == 60)
        #expect(next(after: 40, every: 5) == 80)
        #expect(next(after: 1, every: 600) == 600)
    }

    @Test func `the status says how long the last scan took`() throws {
        try fill(2000)
        let loop = try loop()
        let began = Moment.now
        while loop.status.scans == 0 { _ = loop.turn() }
        #expect(loop.status.scanSeconds > 0)
        #expect(loop.status.scanSeconds <= Double(Moment.now.nanoseconds - began.nanoseconds) / 1e9)
    }

    @Test func `a folder below the deepest level is logged once and counted, also when it appears later`() throws {
        let deepest = (0..<64).map { _ in "d" }.joined(separator: "/")
        try folder.write("x", to: "in/\(deepest)/file.jpg")
        try folder.write("x", to: "in/\(deepest)/e/file.jpg")
        var notes: [WatchNote] = []
        let loop = try loop { notes.append($0) }
        #expect(offered(loop, 1) == [BytePath("\(deepest)/file.jpg")])
        #expect(loop.status.misplaced.count == 1)
        func tooDeep() -> [WatchNote] { notes.filter { if case .misplaced(_, .tooDeep) = $0 { true } else { false } } }
        #expect(tooDeep() == [.misplaced(BytePath("\(deepest)/e"), .tooDeep)])
        #expect(tooDeep().first?.isWarning == true)
        #expect(
            tooDeep().first?.sentence.hasSuffix(
                "the folder is more than 64 levels below the inbox; move it to a higher level")
                == true)
        try folder.write("x", to: "in/\(deepest)/f/file.jpg")
        _ = loop.turn()
        #expect(tooDeep().count == 2)
        loop.rescan()
        while loop.status.scans < 2 { _ = loop.turn() }
        #expect(
            loop.status.misplaced.some.map(\.path.lastComponent.text).sorted() == ["e", "f"] && tooDeep().count == 2)
        try FileManager.default.removeItem(atPath: folder.path("in/\(deepest)/e"))
        let end = Moment.now + .seconds(10)
        while loop.status.misplaced.count == 2, .now < end { _ = loop.turn() }
        #expect(loop.status.misplaced.some.map(\.path.lastComponent.text) == ["f"])
    }

    @Test func `files beside the folders of sets are listed while they are there, however many and whenever they come`()
        throws
    {
        for number in 0..<8 { try folder.write("x", to: "in/\(number).jpg") }
        var notes: [WatchNote] = []
        let loop = try loop(notes: { notes.append($0) }, settings: { $0.takesSets = true })
        func waitForCount(_ count: Int) {
            let end = Moment.now + .seconds(10)
            while loop.status.scans == 0 || loop.status.misplaced.count != count, .now < end { _ = loop.turn() }
            #expect(loop.status.misplaced.count == count)
        }
        waitForCount(8)
        #expect(loop.status.misplaced.some.map(\.path.text) == ["0.jpg", "1.jpg", "2.jpg", "3.jpg", "4.jpg"])
        #expect(loop.status.misplaced.some.allSatisfy { $0.reason == .outsideOfSets } && loop.status.irregular == 0)
        for number in 3..<8 { try FileManager.default.removeItem(atPath: folder.path("in/\(number).jpg")) }
        waitForCount(3)
        try folder.write("x", to: "in/late.jpg")
        waitForCount(4)
        loop.rescan()
        let end = Moment.now + .seconds(10)
        while loop.status.scans < 2, .now < end { _ = loop.turn() }
        waitForCount(4)
        #expect(notes.count { if case .misplaced = $0 { true } else { false } } == 9, "each is logged once")
    }

    @Test
    func `an answer is matched by path and observation; one to an older state of the source changes nothing`() throws {
        try fill(1)
        let loop = try loop()
        #expect(offeredOnce(loop)?.path == BytePath("f0.jpg"))
        loop.answered(
            BytePath("f0.jpg"), observed: FileVersion(device: 1, inode: 2, bytes: 3, modified: 4), with: .taken)
        #expect(loop.turn().ready.isEmpty && loop.status.counts == TrackerCounts(ready: 1))
        let found = try #require(try FileSystem.status(BytePath(folder.path("in/f0.jpg"))))
        let observed = found.version
        loop.answered(BytePath("f0.jpg"), observed: observed, with: .later(.zero))
        #expect(offeredOnce(loop)?.path == BytePath("f0.jpg"))
        loop.answered(BytePath("f0.jpg"), observed: observed, with: .taken)
        _ = loop.turn()
        #expect(loop.status.counts == TrackerCounts())
    }

    /// Turns until something is offered.
    private func offeredOnce(_ loop: WatchLoop) -> Offer? {
        let end = Moment.now + .seconds(20)
        while Moment.now < end {
            if let offer = loop.turn().ready.first { return offer }
        }
        return nil
    }
}
