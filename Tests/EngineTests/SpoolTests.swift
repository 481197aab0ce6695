// Claiming, opening, settling and finding again, with real files.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct SpoolTests {
    private let fixture: SpoolFixture
    private var folder: TemporaryFolder { fixture.folder }
    private var spool: Spool { fixture.spool }

    init() throws { fixture = try SpoolFixture() }

    // MARK: - Claiming

    @Test func `a claimed source is in work/ with its name noted, and its name in the inbox is free`() throws {
        try folder.write("abc", to: "in/sub/a.jpg")
        let job = try fixture.claimed("sub/a.jpg")
        #expect(try folder.text("\(fixture.work)/\(job.id.text)/source") == "abc")
        #expect(try fixture.list("in") == ["sub"])
        let entries = try fixture.entries()
        #expect(
            entries.map(\.id) == [job.id] && entries[0].path?.text == "sub/a.jpg" && !entries[0].isSet
                && !entries[0].isCopy)
        #expect(entries[0].source?.bytes == 3)
        #expect(try fixture.place(job) == .spool)
    }

    @Test func `a name that is dropped fifty times makes fifty jobs, and all are in done/ afterwards`() throws {
        for number in 0..<50 {
            try folder.write("drop \(number)", to: "in/scan.tar.gz")
            try fixture.settle(fixture.claimed("scan.tar.gz"))
        }
        let done = try fixture.list(fixture.done)
        #expect(try Set(done.map { try folder.text("\(fixture.done)/\($0)") }) == Set((0..<50).map { "drop \($0)" }))
        #expect(done.contains("scan.tar.gz") && done.contains("scan.tar~2.gz") && done.contains("scan.tar~50.gz"))
        #expect(try fixture.entries() == [] && fixture.list(fixture.work) == [])
    }

    @Test func `what is gone is gone quietly; what changed is left where it is`() throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.job("a.jpg")
        try folder.write("abcd", to: "in/a.jpg")
        #expect(fixture.claim(job) == .changed)
        #expect(try folder.text("in/a.jpg") == "abcd")
        #expect(unlink(folder.path("in/a.jpg")) == 0)
        #expect(fixture.claim(job) == .gone)
        #expect(try fixture.list(fixture.work) == [])
        #expect(try fixture.place(job) == .nowhere)
    }

    @Test func `nothing is taken from a folder that is not the one in which it was seen`() throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.job("a.jpg")
        #expect(rename(folder.path("in"), folder.path("away")) == 0)
        guard case .unavailable = fixture.claim(job) else {
            Issue.record("an inbox that is missing loses nothing")
            return
        }
        try folder.write("abc", to: "in/a.jpg")
        #expect(fixture.claim(job) == .changed)
        #expect(try folder.text("in/a.jpg") == "abc" && folder.text("away/a.jpg") == "abc")
    }

    @Test
    func `a link that was swapped in for a file or for a folder is not taken, and nothing outside is touched`() throws {
        try folder.write("secret", to: "outside/a.jpg")
        try folder.write("abc", to: "in/sub/a.jpg")
        let job = try fixture.job("sub/a.jpg")
        #expect(rename(folder.path("in/sub"), folder.path("in/old")) == 0)
        #expect(symlink("../outside", folder.path("in/sub")) == 0)
        #expect(fixture.claim(job) == .gone)
        #expect(try folder.text("outside/a.jpg") == "secret")
        let file = try fixture.job("old/a.jpg")
        #expect(
            unlink(folder.path("in/old/a.jpg")) == 0 && symlink("../../outside/a.jpg", folder.path("in/old/a.jpg")) == 0
        )
        #expect(fixture.claim(file) == .changed)
        #expect(try fixture.entries() == [])
    }

    @Test(.enabled(if: TestMachine.canForbidRemoval, "no file can be made immutable here"))
    func `what the system does not let go is blocked with the reason, and stays`() async throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.job("a.jpg")
        // Root is not held up by permissions, but by this.
        let fix = TestMachine.isRoot ? "chattr -i '\(folder.path)/in/a.jpg'" : "chmod 755 '\(folder.path)/in'"
        let spoil = TestMachine.isRoot ? "chattr +i '\(folder.path)/in/a.jpg'" : "chmod 555 '\(folder.path)/in'"
        try #require(try await CommandRunner().shell(spoil).exit == 0)
        let outcome = fixture.claim(job)
        _ = try await CommandRunner().shell(fix)
        guard case .blocked(let error) = outcome else {
            Issue.record("taken although the system forbids it")
            return
        }
        #expect(error.code == EACCES || error.code == EPERM)
        #expect(try folder.text("in/a.jpg") == "abc" && fixture.list(fixture.work) == [])
    }

    @Test func `if work/ is gone, the source stays and the inbox is not to blame`() throws {
        try folder.write("abc", to: "in/a.jpg")
        try FileManager.default.removeItem(atPath: spool.base.text)
        guard case .unavailable(let error) = fixture.claim(try fixture.job("a.jpg")) else {
            Issue.record("claimed without work/")
            return
        }
        #expect(error.code == ENOENT)
        #expect(try folder.text("in/a.jpg") == "abc")
    }

    @Test func `names of all bytes are kept, in failed/ and in the note of the name`() throws {
        let odd: [[UInt8]] = [
            Array("-rf".utf8), Array("a\nb\t.jpg".utf8), [0xFF, 0xFE, 0x2E, 0x6A], Array("[x].jpg".utf8),
            [UInt8](repeating: 0x61, count: 255),
        ]
        for bytes in odd {
            let path = BytePath(bytes)
            _ = try Directory(fixture.inbox).making(path)
            let job = try fixture.job(path)
            #expect(fixture.claim(job) == .claimed)
            #expect(try fixture.entries().first?.path?.bytes == bytes)
            #expect(try spool.deadLetter(job, note: fixture.note(job))?.bytes == bytes)
        }
        let names = try Directory(spool.path(.failed)).names()
        #expect(names.count == 2 * odd.count && Set(names).isSuperset(of: odd))
    }

    @Test func `a long name that is taken is shortened for its version, and versions are recognised`() {
        let long = BytePath([UInt8](repeating: 0x61, count: 250) + Array(".jpeg".utf8))
        let version = VersionedName.version(12, of: long)
        #expect(version.bytes.count == 255 && version.text.hasSuffix("a~12.jpeg"))
        #expect(VersionedName.version(2, of: BytePath(".hidden")).text == ".hidden~2")
        let name = BytePath("a~1.jpg")
        #expect(
            VersionedName.isVersion(VersionedName.version(3, of: name), of: name)
                && VersionedName.isVersion(version, of: long))
        #expect(
            !VersionedName.isVersion(BytePath("a~x.jpg"), of: BytePath("a.jpg"))
                && !VersionedName.isVersion(BytePath("b~2.jpg"), of: name))
    }

    // MARK: - Sources that stay

    @Test func `a source that is kept stays in its inbox, and a copy of its pictures is worked on`() throws {
        try folder.write("abc", to: "in/a.jpg")
        try folder.write("1", to: "in/trip/more/1.png")
        try folder.write("x", to: "in/trip/Thumbs.db")
        #expect(symlink("/etc/passwd", folder.path("in/trip/link.png")) == 0)
        for (name, isSet) in [("a.jpg", false), ("trip", true)] {
            let job = try fixture.claimed(name, isSet: isSet, keeps: true)
            let source = try fixture.open(job)
            #expect(try fixture.text(source.members?.first ?? source) == (isSet ? "1" : "abc"))
            #expect(source.members?.map(\.relative.text) == (isSet ? ["trip/more/1.png"] : nil))
            #expect(
                try source.members?.first?.location.status()?.modified ?? job.observed.stamp.modified
                    == (isSet
                        ? FileSystem.status(BytePath(folder.path("in/trip/more/1.png")))?.modified
                        : job.observed.stamp.modified))
            #expect(try fixture.entries().first?.isCopy == true && fixture.place(job) == .spool)
            #expect(try fixture.settle(job, .keep) == [spool.path(.work)])
            #expect(try fixture.entries() == [] && fixture.place(job) == .inbox)
        }
        #expect(
            try fixture.list("in") == [
                "a.jpg", "trip", "trip/Thumbs.db", "trip/link.png", "trip/more", "trip/more/1.png",
            ])
        #expect(try fixture.list(fixture.done) == [])
    }

    @Test func `what is too large to be rendered is not copied to be kept; its original is untouched`() throws {
        var fixture = fixture
        fixture.limits.maximumSourceBytes = 2
        try folder.write("abc", to: "in/large.jpg")
        try folder.write("abc", to: "in/trip/large.png")
        for (name, isSet) in [("large.jpg", false), ("trip", true)] {
            let job = try fixture.claimed(name, isSet: isSet, keeps: true)
            let copy = BytePath(folder.path("\(fixture.work)/\(job.id.text)/source" + (isSet ? "/large.png" : "")))
            let original = BytePath(folder.path(isSet ? "in/trip/large.png" : "in/large.jpg"))
            #expect(try FileSystem.status(copy)?.identity == FileSystem.status(original)?.identity)
            let failure = #expect(throws: Failure.self) { try fixture.open(job) }
            #expect(failure?.code == (isSet ? .setMemberFailed : .tooManyBytes))
            try fixture.settle(job, .keep)
        }
        #expect(try folder.text("in/large.jpg") == "abc" && folder.text("in/trip/large.png") == "abc")
    }

    @Test func `a kept set that changes while it is copied is not claimed, and no half copy stays`() throws {
        try folder.write("1", to: "in/trip/1.png")
        let job = try fixture.job("trip", isSet: true, keeps: true)
        try folder.write("2", to: "in/trip/2.png")
        #expect(fixture.claim(job) == .changed)
        #expect(try fixture.list(fixture.work) == [])
        #expect(try fixture.list("in") == ["trip", "trip/1.png", "trip/2.png"])
    }

    // MARK: - Opening

    @Test
    func `a source with two names, or with a writer, is read from a copy of its own; the source stays as it is`() throws
    {
        try folder.write("shared", to: "in/a.jpg")
        #expect(link(folder.path("in/a.jpg"), folder.path("elsewhere.jpg")) == 0)
        let linked = try fixture.claimed("a.jpg")
        let copy = try fixture.open(linked)
        #expect(copy.location.name.text == "a.jpg")
        close(Glibc.open(folder.path("elsewhere.jpg"), O_WRONLY | O_TRUNC))
        #expect(try fixture.text(copy) == "shared")
        #expect(try copy.location.status()?.modified == linked.observed.stamp.modified)

        try folder.write("open", to: "in/b.jpg")
        let descriptor = Glibc.open(folder.path("in/b.jpg"), O_RDWR)
        let held = try fixture.claimed("b.jpg")
        #expect(try fixture.open(held).location.name.text == "b.jpg")
        close(descriptor)
        #expect(try fixture.text(fixture.open(held)) == "open")
        try fixture.settle(held)
        #expect(try folder.text("\(fixture.done)/b.jpg") == "open")
        #expect(try fixture.entries().map(\.id) == [linked.id])
    }

    @Test func `the members of a set are opened in natural order, without what is ignored`() throws {
        let names = (1...12).map { "\($0).png" } + ["more/1.png"]
        for name in names.shuffled() + [".hidden", "x.part"] { try folder.write(name, to: "in/trip/\(name)") }
        let job = try fixture.claimed("trip", isSet: true)
        let source = try fixture.open(job)
        #expect(source.members?.map(\.relative.text) == names.map { "trip/\($0)" })
        #expect(source.identity.text == folder.path("in/trip"))
        #expect(try source.members?.map(fixture.text) == names)
    }

    @Test func `sidecars in a set are no members; they follow the set, and with 'delete' they go to done/`() throws {
        for (policy, left) in [
            (OriginalPolicy.move, ["1.png", "IMG.AAE", "more", "more/clip.mov", "x.thm"]),
            (.delete, ["IMG.AAE", "more", "more/clip.mov", "x.thm"]),
        ] {
            let set = "trip-\(policy.rawValue)"
            for (name, text) in [("1.png", "1"), ("IMG.AAE", "<?xml"), ("more/clip.mov", "moov"), ("x.thm", "")] {
                try folder.write(text, to: "in/\(set)/\(name)")
            }
            let job = try fixture.claimed(set, isSet: true)
            #expect(try fixture.open(job).members?.map(\.relative.text) == [set + "/1.png"])
            try fixture.settle(job, policy)
            #expect(try fixture.list(fixture.done + "/" + set) == left)
        }
        let kept = ["trip-kept/1.png", "trip-kept/1.xmp"]
        for name in kept { try folder.write("1", to: "in/" + name) }
        let job = try fixture.claimed("trip-kept", isSet: true, keeps: true)
        #expect(try fixture.open(job).members?.map(\.relative.text) == ["trip-kept/1.png"])
        try fixture.settle(job)
        #expect(try fixture.list("in").filter { $0.hasPrefix("trip-kept/") } == kept)
        try folder.write("text", to: "in/texts/a.txt")
        let texts = try fixture.claimed("texts", isSet: true)
        #expect(#expect(throws: Failure.self) { try fixture.open(texts) }?.code == .empty)
    }

    @Test func `a set without pictures, and a source that is no file, are failures`() throws {
        try folder.write("1", to: "in/trip/1.png")
        let job = try fixture.claimed("trip", isSet: true)
        #expect(unlink(folder.path("\(fixture.work)/\(job.id.text)/source/1.png")) == 0)
        #expect(#expect(throws: Failure.self) { try fixture.open(job) }?.code == .empty)
        try folder.write("1", to: "in/a.jpg")
        let file = try fixture.claimed("a.jpg")
        let path = folder.path("\(fixture.work)/\(file.id.text)/source")
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(#expect(throws: Failure.self) { try fixture.open(file) }?.code == .notARegularFile)
    }

    // MARK: - Leaving

    @Test func `the note of a failed source never replaces a source of that name`() throws {
        for name in ["a.jpg.error.json", "a.jpg"] { try folder.write(name, to: "in/" + name) }
        let first = try fixture.claimed("a.jpg.error.json")
        #expect(try spool.deadLetter(first, note: fixture.note(first)) == BytePath("a.jpg.error.json"))
        let second = try fixture.claimed("a.jpg")
        #expect(try spool.deadLetter(second, note: fixture.note(second)) == BytePath("a~2.jpg"))
        #expect(try folder.text("\(fixture.failed)/a.jpg.error.json") == "a.jpg.error.json")
        #expect(try folder.text("\(fixture.failed)/a~2.jpg.error.json").contains("imagemill.failure/1"))
        try folder.write("a.jpg", to: "in/a.jpg")
        try fixture.settle(fixture.claimed("a.jpg"))
        #expect(try fixture.list(fixture.done) == ["a.jpg"])
    }

    @Test
    func `a file with the name of a folder in done/ makes a version of the folder; the folders to sync are returned`()
        throws
    {
        try folder.write("1", to: "in/a")
        try fixture.settle(fixture.claimed("a"))
        #expect(unlink(folder.path("in/a")) != 0)
        try folder.write("2", to: "in/a/c.jpg")
        let synced = try fixture.settle(fixture.claimed("a/c.jpg"))
        #expect(try fixture.list(fixture.done) == ["a", "a~2", "a~2/c.jpg"])
        #expect(synced.map(\.text) == [fixture.done, "\(fixture.done)/a~2", fixture.work].map(folder.path))
    }

    @Test
    func `a source returns to its inbox, beside one that came meanwhile; of a kept one only the copy goes`() throws {
        try folder.write("old", to: "in/sub/a.jpg")
        let job = try fixture.claimed("sub/a.jpg")
        try folder.write("new", to: "in/sub/a.jpg")
        #expect(try spool.putBack(job, to: fixture.inbox)?.text == "sub/a~2.jpg")
        #expect(try folder.text("in/sub/a.jpg") == "new" && folder.text("in/sub/a~2.jpg") == "old")
        let kept = try fixture.claimed("sub/a.jpg", keeps: true)
        #expect(try spool.putBack(kept, to: fixture.inbox) == nil)
        #expect(try folder.text("in/sub/a.jpg") == "new" && fixture.entries() == [])
    }

    @Test func `a set that was written to while it waited to be taken stays under its writer's hands`() throws {
        try folder.write("1", to: "in/set/1.png")
        let job = try fixture.job("set", isSet: true)
        try folder.write("2", to: "in/set/2.png")
        #expect(fixture.claim(job) == .changed)
        #expect(try fixture.list("in") == ["set", "set/1.png", "set/2.png"] && fixture.list(fixture.work) == [])
    }

    @Test func `a set is taken with all that is in it, and moved to done/ as a folder`() throws {
        try folder.write("1", to: "in/trip/1.png")
        try folder.write("2", to: "in/trip/more/2.png")
        let job = try fixture.claimed("trip", isSet: true)
        #expect(try fixture.entries()[0].isSet)
        #expect(try fixture.entries()[0].source?.version == job.observed)
        _ = try fixture.open(job)
        try fixture.settle(job)
        #expect(try folder.text("\(fixture.done)/trip/more/2.png") == "2")
    }

    @Test(arguments: ["", "new", "changed", "torn"])
    func `with 'delete', another start deletes of a set what the one before had opened, and keeps the rest`(
        what: String
    ) throws {
        for name in ["1.png", "more/2.png"] { try folder.write(name, to: "in/trip/" + name) }
        let job = try fixture.claimed("trip", isSet: true)
        _ = try fixture.open(job)
        let set = "\(fixture.work)/\(job.id.text)/source/"
        switch what {
        case "new": try folder.write("3", to: set + "3.png")
        case "changed": try folder.write("another", to: set + "more/2.png")
        case "torn": try folder.write("{", to: "\(fixture.work)/\(job.id.text)/opened")
        default: break
        }
        // As a start that has opened nothing.
        spool.forget(job.id)
        try fixture.settle(job, .delete)
        let kept = [
            "": [], "new": ["trip/3.png"], "changed": ["trip/more/2.png"], "torn": ["trip/1.png", "trip/more/2.png"],
        ]
        #expect(try fixture.list(fixture.done).filter { $0.hasSuffix(".png") } == kept[what])
        #expect(try fixture.list(fixture.work).isEmpty)
    }

    @Test(arguments: ["a.jpg", "inner/b.jpg"])
    func `with 'delete', a set of which the ledger is lost is not rendered without what was deleted of it`(
        gone: String
    ) throws {
        for name in ["a.jpg", "inner/b.jpg", "inner/c.jpg"] { try folder.write(name, to: "in/s/\(name)") }
        let job = try fixture.claimed("s", isSet: true).with(.delete)
        _ = try fixture.open(job)
        #expect(try spool.putAwayRest(of: job.id) == false)
        #expect(unlink(folder.path("state/work/shop/\(job.id.text)/source/\(gone)")) == 0)
        #expect(try spool.putAwayRest(of: job.id))
        let rest = ["a.jpg", "inner", "inner/b.jpg", "inner/c.jpg"].filter { $0 != gone }
        let found = try fixture.list(fixture.done)
        #expect(found == ["recovered-\(job.id.text)"] + rest.map { "recovered-\(job.id.text)/\($0)" })
        #expect(try fixture.entries() == [])
    }

    @Test func `with 'delete', a member that could not be removed at once is removed by the next attempt`() throws {
        try folder.write("1", to: "in/trip/1.png")
        let job = try fixture.claimed("trip", isSet: true)
        _ = try fixture.open(job)
        let work = folder.path("\(fixture.work)/\(job.id.text)")
        #expect(rename(work + "/source/1.png", work + "/doomed") == 0)
        try fixture.settle(job, .delete)
        #expect(try fixture.list(fixture.done).isEmpty && fixture.list(fixture.work).isEmpty)
    }

    @Test func `with 'delete', what was rendered is deleted; what was written to after it was opened is not`() throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.claimed("a.jpg")
        _ = try fixture.open(job)
        try fixture.settle(job, .delete)
        #expect(try fixture.list("state").filter { $0.hasSuffix("jpg") } == [] && fixture.entries() == [])

        try folder.write("abc", to: "in/b.jpg")
        let changed = try fixture.claimed("b.jpg")
        _ = try fixture.open(changed)
        try folder.write("abcd", to: "\(fixture.work)/\(changed.id.text)/source")
        try fixture.settle(changed, .delete)
        #expect(try folder.text("\(fixture.done)/b.jpg") == "abcd")
        // After a restart, a picture is the one that was observed, or it is not deleted.
        try folder.write("abc", to: "in/c.jpg")
        let unknown = try fixture.claimed("c.jpg")
        _ = try fixture.restarted().settle(unknown.with(.delete))
        #expect(try fixture.list(fixture.done) == ["b.jpg"])
    }

    @Test func `a job whose folder is gone has nothing to settle; if all of work/ is gone, that is trouble`() throws {
        try folder.write("x", to: "in/a.jpg")
        let job = try fixture.claimed("a.jpg")
        try FileManager.default.removeItem(atPath: folder.path("state/work"))
        #expect(throws: SystemError.self) { try fixture.settle(job) }
        let again = try fixture.restarted()
        #expect(try again.settle(job) == [])
        #expect(try again.deadLetter(job, note: fixture.note(job)) == nil)
    }

    // MARK: - A mount below the inbox

    /// Works with a mount at `in/sub`: a file system of its own, or another folder of the inbox's.
    private func withMount(isBound: Bool = false, _ work: (String) async throws -> Void) async throws {
        let place = folder.path("in/sub")
        for path in [place, folder.path("bound")] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let command = isBound ? "mount --bind '\(folder.path("bound"))' '\(place)'" : "mount -t tmpfs tmpfs '\(place)'"
        try #require(try await CommandRunner().shell(command).exit == 0)
        do {
            try await work(place)
        } catch {
            Issue.record(error)
        }
        _ = try await CommandRunner().shell("umount --lazy '\(place)'")
    }

    @Test(
        .enabled(if: TestMachine.canMount, "no file system can be mounted here"),
        arguments: [OriginalPolicy.move, .delete], [false, true])
    func `a file on a mount below the inbox is copied, and then removed there`(
        policy: OriginalPolicy, isBound: Bool
    ) async throws {
        try await withMount(isBound: isBound) { _ in
            try folder.write("abc", to: "in/sub/a.jpg")
            #expect(
                chmod(folder.path("in/sub/a.jpg"), 0o664) == 0 && chown(folder.path("in/sub/a.jpg"), 1000, 1000) == 0)
            let job = try fixture.job("sub/a.jpg").with(policy)
            #expect(fixture.claim(job) == .claimed)
            #expect(try fixture.list("in") == ["sub"])
            #expect(try fixture.place(job) == .spool && fixture.entries().map(\.isCopy) == [false])
            #expect(try fixture.text(fixture.open(job)) == "abc")
            // As a start that has opened nothing.
            spool.forget(job.id)
            try fixture.settle(job, policy)
            #expect(try fixture.list(fixture.done) == (policy == .move ? ["sub", "sub/a.jpg"] : []))
            guard policy == .move else { return }
            let status = try Directory(BytePath(folder.path(fixture.done))).status(BytePath("sub/a.jpg"))
            #expect(status?.mode == 0o664 && status?.owner == 1000)
        }
    }

    @Test(
        .enabled(if: TestMachine.canMount, "no file system can be mounted here"),
        arguments: ["a.jpg", ".imagemill-", "by another claim"], [false, true])
    func `an original that a crash left on a mount after its copy is removed by the next start`(
        left: String, isBound: Bool
    ) async throws {
        try await withMount(isBound: isBound) { place in
            try folder.write("abc", to: "in/sub/a.jpg")
            // The same file once more, so that it can be put back with its inode.
            #expect(link(place + "/a.jpg", place + "/again") == 0)
            let job = try fixture.job("sub/a.jpg")
            #expect(fixture.claim(job) == .claimed)
            let name = left.hasPrefix(".") ? left + job.id.text : "a.jpg"
            #expect(rename(place + "/again", place + "/" + name) == 0)
            if left == "by another claim" {
                #expect(fixture.claim(job) == .claimed)
            } else {
                #expect(try fixture.place(job) == .spool)
            }
            #expect(try fixture.list("in") == ["sub"])
            #expect(try fixture.text(fixture.open(job)) == "abc")
        }
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `what comes under the name of a file on a mount while that is copied is left there`() async throws {
        var calls = NameCalls.system
        calls.rename = { from, name, to, newName in
            if from == to && String(cString: newName).hasPrefix(".imagemill-") {
                unlinkat(from, name, 0)
                let new = OpenFile(
                    owning: open("/proc/self/fd/\(from)/\(String(cString: name))", O_WRONLY | O_CREAT, 0o644))
                _ = write(new.descriptor, "new", 3)
            }
            return renameat(from, name, to, newName)
        }
        let fixture = try SpoolFixture(calls: calls)
        let place = fixture.folder.path("in/sub")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try #require(try await CommandRunner().shell("mount -t tmpfs tmpfs '\(place)'").exit == 0)
        try fixture.folder.write("abc", to: "in/sub/a.jpg")
        let outcome = fixture.claim(try fixture.job("sub/a.jpg"))
        let (text, work) = (try fixture.folder.text("in/sub/a.jpg"), try fixture.list(fixture.work))
        _ = try await CommandRunner().shell("umount --lazy '\(place)'")
        #expect(outcome == .changed && text == "new" && work == [])
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `what cannot be removed from a mount below the inbox is blocked alone, and so is a set there`() async throws {
        try await withMount { place in
            try folder.write("abc", to: "in/sub/a.jpg")
            try folder.write("1", to: "in/sub/trip/1.png")
            let set = try fixture.job("sub/trip", isSet: true)
            guard case .blocked(let reason) = fixture.claim(set) else {
                Issue.record("the set was taken")
                return
            }
            #expect(reason.code == EXDEV)
            let job = try fixture.job("sub/a.jpg")
            try #require(try await CommandRunner().shell("mount -o remount,ro '\(place)'").exit == 0)
            guard case .blocked(let error) = fixture.claim(job) else {
                Issue.record("taken from a file system that is read-only")
                return
            }
            #expect(error.code == EROFS)
            #expect(try folder.text("in/sub/a.jpg") == "abc" && fixture.list(fixture.work) == [])
        }
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"), arguments: [false, true])
    func `an original on a mount that is hidden and cannot be removed is not lost, and is removed when it can be`(
        hasFailed: Bool
    ) async throws {
        let place = Mutex("")
        var calls = NameCalls.system
        calls.rename = { from, name, to, newName in
            let result = renameat(from, name, to, newName)
            if from == to && String(cString: newName).hasPrefix(".imagemill-") {
                #expect(mount("none", place.withLock { $0 }, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
            }
            return result
        }
        let fixture = try SpoolFixture(calls: calls)
        place.withLock { $0 = fixture.folder.path("in/sub") }
        let sub = fixture.folder.path("in/sub")
        try FileManager.default.createDirectory(atPath: sub, withIntermediateDirectories: true)
        try #require(try await CommandRunner().shell("mount -t tmpfs tmpfs '\(sub)'").exit == 0)
        defer { umount2(sub, CInt(MNT_DETACH)) }
        try fixture.folder.write("abc", to: "in/sub/a.jpg")
        let job = try fixture.job("sub/a.jpg")
        let outcome = fixture.claim(job)
        #expect(try fixture.list("in") == ["sub", "sub/.imagemill-\(job.id.text)"])
        #expect(outcome == .claimed)
        #expect(try fixture.text(fixture.open(job)) == "abc")
        let leave = {
            _ =
                hasFailed
                ? try fixture.spool.deadLetter(job, note: fixture.note(job)).map { [$0] } : try fixture.settle(job)
        }
        let error = #expect(throws: SystemError.self) { try leave() }
        #expect(error?.code == EROFS)
        try #require(try await CommandRunner().shell("mount -o remount,rw '\(sub)'").exit == 0)
        try leave()
        #expect(try fixture.list("in") == ["sub"])
        #expect(try fixture.folder.text("\(hasFailed ? fixture.failed : fixture.done)/sub/a.jpg") == "abc")
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `a new file under the name of an original that is still hidden replaces neither that nor its copy`()
        async throws
    {
        try await withMount { place in
            try folder.write("abc", to: "in/sub/a.jpg")
            #expect(link(place + "/a.jpg", place + "/again") == 0)
            let job = try fixture.job("sub/a.jpg")
            #expect(fixture.claim(job) == .claimed)
            #expect(rename(place + "/again", place + "/.imagemill-\(job.id.text)") == 0)
            try folder.write("new", to: "in/sub/a.jpg")
            #expect(try fixture.place(job) == .spool)
            #expect(try fixture.list("in") == ["sub", "sub/a.jpg"])
            #expect(try folder.text("in/sub/a.jpg") == "new" && fixture.text(fixture.open(job)) == "abc")
        }
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `a source goes back to the mount that it came from, under a free name`() async throws {
        try await withMount { place in
            for name in ["sub/a.jpg", "sub/a~2.jpg"] {
                try folder.write("abc", to: "in/sub/a.jpg")
                let job = try fixture.job("sub/a.jpg")
                #expect(fixture.claim(job) == .claimed)
                if name != job.path.text { try folder.write("new", to: "in/sub/a.jpg") }
                #expect(try spool.putBack(job, to: fixture.inbox)?.text == name)
                #expect(try folder.text("in/\(name)") == "abc" && fixture.list(fixture.work) == [])
            }
            #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a~2.jpg"])
        }
    }

    // MARK: - Starting

    @Test func `a start finds jobs that have no source any more, and may remove those alone`() throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.claimed("a.jpg")
        let empty = JobNames().next()
        _ = try Directory(spool.path(.work)).makingFolder(empty.path)
        try folder.write("x", to: "\(fixture.work)/notes.txt")
        let entries = try fixture.entries()
        #expect(Set(entries.map(\.id)) == [job.id, empty])
        let found = try #require(entries.first { $0.id == empty })
        #expect(found.source == nil && found.path == nil)
        try spool.discard(empty)
        try spool.discard(job.id)
        #expect(try fixture.entries().map(\.id) == [job.id])
        let new = JobNames().next()
        try spool.rename(job.id, to: new)
        #expect(try fixture.entries().map(\.id) == [new])
    }

    @Test(arguments: [false, true])
    func `a start after the move to failed/ knows that an original that stays has failed, and makes no second copy`(
        isSet: Bool
    ) throws {
        try folder.write("abc", to: isSet ? "in/a/1.jpg" : "in/a")
        func rejected(_ job: Job) -> Job {
            var job = job
            job.progress = JobProgress(.rejected, attempts: 1)
            job.changed = wallClock()
            return job
        }
        let job = rejected(try fixture.claimed("a", isSet: isSet, keeps: true))
        #expect(try fixture.place(job) == .spool)
        #expect(try spool.deadLetter(job, note: fixture.note(job))?.text == "a")
        #expect(
            try fixture.place(job) == .nowhere && fixture.restarted().place(of: job, inbox: fixture.inbox) == .nowhere)
        // A copy that a loss of power has taken back, beside one that has failed long ago.
        usleep(300_000)
        let lost = rejected(try fixture.job("a", isSet: isSet, keeps: true))
        #expect(try fixture.place(lost) == .inbox)
    }

    @Test func `a copy of an original that stays can be discarded: the original is in the inbox`() throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.claimed("a.jpg", keeps: true)
        try spool.discard(job.id)
        #expect(try fixture.entries() == [] && folder.text("in/a.jpg") == "abc")
    }

    @Test func `a job is found after its inbox was renamed, and after its spool has moved`() throws {
        try folder.write("abc", to: "in/a.jpg")
        try folder.write("abc", to: "in/b.jpg")
        let jobs = try [fixture.claimed("a.jpg"), fixture.claimed("b.jpg")]
        let renamed = try Spool(
            SpoolLocation(inbox: fixture.inbox, state: BytePath(folder.path("state"))), inbox: fixture.inbox,
            name: "market")
        #expect(try renamed.place(of: jobs[0], inbox: fixture.inbox) == .spool)
        #expect(try renamed.entries(ignored: fixture.ignored) == [])
        _ = try renamed.settle(jobs[0])
        #expect(try fixture.list(fixture.done) == ["a.jpg"])
        #expect(rename(folder.path("state"), folder.path(".imagemill")) == 0)
        let moved = try fixture.restarted()
        #expect(try moved.place(of: jobs[1], inbox: fixture.inbox) == .spool)
        #expect(try moved.open(jobs[1], ignored: fixture.ignored, limits: Limits()).relative.text == "b.jpg")
        #expect(try moved.deadLetter(jobs[1], note: fixture.note(jobs[1]))?.text == "b.jpg")
        #expect(try folder.entries().contains(".imagemill/failed/shop/b.jpg.error.json"))
    }

    @Test func `files beside the folders of the inboxes hide no job`() throws {
        try folder.write("", to: "state/work/.DS_Store")
        try folder.write("abc", to: "in/a.jpg")
        #expect(try fixture.place(fixture.job("a.jpg")) == .inbox)
        let job = try fixture.claimed("a.jpg")
        #expect(try fixture.restarted().place(of: job, inbox: fixture.inbox) == .spool)
    }

    @Test func `a job is found in the spool beside the path that its inbox had before`() throws {
        var former = SpoolLocation(inbox: fixture.inbox, state: BytePath(folder.path("state")))
        former.candidates[0] = former.candidates[1]
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.job("a.jpg")
        do {
            let spool = try Spool(former, inbox: fixture.inbox, name: "shop")
            #expect(spool.claim(job, from: fixture.inbox, CompanionRule(), settle: .zero, largest: 1 << 20) == .claimed)
        }
        let path = BytePath(folder.path("elsewhere/in"))
        try FileSystem.makeDirectories(path)
        let location = SpoolLocation(inbox: path, state: BytePath(folder.path("state")))
        let moved = try Spool(location, inbox: path, name: "shop")
        #expect(try moved.place(of: job, inbox: path) == .nowhere)
        #expect(try moved.place(of: job, inbox: path, former: [location.moved(to: fixture.inbox)]) == .spool)
        #expect(try moved.open(job, ignored: fixture.ignored, limits: Limits()).relative.text == "a.jpg")
        _ = try moved.settle(job)
        #expect(try folder.text(".imagemill/done/shop/a.jpg") == "abc")
    }

    @Test
    func `a picture that was written to since it was observed goes back to its inbox, also after it was moved`() throws
    {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.claimed("a.jpg")
        try folder.write("abcdef", to: "state/work/shop/\(job.id.text)/source")
        #expect(throws: StillWritten.self) { _ = try fixture.open(job) }
        #expect(try fixture.spool.putBack(job, to: fixture.inbox)?.text == "a.jpg")
        #expect(try folder.text("in/a.jpg") == "abcdef")
    }

    @Test(arguments: [false, true])
    func `a source that reached failed/ without its note gets it, and no other file does`(keeps: Bool) throws {
        try folder.write("other", to: "\(fixture.failed)/a.jpg")
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.claimed("a.jpg", keeps: keeps)
        #expect(try spool.deadLetter(job, note: fixture.note(job))?.text == "a~2.jpg")
        #expect(unlink(folder.path("\(fixture.failed)/a~2.jpg.error.json")) == 0)
        #expect(try spool.completeNote(of: job, note: fixture.note(job))?.text == "a~2.jpg")
        #expect(try spool.completeNote(of: job, note: fixture.note(job)) == nil)
        #expect(try fixture.list(fixture.failed) == ["a.jpg", "a~2.jpg", "a~2.jpg.error.json"])
    }

    /// A job that is rejected, as the ledger has it at a start.
    private func rejected(_ job: Job, changed: Int) -> Job {
        Job(
            id: job.id, inbox: job.inbox, path: job.path, isSet: job.isSet, observed: job.observed,
            originals: job.originals, progress: JobProgress(.rejected, attempts: 3), offered: job.offered,
            changed: changed)
    }

    @Test(arguments: [false, true], [0, Int.max / 2_000_000])
    func `a copy in failed/ is told from others by its note, whatever the clock was at the time`(
        isSet: Bool, changed: Int
    ) throws {
        try folder.write("abc", to: isSet ? "in/a/1.jpg" : "in/a")
        let job = rejected(try fixture.claimed("a", isSet: isSet, keeps: true), changed: changed)
        #expect(try fixture.place(job) == .spool)
        #expect(try spool.deadLetter(job, note: fixture.note(job))?.text == "a")
        #expect(try fixture.place(job) == .nowhere)
        let next = rejected(try fixture.job("a", isSet: isSet, keeps: true), changed: changed)
        #expect(try fixture.place(next) == .inbox, "the copy is the earlier job's")
        #expect(unlink(folder.path("\(fixture.failed)/a.error.json")) == 0)
        #expect(try fixture.place(job) == .nowhere, "the program ended before it wrote the note")
    }

    @Test func `temporary files of earlier starts are removed beside notes, and those of this start stay`() throws {
        for name in [".imagemill-ab-1-x.part", ".imagemill-ab-2-x.part", ".imagemill-cd-1-x.part", "a.jpg"] {
            try folder.write("x", to: "\(fixture.failed)/sub/\(name)")
        }
        try folder.write("x", to: "in/sub/b.jpg")
        try spool.removeLeftovers(of: [fixture.job("sub/b.jpg")], prefix: "ab-", present: "ab-2-")
        #expect(
            try fixture.list("\(fixture.failed)/sub") == [".imagemill-ab-2-x.part", ".imagemill-cd-1-x.part", "a.jpg"])
    }

    @Test func `a file system that cannot refuse to replace a file is no place for a spool`() throws {
        var calls = NameCalls.system
        calls.renameNoReplace = { _, _, _, _ in
            errno = EINVAL
            return -1
        }
        calls.link = { _, _, _, _ in
            errno = EPERM
            return -1
        }
        let error = #expect(throws: SystemError.self) { try SpoolFixture(calls: calls) }
        #expect(error?.code == EPERM)
        let words =
            "cannot move files in and out of the inbox: its file system can neither refuse to replace a file nor make hard links"
        #expect(error?.description == words)
    }

    @Test func `the spool is below the state folder if a rename reaches it, else beside the inbox`() throws {
        let near = SpoolLocation(inbox: fixture.inbox, state: BytePath(folder.path("state")))
        #expect(near.predicted?.text == folder.path("state") && spool.base.text == folder.path("state"))
        // /dev/shm is another file system than the folder for temporary files, if both are there.
        let far = SpoolLocation(inbox: fixture.inbox, state: BytePath("/dev/shm/imagemill-test-\(getpid())"))
        if try FileSystem.status(BytePath("/dev/shm"))?.identity.device
            != FileSystem.status(fixture.inbox)?.identity.device
        {
            #expect(far.predicted?.text == folder.path(".imagemill"))
            #expect(try Spool(far, inbox: fixture.inbox, name: "shop").base.text == folder.path(".imagemill"))
            #expect(try FileSystem.status(far.candidates[0]) == nil)
        }
        // Files that a crash left of an earlier trial.
        try folder.write("", to: "in/.imagemill-trial")
        try folder.write("", to: "\(fixture.work)/.imagemill-trial")
        _ = try fixture.restarted()
        #expect(try fixture.list(fixture.work) == [] && fixture.list("in") == [])
        #expect(
            SpoolLocation(inbox: BytePath(folder.path("gone")), state: BytePath(folder.path("state"))).predicted == nil)
    }
}
