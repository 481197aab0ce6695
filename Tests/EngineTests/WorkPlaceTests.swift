// Claiming, putting away and finding again, with real files.
import Foundation
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine

@Suite struct WorkPlaceTests {
    private let folder: TemporaryFolder
    private let place: WorkPlace
    private let inbox: BytePath
    private let names = JobNames()

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: true)
        inbox = BytePath(folder.path("in"))
        place = WorkPlace(base: BytePath(folder.path("base")), name: "shop")
        try place.make()
    }

    private func ready(_ name: String, isSet: Bool = false) throws -> ReadySource {
        let root = try Directory(inbox)
        let path = BytePath(name)
        let above = path.directory.bytes.isEmpty ? root : try root.folder(path.directory)
        let sighting = try #require(try above.sighting(path.lastComponent))
        return ReadySource(inbox: "shop", root: try root.identity, relative: path, isSet: isSet, sighting: sighting, order: 0)
    }

    private func claim(_ source: ReadySource, record: () throws -> Void = {}) throws -> (job: JobID, outcome: ClaimOutcome) {
        let job = names.next()
        return (job, try place.claim(source, from: inbox, as: job, record: record))
    }

    private func claimed(_ name: String) throws -> ClaimedSource {
        guard case .claimed(let source) = try claim(ready(name)).outcome else { throw SystemError("claim", code: 0) }
        return source
    }

    @Test("A claimed source stands in work/ with its name noted, its inbox is free, and the job was recorded before")
    func claiming() throws {
        try folder.write("abc", to: "in/sub/a.jpg")
        var stood = false
        let (job, outcome) = try claim(ready("sub/a.jpg")) { stood = FileManager.default.fileExists(atPath: folder.path("in/sub/a.jpg")) }
        guard case .claimed(let source) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(stood && source.relative.text == "sub/a.jpg" && source.sighting.bytes == 3 && source.job == job)
        #expect(try String(contentsOfFile: place.source(of: job).text, encoding: .utf8) == "abc")
        #expect(!FileManager.default.fileExists(atPath: folder.path("in/sub/a.jpg")))
        let standing = try place.standingJobs()
        #expect(standing.map(\.id) == [job] && standing[0].relative?.text == "sub/a.jpg" && !standing[0].isSet)
        #expect(outcome.answer == .taken)
    }

    @Test("A job that cannot be recorded leaves its source where it is")
    func recordFails() throws {
        try folder.write("abc", to: "in/a.jpg")
        #expect(throws: SystemError.self) { try claim(ready("a.jpg")) { throw SystemError("write", code: ENOSPC) } }
        #expect(try folder.text("in/a.jpg") == "abc")
        #expect(try place.standingJobs() == [])
    }

    @Test("A name that is dropped fifty times makes fifty jobs, and all stand in done/ afterwards")
    func fifty() throws {
        for number in 0..<50 {
            try folder.write("drop \(number)", to: "in/scan.tar.gz")
            let source = try claimed("scan.tar.gz")
            #expect(try place.putAway(source.job, source.relative, on: .done, syncs: number < 2) != nil)
        }
        let done = try FileManager.default.contentsOfDirectory(atPath: place.path(.done).text)
        let texts = try done.map { try String(contentsOfFile: place.path(.done).text + "/" + $0, encoding: .utf8) }
        #expect(Set(texts) == Set((0..<50).map { "drop \($0)" }))
        #expect(done.contains("scan.tar.gz") && done.contains("scan.tar~2.gz") && done.contains("scan.tar~50.gz"))
        #expect(try place.standingJobs() == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.work.text) == [])
    }

    @Test("What is gone is gone quietly; what changed is left where it is")
    func goneAndChanged() throws {
        try folder.write("abc", to: "in/a.jpg")
        let source = try ready("a.jpg")
        try folder.write("abcd", to: "in/a.jpg")
        #expect(try claim(source).outcome.answer == .changed)
        #expect(try folder.text("in/a.jpg") == "abcd")
        #expect(unlink(folder.path("in/a.jpg")) == 0)
        #expect(try claim(source).outcome.answer == .gone)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.work.text) == [])
    }

    @Test("Nothing is taken from a folder that is not the one in which it was seen")
    func otherInbox() throws {
        try folder.write("abc", to: "in/a.jpg")
        let source = try ready("a.jpg")
        #expect(rename(folder.path("in"), folder.path("away")) == 0)
        #expect(try claim(source).outcome.answer == .gone)
        try folder.write("abc", to: "in/a.jpg")
        #expect(try claim(source).outcome.answer == .gone)
        #expect(try folder.text("in/a.jpg") == "abc" && folder.text("away/a.jpg") == "abc")
    }

    @Test("A link that was swapped in for a file or for a folder is not taken, and nothing outside is touched")
    func swapped() throws {
        try folder.write("secret", to: "outside/a.jpg")
        try folder.write("abc", to: "in/sub/a.jpg")
        let source = try ready("sub/a.jpg")
        #expect(rename(folder.path("in/sub"), folder.path("in/old")) == 0)
        #expect(symlink("../outside", folder.path("in/sub")) == 0)
        #expect(try claim(source).outcome.answer == .gone)
        #expect(try folder.text("outside/a.jpg") == "secret")
        let file = try ready("old/a.jpg")
        #expect(unlink(folder.path("in/old/a.jpg")) == 0 && symlink("../../outside/a.jpg", folder.path("in/old/a.jpg")) == 0)
        #expect(try claim(file).outcome.answer == .changed)
        #expect(try place.standingJobs() == [])
    }

    @Test("What the system does not let go is blocked with the reason, and stays")
    func blocked() async throws {
        try folder.write("abc", to: "in/a.jpg")
        let source = try ready("a.jpg")
        // Root is not held up by permissions, but by this.
        let fix = TestMachine.isRoot ? "chattr -i '\(folder.path)/in/a.jpg'" : "chmod 755 '\(folder.path)/in'"
        let spoil = TestMachine.isRoot ? "chattr +i '\(folder.path)/in/a.jpg'" : "chmod 555 '\(folder.path)/in'"
        guard try await CommandRunner().shell(spoil).exit == 0 else { return }
        let outcome = Result { try claim(source).outcome }
        _ = try await CommandRunner().shell(fix)
        guard case .blocked(let error) = try outcome.get() else {
            Issue.record("taken although the system forbids it")
            return
        }
        #expect(error.code == EACCES || error.code == EPERM)
        #expect(try folder.text("in/a.jpg") == "abc")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.work.text) == [])
    }

    @Test("Where work/ is gone, the source stays and the inbox is not to blame")
    func noWork() throws {
        try folder.write("abc", to: "in/a.jpg")
        try FileManager.default.removeItem(atPath: place.base.text)
        guard case .unavailable(let error) = try claim(ready("a.jpg")).outcome else {
            Issue.record("claimed without work/")
            return
        }
        #expect(error.code == ENOENT)
        #expect(try folder.text("in/a.jpg") == "abc")
    }

    @Test("Names of all bytes are kept, in done/ and in the note")
    func oddNames() throws {
        let odd: [[UInt8]] = [
            Array("-rf".utf8), Array("a\nb\t.jpg".utf8), [0xFF, 0xFE, 0x2E, 0x6A], Array("[x].jpg".utf8), [UInt8](repeating: 0x61, count: 255),
        ]
        for bytes in odd {
            let root = try Directory(inbox)
            _ = try root.making(BytePath(bytes))
            let sighting = try #require(try root.sighting(BytePath(bytes)))
            let source = ReadySource(
                inbox: "shop", root: try root.identity, relative: BytePath(bytes), isSet: false, sighting: sighting, order: 0)
            let job = try claim(source).job
            #expect(try place.standingJobs().first?.relative?.bytes == bytes)
            #expect(try place.putAway(job, BytePath(bytes), on: .failed)?.bytes == bytes)
        }
        #expect(Set(try Directory(place.path(.failed)).names()) == Set(odd))
    }

    @Test("A long name that is taken is shortened for its version")
    func longVersion() {
        let long = BytePath([UInt8](repeating: 0x61, count: 250) + Array(".jpeg".utf8))
        let version = VersionedName.version(12, of: long)
        #expect(version.bytes.count == 255 && version.text.hasSuffix("a~12.jpeg"))
        #expect(VersionedName.version(2, of: BytePath(".hidden")).text == ".hidden~2")
    }

    @Test("The note of a failed source never replaces a source of that name")
    func noteOfAnother() throws {
        for name in ["a.jpg.error.json", "a.jpg"] { try folder.write(name, to: "in/" + name) }
        let first = try claimed("a.jpg.error.json")
        #expect(try place.putAway(first.job, first.relative, on: .failed) == BytePath("a.jpg.error.json"))
        let second = try claimed("a.jpg")
        #expect(try place.putAway(second.job, second.relative, on: .failed) == BytePath("a~2.jpg"))
        try folder.write("a.jpg", to: "in/a.jpg")
        let third = try claimed("a.jpg")
        #expect(try place.putAway(third.job, third.relative, on: .done) == BytePath("a.jpg"))
    }

    @Test("Where a file stands in the way of a folder in done/, a version of the folder is made")
    func fileInTheWay() throws {
        try folder.write("1", to: "in/a")
        let file = try claimed("a")
        _ = try place.putAway(file.job, file.relative, on: .done)
        try folder.write("2", to: "in/b/c.jpg")
        let inner = try claimed("b/c.jpg")
        #expect(try place.putAway(inner.job, BytePath("a/c.jpg"), on: .done)?.text == "a~2/c.jpg")
    }

    @Test("A source goes back to its inbox, beside one that came meanwhile")
    func back() throws {
        try folder.write("old", to: "in/sub/a.jpg")
        let source = try claimed("sub/a.jpg")
        try folder.write("new", to: "in/sub/a.jpg")
        #expect(try place.putBack(source.job, source.relative, to: inbox)?.text == "sub/a~2.jpg")
        #expect(try folder.text("in/sub/a.jpg") == "new" && folder.text("in/sub/a~2.jpg") == "old")
        #expect(try place.standingJobs() == [])
    }

    @Test("A set is taken with all that is in it, and put away as a folder")
    func set() throws {
        try folder.write("1", to: "in/trip/1.png")
        try folder.write("2", to: "in/trip/more/2.png")
        let (job, outcome) = try claim(ready("trip", isSet: true))
        #expect(outcome.answer == .taken)
        #expect(try place.standingJobs()[0].isSet)
        #expect(try place.open(job, member: BytePath("more/2.png")).file.bytes(at: 0, count: 9) == Array("2".utf8))
        #expect(try place.putAway(job, BytePath("trip"), on: .done)?.text == "trip")
        #expect(try String(contentsOfFile: place.path(.done).text + "/trip/more/2.png", encoding: .utf8) == "2")
    }

    @Test("A start finds jobs that have no source any more, and may let go of those alone")
    func orphans() throws {
        try folder.write("abc", to: "in/a.jpg")
        let source = try claimed("a.jpg")
        let empty = names.next()
        _ = try Directory(place.work).makingFolder(empty.path)
        try folder.write("x", to: "base/work/shop/notes.txt")
        let standing = try place.standingJobs()
        #expect(standing.map(\.id) == [source.job, empty] && standing[1].source == nil && standing[1].relative == nil)
        try place.discard(empty)
        try place.discard(source.job)
        #expect(try place.standingJobs().map(\.id) == [source.job])
        try place.delete(source.job)
        #expect(try place.standingJobs() == [])
    }

    @Test("A place is held by one at a time")
    func lock() throws {
        let held = try place.lock()
        let error = #expect(throws: SystemError.self) { try place.lock() }
        #expect(error?.description.contains("another imagemill works there") == true)
        withExtendedLifetime(held) {}
    }

    @Test("A source with two names, or with a writer, is read from a copy of its own; the source stays as it is")
    func copies() throws {
        try folder.write("shared", to: "in/a.jpg")
        #expect(link(folder.path("in/a.jpg"), folder.path("elsewhere.jpg")) == 0)
        let linked = try claimed("a.jpg")
        let copy = try place.open(linked.job)
        #expect(copy.isCopy && copy.file.bytes(at: 0, count: 99) == Array("shared".utf8))
        let writer = open(folder.path("elsewhere.jpg"), O_WRONLY | O_TRUNC)
        close(writer)
        #expect(copy.file.bytes(at: 0, count: 99) == Array("shared".utf8))
        #expect(try copy.file.status().modified == linked.sighting.modified)

        try folder.write("open", to: "in/b.jpg")
        let descriptor = open(folder.path("in/b.jpg"), O_RDWR)
        let held = try claimed("b.jpg")
        #expect(try place.open(held.job).isCopy)
        close(descriptor)
        // Only where the system says that nobody writes.
        let alone = try place.open(held.job)
        #expect(alone.file.bytes(at: 0, count: 99) == Array("open".utf8))
        try place.putAway(held.job, held.relative, on: .done)
        #expect(try String(contentsOfFile: place.path(.done).text + "/b.jpg", encoding: .utf8) == "open")
        #expect(try place.standingJobs().map(\.id) == [linked.job])
    }

    @Test("A source that is kept stays in its inbox, and a copy of it is worked on")
    func kept() throws {
        try folder.write("abc", to: "in/a.jpg")
        try folder.write("1", to: "in/trip/more/1.png")
        #expect(symlink("/etc/passwd", folder.path("in/trip/link.png")) == 0)
        for (name, isSet) in [("a.jpg", false), ("trip", true)] {
            let source = try ready(name, isSet: isSet)
            let job = names.next()
            let outcome = try place.claim(source, from: inbox, as: job, keepsOriginal: true) {}
            guard case .claimed(let claimed) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(claimed.isSet == isSet)
            let copy = try place.open(job, member: isSet ? BytePath("more/1.png") : nil)
            #expect(copy.file.bytes(at: 0, count: 9) == Array((isSet ? "1" : "abc").utf8))
            #expect(try !Directory(place.source(of: job).directory).names().contains(Array("link.png".utf8)))
            try place.delete(job)
        }
        #expect(try folder.text("in/a.jpg") == "abc" && folder.text("in/trip/more/1.png") == "1")
        #expect(try place.standingJobs() == [])
    }

    @Test("What is kept and too large to be rendered is not copied: it would fill the disk for nothing")
    func keptAndTooLarge() throws {
        try folder.write("abc", to: "in/large.jpg")
        try folder.write("abc", to: "in/trip/large.png")
        for (name, isSet) in [("large.jpg", false), ("trip", true)] {
            let job = names.next()
            guard case .claimed = try place.claim(ready(name, isSet: isSet), from: inbox, as: job, keepsOriginal: true, largest: 2, record: {}) else {
                Issue.record("not claimed")
                continue
            }
            let copy = isSet ? place.source(of: job).appending(BytePath("large.png")) : place.source(of: job)
            let original = inbox.appending(isSet ? BytePath("trip/large.png") : BytePath(name))
            #expect(try FileSystem.status(copy)?.inode == FileSystem.status(original)?.inode)
            try place.delete(job)
        }
        #expect(try folder.text("in/large.jpg") == "abc" && folder.text("in/trip/large.png") == "abc")
    }

    @Test("Names of jobs are in order and unique, also when the clock goes back; others' names are none")
    func jobNames() {
        let names = JobNames()
        let made = [1000, 1000, 900, 2000, 1].map { names.next(milliseconds: $0) }
        #expect(made == made.sorted() && Set(made).count == 5)
        #expect(JobID(Array(made[0].text.utf8)) == made[0])
        #expect(made.allSatisfy { $0.text.utf8.count == 30 })
        let many = (0..<70_000).map { _ in names.next(milliseconds: 5) }
        #expect(many == many.sorted())
        for wrong in ["", "source", "..", String(repeating: "a", count: 30), made[0].text.uppercased() + "x"] {
            #expect(JobID(Array(wrong.utf8)) == nil)
        }
    }

    @Test("work/ stands below the state folder where a rename reaches it, else beside the inbox")
    func base() throws {
        let near = WorkBase(inbox: inbox, state: BytePath(folder.path("state")))
        #expect(near.predicted?.text == folder.path("state"))
        #expect(try near.make(for: "shop").base.text == folder.path("state"))
        #expect(try folder.entries().contains("state/work/shop"))
        // /dev/shm is another file system than the folder for temporary files, where both are there.
        let far = WorkBase(inbox: inbox, state: BytePath("/dev/shm/imagemill-test-\(getpid())"))
        if try FileSystem.status(BytePath("/dev/shm"))?.device != FileSystem.status(inbox)?.device {
            #expect(far.predicted?.text == folder.path(".imagemill"))
            #expect(try far.make(for: "shop").base.text == folder.path(".imagemill"))
            #expect(try FileSystem.status(far.candidates[0]) == nil)
        }
        // What a crash left of an earlier trial.
        try folder.write("", to: "in/.imagemill-trial")
        try folder.write("", to: "state/work/shop/.imagemill-trial")
        _ = try near.make(for: "shop")
        #expect(try Directory(near.make(for: "shop").work).names() == [])
        #expect(try Directory(inbox).names() == [])
        #expect(WorkBase(inbox: BytePath(folder.path("gone")), state: BytePath(folder.path("state"))).predicted == nil)
    }

    @Test("A job whose folder is gone has nothing to put away, also where all of work/ was made anew")
    func vanished() throws {
        try folder.write("x", to: "in/a.jpg")
        let source = try claimed("a.jpg")
        try FileManager.default.removeItem(atPath: folder.path("base/work"))
        #expect(throws: SystemError.self) { try place.putAway(source.job, source.relative, on: .done) }
        try place.make()
        #expect(try place.putAway(source.job, source.relative, on: .done) == nil)
    }
}
