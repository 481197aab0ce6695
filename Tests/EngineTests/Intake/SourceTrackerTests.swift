// The tracker, for many files at once: no file is touched, and time is a number.
import Glibc
import Pipeline
import Testing

@testable import Engine
@testable import System

@Suite struct SourceTrackerTests {
    private func at(_ seconds: Double) -> Moment { Moment(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1e9)) }

    private func file(_ inode: UInt64 = 7, bytes: Int = 100, changed: Int = 5) -> FileStatus {
        FileStatus(identity: FileIdentity(device: 1, inode: inode), bytes: bytes, modified: 5, changed: changed)
    }

    private let full = Examination(hasWriter: nil, structure: .complete)

    /// Answers every question that is due as if these files were there, and gives what is offered.
    private func offers(
        _ tracker: inout SourceTracker, at now: Moment, _ files: [String: FileStatus], _ found: Examination? = nil,
        declared: Bool = false
    ) -> [String] {
        var offered: [String] = []
        while var action = tracker.nextAction(at: now) {
            while true {
                var next: SourceTracker.Action?
                switch action {
                case .look(let path, _):
                    next = tracker.looked(
                        path, status: files[path.text], signs: UploadSigns(isDeclaredComplete: declared), at: now)
                case .examine(let path, _): next = tracker.examined(path, found ?? full, at: now)
                case .offer(let path, _, _, _): offered.append(path.text)
                }
                guard let next else { break }
                action = next
            }
        }
        return offered
    }

    @Test func `what could not be taken while it was settling again is offered again, though it is as it was`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.finished, BytePath("a"), at: at(0))
        #expect(offers(&tracker, at: at(0), ["a": file()]) == ["a"])
        // Somebody opens it for writing and closes it; before it is looked at, the offer is turned down.
        tracker.record(.finished, BytePath("a"), at: at(1))
        tracker.answered(BytePath("a"), observed: file().version, with: .later(.seconds(1)), at: at(1))
        #expect(offers(&tracker, at: at(1), ["a": file()]) == ["a"])
    }

    @Test(arguments: [false, true])
    func `a source that a person wants tried now is known before or after its event, and is not offered twice`(
        isBefore: Bool
    ) {
        var tracker = SourceTracker(times: SettleTimes())
        let torn = Examination(hasWriter: nil, structure: .incomplete)
        if isBefore { tracker.hasten(BytePath("a"), isSet: false, at: at(0)) }
        tracker.record(.finished, BytePath("a"), at: at(0))
        #expect(offers(&tracker, at: at(0), ["a": file()], torn) == [])
        if !isBefore { tracker.hasten(BytePath("a"), isSet: false, at: at(0)) }
        #expect(offers(&tracker, at: at(0), ["a": file()], torn) == [])
        #expect(offers(&tracker, at: at(2), ["a": file()], torn) == ["a"])
        tracker.hasten(BytePath("a"), isSet: false, at: at(3))
        #expect(offers(&tracker, at: at(3), ["a": file()], torn) == [] && tracker.counts.ready == 1)
        tracker.hasten(BytePath("gone"), isSet: false, at: at(3))
        #expect(offers(&tracker, at: at(3), ["a": file()], torn) == [] && tracker.count == 1)
    }

    @Test func `a file that is no picture is looked at again only when it has changed, however many there are`() {
        // Two of them are kept in memory, the others in the table.
        var tracker = SourceTracker(times: SettleTimes(settle: .seconds(1)), capacity: 32)
        let names = (0..<9).map { "\($0).xmp" }
        var files = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, file(UInt64($0 + 10))) })
        func scan(at seconds: Double) {
            tracker.beginScan()
            for name in names { tracker.scanned(BytePath(name), files[name]!, at: at(seconds)) }
            tracker.endScan(at: at(seconds))
        }
        scan(at: 0)
        #expect(offers(&tracker, at: at(2), files).sorted() == names)
        for name in names { tracker.passOver(BytePath(name), .somethingElse, at: at(2)) }
        #expect(tracker.counts == TrackerCounts(passedOver: 9))
        #expect(tracker.passedOver(limit: 5).map(\.path.text) == ["0.xmp", "1.xmp"])
        for minute in 1...3 {
            scan(at: Double(minute * 60))
            #expect(tracker.nextAction(at: at(Double(minute * 60 + 30))) == nil)
            #expect(tracker.counts == TrackerCounts(passedOver: 9))
        }
        // One in memory and one in the table change.
        files["0.xmp"] = file(10, changed: 6)
        files["7.xmp"] = file(17, changed: 6)
        scan(at: 240)
        // The one in memory was known with other facts, so that a first look begins its waiting anew.
        let changed = offers(&tracker, at: at(250), files) + offers(&tracker, at: at(252), files)
        #expect(changed.sorted() == ["0.xmp", "7.xmp"])
        #expect(tracker.counts == TrackerCounts(ready: 2, passedOver: 7))
        // All but one are removed.
        files = ["3.xmp": file(13)]
        tracker.beginScan()
        tracker.scanned(BytePath("3.xmp"), files["3.xmp"]!, at: at(300))
        tracker.endScan(at: at(300))
        #expect(offers(&tracker, at: at(300), files) == [])
        #expect(tracker.counts == TrackerCounts(passedOver: 1))
    }

    @Test func `a file that was there at the start is offered after the settle time, once`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.beginScan()
        tracker.scanned(BytePath("a"), file(), at: at(0))
        tracker.endScan(at: at(0))
        #expect(offers(&tracker, at: at(1.9), ["a": file()]) == [])
        #expect(tracker.counts == TrackerCounts(settling: 1))
        #expect(tracker.nextDue == at(2))
        #expect(offers(&tracker, at: at(2), ["a": file()]) == ["a"])
        #expect(tracker.counts == TrackerCounts(ready: 1))
        #expect(tracker.nextDue == nil)
        // Another scan sees it as it was.
        tracker.beginScan()
        tracker.scanned(BytePath("a"), file(), at: at(60))
        tracker.endScan(at: at(60))
        #expect(offers(&tracker, at: at(100), ["a": file()]) == [])
        #expect(tracker.counts == TrackerCounts(ready: 1))
    }

    @Test func `a file that is moved in is offered at once, and forgotten when it is taken`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.finished, BytePath("a"), at: at(0))
        #expect(offers(&tracker, at: at(0), ["a": file()]) == ["a"])
        tracker.answered(BytePath("a"), observed: file().version, with: .taken, at: at(1))
        #expect(tracker.count == 0 && tracker.counts == TrackerCounts())
    }

    @Test func `a file that vanishes is forgotten without a word, before it is looked at and after it was offered`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.appeared, BytePath("a"), at: at(0))
        tracker.record(.finished, BytePath("b"), at: at(0))
        #expect(offers(&tracker, at: at(0), ["b": file()]) == ["b"])
        tracker.record(.vanished, BytePath("a"), at: at(1))
        tracker.record(.vanished, BytePath("b"), at: at(1))
        #expect(tracker.count == 0)
        // Without an event, the look finds out.
        tracker.record(.appeared, BytePath("c"), at: at(1))
        #expect(offers(&tracker, at: at(10), [:]) == [])
        #expect(tracker.count == 0 && tracker.nextDue == nil)
    }

    @Test
    func `a file that is replaced while it is offered settles again, and the answer to the old offer changes nothing`()
    {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.finished, BytePath("a"), at: at(0))
        #expect(offers(&tracker, at: at(0), ["a": file(1)]) == ["a"])
        tracker.record(.appeared, BytePath("a"), at: at(1))
        tracker.answered(BytePath("a"), observed: file(1).version, with: .taken, at: at(1.5))
        #expect(tracker.count == 1)
        #expect(offers(&tracker, at: at(1.5), ["a": file(2)]) == [])
        #expect(offers(&tracker, at: at(3.5), ["a": file(2)]) == ["a"])
        tracker.answered(BytePath("a"), observed: file(1).version, with: .changed, at: at(4))
        #expect(offers(&tracker, at: at(4), ["a": file(2)]) == [])
        tracker.answered(BytePath("a"), observed: file(2).version, with: .taken, at: at(5))
        #expect(tracker.count == 0)
    }

    @Test func `a scan that does not see a file has it looked at, and one that was offered is not offered twice`() {
        var tracker = SourceTracker(times: SettleTimes())
        for name in ["a", "b"] { tracker.record(.finished, BytePath(name), at: at(0)) }
        #expect(offers(&tracker, at: at(0), ["a": file(1), "b": file(2)]).sorted() == ["a", "b"])
        tracker.beginScan()
        tracker.endScan(at: at(60))
        #expect(offers(&tracker, at: at(60), ["a": file(1)]) == [])
        #expect(tracker.counts == TrackerCounts(ready: 1))
    }

    @Test func `a scan that sees another file under an offered name lets that one settle`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.finished, BytePath("a"), at: at(0))
        #expect(offers(&tracker, at: at(0), ["a": file(1)]) == ["a"])
        tracker.beginScan()
        tracker.scanned(BytePath("a"), file(2), at: at(60))
        tracker.endScan(at: at(60))
        #expect(offers(&tracker, at: at(60), ["a": file(2)]) == [])
        #expect(tracker.counts == TrackerCounts(settling: 1))
        #expect(offers(&tracker, at: at(62), ["a": file(2)]) == ["a"])
    }

    @Test func `what cannot be taken is offered again after 1, 2, 4 seconds and so on to an hour, and says why`() {
        var tracker = SourceTracker(times: SettleTimes())
        let reason = SystemError("move 'a'", code: EACCES)
        tracker.record(.finished, BytePath("a"), at: at(0))
        var now = 0.0
        var pauses: [Double] = []
        for _ in 0..<14 {
            #expect(offers(&tracker, at: at(now), ["a": file()]) == ["a"])
            tracker.answered(BytePath("a"), observed: file().version, with: .blocked(reason), at: at(now))
            #expect(tracker.counts == TrackerCounts(blocked: 1))
            #expect(tracker.blocked(limit: 5).map(\.reason) == [reason])
            let next = Double((tracker.nextDue ?? .never).nanoseconds - at(0).nanoseconds) / 1e9
            pauses.append(next - now)
            now = next
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600])
    }

    @Test func `what is blocked is looked at as soon as its permissions change`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.finished, BytePath("a"), at: at(0))
        _ = offers(&tracker, at: at(0), ["a": file()])
        tracker.answered(
            BytePath("a"), observed: file().version, with: .blocked(SystemError("move", code: EACCES)), at: at(1))
        tracker.record(.touched, BytePath("a"), at: at(1.1))
        #expect(offers(&tracker, at: at(1.1), ["a": file(changed: 6)]) == [])
        #expect(offers(&tracker, at: at(3.1), ["a": file(changed: 6)]) == ["a"])
    }

    @Test func `a file that one scan saw empty and the next one filled does not wait for the time of empty files`() {
        var tracker = SourceTracker(times: SettleTimes())
        for (time, bytes) in [(0.0, 0), (5.0, 100)] {
            tracker.beginScan()
            tracker.scanned(BytePath("a"), file(bytes: bytes), at: at(time))
            tracker.endScan(at: at(time))
            let offered = offers(&tracker, at: at(time), ["a": file(bytes: bytes)])
            #expect(offered == [])
        }
        let offered = offers(&tracker, at: at(7), ["a": file(bytes: 100)])
        #expect(offered == ["a"])
    }

    /// Scans all of these files, and answers each offer: those that begin with `bad` are blocked.
    private func scan(_ tracker: inout SourceTracker, _ names: [String], at now: Double) -> [String] {
        let files = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, file(UInt64($0 + 10))) })
        tracker.beginScan()
        for name in names { tracker.scanned(BytePath(name), files[name]!, at: at(now)) }
        tracker.endScan(at: at(now))
        let offered = offers(&tracker, at: at(now + 2), files)
        for name in offered {
            let isBad = name.hasPrefix("bad")
            tracker.answered(
                BytePath(name), observed: files[name]!.version,
                with: isBad ? .blocked(SystemError("move", code: EACCES)) : .taken, at: at(now + 2))
        }
        return offered
    }

    @Test func `blocked sources leave room for the others, are counted, and are not tried again before their time`() {
        var tracker = SourceTracker(times: SettleTimes(), capacity: 160)
        let names = (0..<500).map { "bad/\($0)" } + ["good"]
        var (tries, now, seen) = (0, 0.0, false)
        while !seen && now < 60 {
            let offered = scan(&tracker, names, at: now)
            tries += offered.count
            seen = offered.contains("good")
            #expect(tracker.count <= 160)
            now += 5
        }
        #expect(seen)
        // The table is small here, so that some of them share a place and are tried more often.
        #expect(tries < 1500, "\(tries)")
        _ = scan(&tracker, names.dropLast(), at: now)
        #expect(tracker.counts.blocked > 400 && tracker.count <= 10)
        #expect(tracker.blocked(limit: 5).count == 5)
    }

    @Test func `the permissions of a folder change, and all that was blocked in it is tried at once`() {
        var tracker = SourceTracker(times: SettleTimes(), capacity: 160)
        let names = (0..<100).map { "bad/\($0)" }
        let first = scan(&tracker, names, at: 0)
        #expect(first.count == 100 && tracker.counts == TrackerCounts(blocked: 100) && tracker.count == 10)
        let isElsewhere = tracker.unblock(below: BytePath("other"), at: at(2.1))
        #expect(!isElsewhere)
        let wantsScan = tracker.unblock(below: BytePath("bad"), at: at(2.2))
        #expect(wantsScan)
        let second = scan(&tracker, names, at: 2.3)
        #expect(second.count == 100)
    }

    @Test func `the permissions of a folder change in which everything was set aside, and a scan is to find it`() throws
    {
        var tracker = SourceTracker(times: SettleTimes(), capacity: 160)
        let names = (0..<30).map { "bad\($0)/a" }
        #expect(scan(&tracker, names, at: 0).count == 30)
        let known = Set(tracker.blocked(limit: 100).map(\.path.text))
        #expect(known.count == 10)
        let aside = try #require(names.first { !known.contains($0) })
        let isElsewhere = tracker.unblock(below: BytePath("other"), at: at(2.1))
        #expect(!isElsewhere)
        let wantsScan = tracker.unblock(below: BytePath(aside).directory, at: at(2.2))
        #expect(wantsScan)
        #expect(scan(&tracker, [aside], at: 2.3) == [aside])
    }

    /// Scans an inbox with one set in it, which has two members.
    private func scanSet(_ tracker: inout SourceTracker, _ name: String, inode: UInt64, at now: Double) {
        tracker.beginScan()
        tracker.scannedSet(BytePath(name), folder: FileIdentity(device: 1, inode: inode), at: at(now))
        for _ in 0..<2 { tracker.scannedSet(BytePath(name), folder: nil, at: at(now)) }
        tracker.endScan(at: at(now))
    }

    private func set(_ inode: UInt64) -> FileStatus {
        FileStatus(
            kind: .directory, identity: FileIdentity(device: 1, inode: inode), bytes: 100, modified: 5, changed: 5)
    }

    @Test func `a set that cannot be taken is not tried again by each scan, unless another one has its name`() {
        var tracker = SourceTracker(times: SettleTimes())
        scanSet(&tracker, "a", inode: 7, at: 0)
        var found = offers(&tracker, at: at(0), ["a": set(7)])
        #expect(found == [])
        var pauses: [Double] = []
        var (now, blocked) = (5.0, 5.0)
        while pauses.count < 5 && now < 100 {
            scanSet(&tracker, "a", inode: 7, at: now)
            found = offers(&tracker, at: at(now), ["a": set(7)])
            if found == ["a"] {
                tracker.answered(
                    BytePath("a"), observed: set(7).version, with: .blocked(SystemError("move", code: EACCES)),
                    at: at(now))
                pauses.append(now - blocked)
                blocked = now
            }
            now += 0.5
        }
        #expect(pauses == [0, 1, 2, 4, 8])
        scanSet(&tracker, "a", inode: 8, at: now)
        found = offers(&tracker, at: at(now), ["a": set(8)])
        #expect(found == [] && tracker.counts == TrackerCounts(settling: 1))
    }

    @Test func `a set whose folder cannot be listed is not tried again by each scan, and at once when it can be`() {
        var tracker = SourceTracker(times: SettleTimes())
        scanSet(&tracker, "a", inode: 7, at: 0)
        _ = offers(&tracker, at: at(0), ["a": set(7)])
        var tries: [Double] = []
        var now = 5.0
        while now < 36 {
            tracker.beginScan()
            tracker.endScan(at: at(now), isPartial: true)
            while case .look(let path, _)? = tracker.nextAction(at: at(now)) {
                tracker.failed(path, SystemError("list a folder", code: EIO), at: at(now))
                tries.append(now)
            }
            now += 0.5
        }
        #expect(tries == [5, 6, 8, 12, 20])
        let wantsScan = tracker.unblock(below: BytePath([]), at: at(now))
        #expect(!wantsScan)
        #expect(offers(&tracker, at: at(now), ["a": set(7)]) == ["a"])
        // A scan that saw everything did not see it: it is looked at, though it is not time yet.
        tracker.answered(
            BytePath("a"), observed: set(7).version, with: .blocked(SystemError("move", code: EACCES)),
            at: at(now))
        tracker.beginScan()
        tracker.endScan(at: at(now + 0.1))
        #expect(offers(&tracker, at: at(now + 0.1), [:]) == [])
        #expect(tracker.counts == TrackerCounts())
    }

    @Test func `a set that was set aside is counted once, however much is in it`() {
        var tracker = SourceTracker(times: SettleTimes(), capacity: 16)
        for name in ["a", "b"] { tracker.recordSet(BytePath(name), isDeclaredComplete: false, at: at(0)) }
        let reason = SystemError("look", code: EACCES)
        while case .look(let path, _)? = tracker.nextAction(at: at(5)) { tracker.failed(path, reason, at: at(5)) }
        #expect(tracker.counts == TrackerCounts(blocked: 2) && tracker.count == 1)
        tracker.beginScan()
        for (number, name) in ["a", "b"].enumerated() {
            let folder = FileIdentity(device: 1, inode: UInt64(number))
            for folder in [folder, nil, nil] { tracker.scannedSet(BytePath(name), folder: folder, at: at(5.5)) }
        }
        tracker.endScan(at: at(5.5))
        #expect(tracker.counts == TrackerCounts(blocked: 2))
    }

    @Test func `what waits behind a job of its own name is offered again when that job has ended`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.finished, BytePath("a"), at: at(0))
        #expect(offers(&tracker, at: at(0), ["a": file()]) == ["a"])
        // The queue has a job of that path under way, which ends before the source is offered again.
        tracker.answered(BytePath("a"), observed: file().version, with: .later(.seconds(1)), at: at(0))
        tracker.answered(BytePath("a"), observed: file().version, with: .taken, at: at(0.5))
        #expect(offers(&tracker, at: at(1), ["a": file()]) == ["a"])
    }

    @Test func `what cannot be taken now is offered again later, unchanged`() {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.finished, BytePath("a"), at: at(0))
        _ = offers(&tracker, at: at(0), ["a": file()])
        tracker.answered(BytePath("a"), observed: file().version, with: .later(.seconds(5)), at: at(1))
        #expect(tracker.counts == TrackerCounts(ready: 1), "it is complete all the time")
        #expect(offers(&tracker, at: at(5.9), ["a": file()]) == [])
        #expect(offers(&tracker, at: at(6), ["a": file()]) == ["a"])
        #expect(tracker.counts == TrackerCounts(ready: 1))
    }

    @Test func `a storm of events about one file sets one alarm, not one for each`() {
        var tracker = SourceTracker(times: SettleTimes())
        for step in 0..<100_000 { tracker.record(.written, BytePath("a"), at: at(Double(step) / 100_000)) }
        var looks = 0
        while tracker.nextAction(at: at(3)) != nil { looks += 1 }
        #expect(looks == 1)
    }

    @Test func `offers carry the order of first sight, whatever settles first`() throws {
        var tracker = SourceTracker(times: SettleTimes())
        tracker.record(.appeared, BytePath("slow"), at: at(0))
        tracker.record(.finished, BytePath("quick"), at: at(1))
        var orders: [String: UInt64] = [:]
        for now in [1.0, 5.0] {
            while let action = tracker.nextAction(at: at(now)), case .look(let path, _) = action {
                guard case .examine? = tracker.looked(path, status: file(), at: at(now)),
                    case .offer(_, _, _, let order)? = tracker.examined(path, full, at: at(now))
                else { continue }
                orders[path.text] = order
            }
        }
        // The slow one was looked at for the first time after five seconds, and settles from there.
        _ = offers(&tracker, at: at(7), ["slow": file()])
        #expect(orders["quick"] == 1)
        #expect(tracker.counts.ready == 2)
    }

    @Test func `more than fits is turned away, and asked for by a scan once there is room`() {
        var tracker = SourceTracker(times: SettleTimes(), capacity: 4)
        tracker.beginScan()
        for name in 0..<6 { tracker.scanned(BytePath("f\(name)"), file(UInt64(name)), at: at(0)) }
        tracker.endScan(at: at(0))
        #expect(tracker.count == 4 && !tracker.wantsScan)
        tracker.record(.vanished, BytePath("f0"), at: at(1))
        #expect(!tracker.wantsScan)
        tracker.record(.vanished, BytePath("f1"), at: at(1))
        #expect(tracker.wantsScan)
        tracker.beginScan()
        #expect(!tracker.wantsScan)
    }

    @Test func `a folder that is moved away takes its files with it, and no others`() {
        var tracker = SourceTracker(times: SettleTimes())
        for name in ["a/1", "a/b/2", "ab/3", "4"] { tracker.record(.appeared, BytePath(name), at: at(0)) }
        tracker.forgetFolder(BytePath("a"))
        #expect(tracker.count == 2 && tracker.counts == TrackerCounts(settling: 2))
        tracker.forgetAll()
        #expect(tracker.count == 0 && tracker.counts == TrackerCounts())
    }

    @Test func `a set waits while one of its files is open, and then for its quiet time`() {
        var tracker = SourceTracker(times: SettleTimes(), setQuiet: .seconds(5))
        let set = FileStatus(
            kind: .directory, identity: FileIdentity(device: 1, inode: 9), bytes: 10, modified: 1, changed: 1)
        tracker.record(.written, set: BytePath("s"), member: BytePath("1.png"), at: at(0))
        tracker.record(.written, set: BytePath("s"), member: BytePath("2.png"), at: at(1))
        tracker.record(.finished, set: BytePath("s"), member: BytePath("1.png"), at: at(2))
        #expect(offers(&tracker, at: at(8), ["s": set]) == [])
        tracker.record(.finished, set: BytePath("s"), member: BytePath("2.png"), at: at(30))
        #expect(offers(&tracker, at: at(34.9), ["s": set]) == [])
        #expect(offers(&tracker, at: at(35), ["s": set]) == ["s"])
    }

    @Test func `a set with its mark is offered at once`() {
        var tracker = SourceTracker(times: SettleTimes(), setQuiet: .seconds(5))
        let set = FileStatus(
            kind: .directory, identity: FileIdentity(device: 1, inode: 9), bytes: 10, modified: 1, changed: 1)
        tracker.record(.finished, set: BytePath("s"), member: BytePath("1.png"), at: at(0))
        tracker.recordSet(BytePath("s"), isDeclaredComplete: true, at: at(0.1))
        #expect(offers(&tracker, at: at(0.1), ["s": set], declared: true) == ["s"])
    }
}
