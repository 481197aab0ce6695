// The other file of a photo, raw or JPEG, goes where the one that is taken goes, wherever the program is stopped.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct SpoolPhotoTests {
    private var fixture: SpoolFixture
    private var folder: TemporaryFolder { fixture.folder }
    private var spool: Spool { fixture.spool }

    init() throws {
        fixture = try SpoolFixture()
        fixture.companions.raw = .preview
    }

    /// Files that begin like pictures, each with bytes of its own.
    private func drop(_ names: String...) throws {
        for name in names {
            let start: [UInt8] =
                name.lowercased().hasSuffix(".jpg") ? [0xFF, 0xD8, 0xFF] : Array("II*\0\u{10}\0\0\0CR".utf8)
            try folder.write(start + Array(name.utf8), to: "in/\(name)")
        }
    }

    @Test func `it goes to done/ with the picture, under a version of the same number`() throws {
        try drop("sub/a.JPG", "sub/a.CR3", "sub/a.dng", "sub/ab.CR3", "a.CR3")
        let job = try fixture.claimed("sub/a.JPG")
        #expect(try fixture.list("in") == ["a.CR3", "sub", "sub/ab.CR3"])
        try fixture.settle(job)
        #expect(try fixture.list(fixture.done) == ["sub", "sub/a.CR3", "sub/a.JPG", "sub/a.dng"])
        try drop("sub/a.JPG", "sub/a.CR3")
        try fixture.settle(fixture.claimed("sub/a.JPG"))
        #expect(try Set(fixture.list(fixture.done)).isSuperset(of: ["sub/a~2.CR3", "sub/a~2.JPG"]))
        #expect(try folder.text("\(fixture.done)/sub/a~2.CR3").hasSuffix("sub/a.CR3"))
        #expect(try fixture.list(fixture.work) == [])
    }

    @Test func `it is not deleted: nobody has rendered it`() throws {
        try drop("sub/a.jpg", "sub/a.nef")
        try fixture.settle(fixture.claimed("sub/a.jpg"), .delete)
        #expect(try fixture.list(fixture.done) == ["sub", "sub/a.nef"])
        #expect(try fixture.list(fixture.work) == [] && fixture.list("in") == ["sub"])
    }

    @Test func `it stays where its picture stays`() throws {
        try drop("a.jpg", "a.nef")
        let job = try fixture.claimed("a.jpg", keeps: true)
        #expect(try fixture.list("in") == ["a.jpg", "a.nef"])
        try fixture.settle(job)
        #expect(try fixture.list("in") == ["a.jpg", "a.nef"] && fixture.list(fixture.done) == [])
    }

    @Test(arguments: [RawUse.prefer, .develop])
    func `the JPEG follows if the raw file is the picture`(use: RawUse) throws {
        var fixture = fixture
        fixture.companions.raw = use
        try drop("a.jpg", "a.nef")
        try fixture.settle(fixture.claimed("a.jpg"))
        #expect(try fixture.list("in") == ["a.nef"])
        try drop("a.jpg")
        try fixture.settle(fixture.claimed("a.nef"))
        #expect(try fixture.list(fixture.done) == ["a.jpg", "a~2.jpg", "a~2.nef"])
    }

    @Test func `an ignored one is left alone, and so is a folder or a link of its name`() throws {
        var fixture = fixture
        fixture.companions.ignored = IgnoredNames([try #require(NamePattern("*.nef"))])
        try drop("a.jpg", "a.nef", "a.cr2/x")
        symlink("a.nef", folder.path("in/a.dng"))
        try fixture.settle(fixture.claimed("a.jpg"))
        #expect(try fixture.list("in") == ["a.cr2", "a.cr2/x", "a.dng", "a.nef"])
    }

    @Test(arguments: ["", "no picture"])
    func `a name alone makes no photo`(content: String) throws {
        try drop("a.nef", "b.jpg")
        try folder.write(content, to: "in/a.jpg")
        try folder.write("", to: "in/b.nef")
        for name in ["a.jpg", "b.jpg"] { try fixture.settle(fixture.claimed(name)) }
        #expect(try fixture.list("in") == ["a.nef", "b.nef"])
    }

    /// As on a file system that takes small and large letters for the same.
    @Test func `one file under two names is taken once`() throws {
        try drop("a.jpg", "a.nef")
        #expect(link(folder.path("in/a.nef"), folder.path("in/a.NEF")) == 0)
        try fixture.settle(fixture.claimed("a.jpg"))
        #expect(try fixture.list(fixture.done) == ["a.NEF", "a.jpg"] && fixture.list("in") == ["a.nef"])
    }

    @Test func `names are as long as a file system lets them be`() throws {
        var fixture = fixture
        fixture.companions.raw = .prefer
        let stem = String(repeating: "b", count: 251)
        for _ in 0..<2 {
            try drop("\(stem).nef", "\(stem.dropLast()).nef", "\(stem.dropLast()).jpeg")
            for name in [stem, String(stem.dropLast())] { try fixture.settle(fixture.claimed("\(name).nef")) }
        }
        #expect(try fixture.list(fixture.done).count == 6 && fixture.list("in") == [])
    }

    @Test func `what an earlier claim has taken is not lost if its name was dropped again`() throws {
        try drop("a.jpg", "a.nef")
        let job = try fixture.job("a.jpg")
        let mine = try Directory(BytePath(folder.path(fixture.work))).makingFolder(job.id.path)
        let others = try mine.makingFolder(Spool.others)
        try Directory(fixture.inbox).rename(BytePath("a.nef"), to: others, as: BytePath("a.nef"))
        // Half a copy from another mount.
        try folder.write("II*", to: "\(fixture.work)/\(job.id.text)/others/.imagemill-abc")
        try folder.write("II*\0another", to: "in/a.nef")
        #expect(fixture.claim(job) == .claimed)
        try fixture.settle(job)
        #expect(try fixture.list(fixture.done) == ["a.jpg", "a.nef", "a~2.nef"])
        #expect(try fixture.list(fixture.work) == [])
    }

    @Test
    func `the sidecar of one that was to be deleted, and was damaged, goes along wherever the program is stopped`()
        throws
    {
        var fixture = fixture
        fixture.companions.sidecars = .optional
        try drop("a.jpg", "a.nef")
        try folder.write("side: 1", to: "in/a.jpg.yaml")
        let job = try fixture.claimed("a.jpg").with(.delete)
        let mine = try Directory(BytePath(folder.path(fixture.work))).folder(job.id.path)
        try mine.rename(Spool.source, to: Directory(BytePath(folder.path(fixture.done))), as: BytePath("a.jpg"))
        try spool.putAwayCompanions(of: job, isDone: true)
        #expect(try fixture.list(fixture.done) == ["a.jpg", "a.jpg.yaml", "a.nef"])
    }

    @Test func `who reads no raw files leaves them alone`() throws {
        var fixture = fixture
        fixture.companions.raw = nil
        try drop("a.jpg", "a.nef")
        try fixture.settle(fixture.claimed("a.jpg"))
        #expect(try fixture.list("in") == ["a.nef"])
    }

    @Test func `it goes to failed/ with its picture, which alone is a source there, and comes back with it`() throws {
        try drop("sub/a.jpg", "sub/a.nef")
        for (first, names) in [("a.jpg", ["a.jpg", "a.jpg.error.json", "a.nef"]), ("a~2.jpg", ["a~2.jpg"])] {
            let job = try fixture.claimed("sub/a.jpg")
            #expect(try spool.deadLetter(job, note: fixture.note(job)) == BytePath("sub/\(first)"))
            #expect(try Set(fixture.list(fixture.failed)).isSuperset(of: names.map { "sub/\($0)" }))
            try drop("sub/a.jpg", "sub/a.nef")
        }
        #expect(try spool.failed.contents().sources == [BytePath("sub/a.jpg"), BytePath("sub/a~2.jpg")])
        #expect(try spool.failed.first(5).entries.map(\.path.text) == ["sub/a.jpg", "sub/a~2.jpg"])
        // Others of these names are in the inbox.
        #expect(throws: SystemError.self) { try spool.failed.giveBack(BytePath("sub/a.jpg")) }
        for name in ["a.jpg", "a.nef"] { FileSystem.remove(BytePath(folder.path("in/sub/\(name)"))) }
        try spool.failed.giveBack(BytePath("sub/a~2.jpg"))
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a.nef"])
        #expect(try fixture.list(fixture.failed) == ["sub", "sub/a.jpg", "sub/a.jpg.error.json", "sub/a.nef"])
    }

    @Test func `nothing of a photo goes back if one of its files cannot`() throws {
        try drop("a.jpg", "a.nef")
        let job = try fixture.claimed("a.jpg")
        _ = try spool.deadLetter(job, note: fixture.note(job))
        try drop("a.nef")
        let refusal = #expect(throws: SystemError.self) { try spool.failed.giveBack(BytePath("a.jpg")) }
        #expect(refusal?.description.contains("a.nef") == true && refusal?.code == EEXIST)
        #expect(try fixture.list(fixture.failed) == ["a.jpg", "a.jpg.error.json", "a.nef"])
    }

    /// Both are there by chance: each has failed for itself.
    @Test func `a raw file that has a note of its own is a source in failed/`() throws {
        try drop("a.nef")
        let raw = try fixture.claimed("a.nef")
        _ = try spool.deadLetter(raw, note: fixture.note(raw))
        try drop("a.jpg")
        let job = try fixture.claimed("a.jpg")
        _ = try spool.deadLetter(job, note: fixture.note(job))
        #expect(try spool.failed.contents().sources == [BytePath("a.jpg"), BytePath("a.nef")])
        try spool.failed.giveBack(BytePath("a.jpg"))
        #expect(try fixture.list("in") == ["a.jpg"])
    }

    @Test func `it goes back to the inbox with its picture`() throws {
        try drop("sub/a.jpg", "sub/a.nef")
        let job = try fixture.claimed("sub/a.jpg")
        #expect(try spool.putBack(job, to: fixture.inbox) == BytePath("sub/a.jpg"))
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a.nef"])
        let again = try fixture.claimed("sub/a.jpg")
        try drop("sub/a.nef")
        #expect(try spool.putBack(again, to: fixture.inbox) == BytePath("sub/a~2.jpg"))
        #expect(try fixture.list("in") == ["sub", "sub/a.nef", "sub/a~2.jpg", "sub/a~2.nef"])
    }

    @Test func `one that changes holds its picture up`() throws {
        try drop("a.jpg", "a.nef")
        let job = try fixture.job("a.jpg")
        let outcome = spool.claim(job, from: fixture.inbox, fixture.companions, settle: .seconds(60), largest: .max)
        #expect(outcome == .changed)
        #expect(try fixture.list("in") == ["a.jpg", "a.nef"] && fixture.list(fixture.work) == [])
    }

    @Test func `a picture that is gone before it is taken leaves it in the inbox`() throws {
        try drop("a.jpg", "a.nef")
        let job = try fixture.job("a.jpg")
        // As after a crash between the two moves.
        let mine = try Directory(BytePath(folder.path(fixture.work))).makingFolder(job.id.path)
        symlink("a.jpg", folder.path("\(fixture.work)/\(job.id.text)/origin"))
        let others = try mine.makingFolder(Spool.others)
        let inbox = try Directory(fixture.inbox)
        try inbox.rename(BytePath("a.nef"), to: others, as: BytePath("a.nef"))
        #expect(try fixture.place(job) == .inbox)
        try inbox.remove(BytePath("a.jpg"))
        #expect(fixture.claim(job) == .gone)
        #expect(try fixture.list("in") == ["a.nef"] && fixture.list(fixture.work) == [])
    }

    @Test(arguments: [OriginalPolicy.move, .delete])
    func `what a stop leaves of a rendered picture's photo goes to done/`(policy: OriginalPolicy) throws {
        try drop("a.jpg", "a.nef")
        let job = try fixture.claimed("a.jpg").with(policy)
        let mine = try Directory(BytePath(folder.path(fixture.work))).folder(job.id.path)
        // As after a crash between the source and what belongs to it.
        if policy == .delete {
            try mine.remove(Spool.source)
        } else {
            let done = try Directory(BytePath(folder.path(fixture.done)))
            try mine.rename(Spool.source, to: done, as: BytePath("a~2.jpg"))
        }
        let again = try fixture.restarted()
        #expect(try again.place(of: job, inbox: fixture.inbox) == .nowhere)
        try again.putAwayCompanions(of: job, isDone: true)
        try again.discard(job.id)
        #expect(try fixture.list(fixture.done) == (policy == .delete ? ["a.nef"] : ["a~2.jpg", "a~2.nef"]))
        #expect(try fixture.list(fixture.work) == [] && fixture.list("in") == [])
    }

    @Test func `what a stop leaves of a failed picture's photo goes beside it`() throws {
        try drop("a.jpg", "a.nef")
        let job = try fixture.claimed("a.jpg")
        let mine = try Directory(BytePath(folder.path(fixture.work))).folder(job.id.path)
        let failed = try Directory(BytePath(folder.path(fixture.failed)))
        try mine.rename(Spool.source, to: failed, as: BytePath("a.jpg"))
        try spool.putAwayCompanions(of: job, isDone: false)
        #expect(try fixture.list(fixture.failed) == ["a.jpg", "a.nef"])
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `on a mount below the inbox it is copied and removed, and what cannot be removed blocks its picture alone`()
        async throws
    {
        let place = folder.path("in/sub")
        try FileSystem.makeDirectories(BytePath(place))
        try #require(try await CommandRunner().shell("mount -t tmpfs tmpfs '\(place)'").exit == 0)
        try drop("sub/a.jpg", "sub/a.nef", "sub/b.jpg", "sub/b.nef")
        let first = try fixture.claimed("sub/a.jpg")
        let second = try fixture.job("sub/b.jpg")
        try #require(try await CommandRunner().shell("mount -o remount,ro '\(place)'").exit == 0)
        let outcome = fixture.claim(second)
        let left = try fixture.list("in")
        _ = try await CommandRunner().shell("umount --lazy '\(place)'")
        try fixture.settle(first)
        #expect(left == ["sub", "sub/b.jpg", "sub/b.nef"])
        guard case .blocked = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try fixture.list(fixture.done) == ["sub", "sub/a.jpg", "sub/a.nef"])
        #expect(try fixture.list(fixture.work) == [])
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `one that is exchanged while it is copied from a mount is left there`() async throws {
        var calls = NameCalls.system
        calls.rename = { from, name, to, newName in
            if from == to, String(cString: name) == "a.nef", String(cString: newName).hasPrefix(".imagemill-") {
                unlinkat(from, name, 0)
                let new = OpenFile(
                    owning: open("/proc/self/fd/\(from)/\(String(cString: name))", O_WRONLY | O_CREAT, 0o644))
                _ = write(new.descriptor, "new", 3)
            }
            return renameat(from, name, to, newName)
        }
        var fixture = try SpoolFixture(calls: calls)
        fixture.companions.raw = .preview
        let place = fixture.folder.path("in/sub")
        try FileSystem.makeDirectories(BytePath(place))
        try #require(try await CommandRunner().shell("mount -t tmpfs tmpfs '\(place)'").exit == 0)
        try fixture.folder.write([0xFF, 0xD8, 0xFF], to: "in/sub/a.jpg")
        try fixture.folder.write("raw", to: "in/sub/a.nef")
        let outcome = fixture.claim(try fixture.job("sub/a.jpg"))
        let (text, left) = (try fixture.folder.text("in/sub/a.nef"), try fixture.list("in/sub"))
        _ = try await CommandRunner().shell("umount --lazy '\(place)'")
        #expect(outcome == .changed && text == "new" && left == ["a.jpg", "a.nef"])
        #expect(try fixture.list(fixture.work) == [] && fixture.list(fixture.done) == [])
    }

    /// As a file server's answer may be: the rename is done, and its repetition finds nothing.
    @Test func `a lost answer loses nothing`() throws {
        var calls = NameCalls.system
        calls.rename = { from, name, to, newName in
            let result = renameat(from, name, to, newName)
            guard result == 0, String(cString: newName) == "a.nef" else { return result }
            errno = ENOENT
            return -1
        }
        var fixture = try SpoolFixture(calls: calls)
        fixture.companions.raw = .preview
        try fixture.folder.write([0xFF, 0xD8, 0xFF], to: "in/a.jpg")
        try fixture.folder.write("raw", to: "in/a.nef")
        try fixture.settle(fixture.claimed("a.jpg"))
        #expect(try fixture.list(fixture.done) == ["a.jpg", "a.nef"] && fixture.list("in") == [])
    }
}
