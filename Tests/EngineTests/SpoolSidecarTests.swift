// A sidecar goes where its picture goes, wherever the program is stopped.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct SpoolSidecarTests {
    private var fixture: SpoolFixture
    private var folder: TemporaryFolder { fixture.folder }
    private var spool: Spool { fixture.spool }

    init() throws {
        fixture = try SpoolFixture()
        fixture.companions.sidecars = .optional
    }

    private func drop(_ name: String = "sub/a.jpg", _ values: String = "side: 1") throws {
        try folder.write("picture", to: "in/\(name)")
        try folder.write(values, to: "in/\(name).yaml")
    }

    private func values(_ source: SourceFile) throws -> [String] { try source.openedSidecars().map(\.sidecar.text) }

    @Test func `it is taken, read and put away with its picture`() throws {
        try drop()
        try folder.write("side: 2", to: "in/_imagemill.yaml")
        let job = try fixture.claimed("sub/a.jpg")
        #expect(try fixture.list("in") == ["_imagemill.yaml", "sub"])
        let source = try fixture.open(job)
        let sidecars = try source.openedSidecars()
        #expect(sidecars.map(\.sidecar.text) == ["side: 2", "side: 1"])
        #expect(sidecars.map(\.sidecar.name) == ["_imagemill.yaml", "sub/a.jpg.yaml"])
        try fixture.settle(job)
        #expect(try fixture.list(fixture.done) == ["sub", "sub/a.jpg", "sub/a.jpg.yaml"])
        try drop()
        try fixture.settle(fixture.claimed("sub/a.jpg"))
        #expect(try fixture.list(fixture.done).suffix(2) == ["sub/a~2.jpg", "sub/a~2.jpg.yaml"])
        try drop()
        try fixture.settle(fixture.claimed("sub/a.jpg"), .delete)
        #expect(try fixture.list(fixture.done).count == 5 && fixture.list("in").count == 2)
        #expect(try fixture.list(fixture.work) == [])
    }

    @Test func `a picture whose name is free has no sidecar's name that is taken`() throws {
        try folder.write("somebody's", to: "\(fixture.done)/a.jpg.yaml")
        try drop("a.jpg")
        try fixture.settle(fixture.claimed("a.jpg"))
        #expect(try fixture.list(fixture.done) == ["a.jpg.yaml", "a~2.jpg", "a~2.jpg.yaml"])
    }

    @Test func `the copy of a picture that stays in the inbox has its sidecar in failed/, and both go by a retry`()
        throws
    {
        try drop()
        let job = try fixture.claimed("sub/a.jpg", keeps: true)
        #expect(try spool.deadLetter(job, note: fixture.note(job)) == BytePath("sub/a.jpg"))
        #expect(try fixture.list(fixture.failed) == ["sub", "sub/a.jpg", "sub/a.jpg.error.json", "sub/a.jpg.yaml"])
        #expect(try folder.text("\(fixture.failed)/sub/a.jpg.yaml") == "side: 1")
        // Put right where it is.
        try folder.write("side: 3", to: "in/sub/a.jpg.yaml")
        let observed = try #require(try Directory(BytePath(folder.path("in/sub"))).status(BytePath("a.jpg"))?.version)
        let kept = KeptOriginal(observed: observed, recipe: "", code: .badParameters)
        try spool.failed.giveBack(BytePath("sub/a.jpg"), kept: [BytePath("sub/a.jpg"): kept])
        #expect(try fixture.list(fixture.failed) == ["sub"])
        #expect(try folder.text("in/sub/a.jpg.yaml") == "side: 3")
    }

    /// The inbox kept its originals, and does not any more: both times the picture has failed.
    @Test(arguments: ["side: 1", "side: 2"])
    func `a copy and its original that are given back never lose their sidecar`(changed: String) throws {
        try drop("a.jpg")
        let job = try fixture.claimed("a.jpg", keeps: true)
        _ = try spool.deadLetter(job, note: fixture.note(job))
        try folder.write(changed, to: "in/a.jpg.yaml")
        let again = try fixture.claimed("a.jpg")
        #expect(try spool.deadLetter(again, note: fixture.note(again)) == BytePath("a~2.jpg"))
        try spool.failed.giveBack(BytePath("a.jpg"))
        #expect(try fixture.list("in") == ["a.jpg", "a.jpg.yaml"] && folder.text("in/a.jpg.yaml") == "side: 1")
        guard changed == "side: 1" else {
            #expect(throws: SystemError.self) { try spool.failed.giveBack(BytePath("a~2.jpg")) }
            #expect(try fixture.list(fixture.failed) == ["a~2.jpg", "a~2.jpg.error.json", "a~2.jpg.yaml"])
            return
        }
        try spool.failed.giveBack(BytePath("a~2.jpg"))
        #expect(try fixture.list(fixture.failed) == [])
    }

    @Test func `it goes to failed/ with its picture, and comes back with it`() throws {
        try drop()
        let job = try fixture.claimed("sub/a.jpg")
        let failed = try spool.deadLetter(job, note: fixture.note(job))
        #expect(failed == BytePath("sub/a.jpg"))
        #expect(try fixture.list(fixture.failed) == ["sub", "sub/a.jpg", "sub/a.jpg.error.json", "sub/a.jpg.yaml"])
        #expect(try spool.failed.contents().sources == [BytePath("sub/a.jpg")])
        try folder.write("side: 3", to: "in/sub/a.jpg.yaml")
        // It was dropped again, corrected.
        try spool.failed.giveBack(BytePath("sub/a.jpg"))
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a.jpg.yaml"])
        #expect(try folder.text("in/sub/a.jpg.yaml") == "side: 3")
        #expect(try fixture.list(fixture.failed) == ["sub", "sub/a.jpg.yaml"])
        #expect(try spool.failed.contents().sources == [])
        let again = try fixture.claimed("sub/a.jpg")
        #expect(try spool.deadLetter(again, note: fixture.note(again)) == BytePath("sub/a~2.jpg"))
        try spool.failed.giveBack(BytePath("sub/a~2.jpg"))
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a.jpg.yaml"])
        #expect(try fixture.list(fixture.failed) == ["sub", "sub/a.jpg.yaml"])
    }

    @Test func `it goes back to the inbox with its picture`() throws {
        try drop()
        let job = try fixture.claimed("sub/a.jpg")
        #expect(try spool.putBack(job, to: fixture.inbox) == BytePath("sub/a.jpg"))
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a.jpg.yaml"])
    }

    @Test func `that of an original that stays is copied, and stays`() throws {
        try drop()
        let job = try fixture.claimed("sub/a.jpg", keeps: true)
        #expect(try values(fixture.open(job)) == ["side: 1"])
        try fixture.settle(job)
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a.jpg.yaml"])
        #expect(try fixture.list(fixture.done) == [] && fixture.list(fixture.work) == [])
    }

    @Test func `a stop between its move and that of its picture loses neither`() throws {
        try drop()
        let job = try fixture.job("sub/a.jpg")
        let inbox = try Directory(fixture.inbox).folder(BytePath("sub"))
        let work = try spool.own.open(.work)
        let mine = try #require(try work.makingNewFolder(job.id.path, mode: 0o700))
        #expect(symlink("sub/a.jpg", folder.path("\(fixture.work)/\(job.id.text)/origin")) == 0)
        try spool.takeCompanions(of: job, from: inbox, to: mine, fixture.companions, settle: .zero)
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg"])
        // The next start claims it.
        #expect(try fixture.place(job) == .inbox)
        #expect(fixture.claim(job) == .claimed)
        #expect(try values(fixture.open(job)) == ["side: 1"])
        // The same, and the picture is gone meanwhile.
        try spool.putBack(job, to: fixture.inbox)
        let other = try fixture.job("sub/a.jpg")
        let folderOfOther = try #require(try work.makingNewFolder(other.id.path, mode: 0o700))
        #expect(symlink("sub/a.jpg", folder.path("\(fixture.work)/\(other.id.text)/origin")) == 0)
        try spool.takeCompanions(of: other, from: inbox, to: folderOfOther, fixture.companions, settle: .zero)
        try inbox.remove(BytePath("a.jpg"))
        #expect(fixture.claim(other) == .gone)
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg.yaml"])
        #expect(try fixture.list(fixture.work) == [])
    }

    @Test(arguments: [OriginalPolicy.move, .delete])
    func `a stop between the end of its picture and its own leaves it with that`(originals: OriginalPolicy) throws {
        try drop()
        let job = try fixture.claimed("sub/a.jpg")
        let mine = try #require(try spool.own.job(job.id))
        let done = try spool.own.open(.done).makingFolder(BytePath("sub"))
        if originals == .move {
            try mine.move(Spool.source, to: done, as: BytePath("a.jpg"))
        } else {
            try mine.remove(Spool.source)
        }
        try fixture.settle(job, originals)
        let expected = originals == .move ? ["sub", "sub/a.jpg", "sub/a.jpg.yaml"] : ["sub"]
        #expect(try fixture.list(fixture.done) == expected)
        #expect(try fixture.list(fixture.work) == [] && fixture.list("in") == ["sub"])
    }

    @Test func `a stop before its move to failed/ or back leaves it with its picture`() throws {
        try drop()
        let job = try fixture.claimed("sub/a.jpg")
        let mine = try #require(try spool.own.job(job.id))
        let failed = try spool.own.open(.failed).makingFolder(BytePath("sub"))
        try mine.move(Spool.source, to: failed, as: BytePath("a.jpg"))
        _ = try spool.deadLetter(job, note: fixture.note(job))
        #expect(try fixture.list(fixture.failed) == ["sub", "sub/a.jpg", "sub/a.jpg.error.json", "sub/a.jpg.yaml"])
        #expect(try fixture.list(fixture.work) == [])
    }

    @Test func `another one that was dropped meanwhile is not replaced`() throws {
        try drop()
        let job = try fixture.claimed("sub/a.jpg")
        try folder.write("side: 9", to: "in/sub/a.jpg.yaml")
        try spool.putBack(job, to: fixture.inbox)
        #expect(try folder.text("in/sub/a.jpg.yaml") == "side: 9")
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg.yaml", "sub/a~2.jpg", "sub/a~2.jpg.yaml"])
    }

    @Test func `one that is too large, no text, a link or missing fails its picture, and says which`() throws {
        func failure(_ name: String) throws -> String {
            let job = try fixture.claimed(name)
            let source = try fixture.open(job)
            let failure = #expect(throws: Failure.self) { try source.openedSidecars() }
            #expect(failure?.code == .badParameters)
            return failure?.message ?? ""
        }
        try drop("a.jpg", String(repeating: "#", count: 64 << 10 + 1))
        #expect(try failure("a.jpg").contains("'a.jpg.yaml': it has 65537 bytes; a sidecar has 65536 at most"))
        try folder.write("picture", to: "in/b.jpg")
        try folder.write([0xFF, 0x00], to: "in/b.jpg.yaml")
        #expect(try failure("b.jpg").contains("it is no text in UTF-8"))
        try folder.write("picture", to: "in/c.jpg")
        #expect(symlink("/etc/hostname", folder.path("in/_imagemill.yaml")) == 0)
        #expect(try failure("c.jpg").contains("'_imagemill.yaml': expected a file"))
        try Directory(fixture.inbox).remove(BytePath("_imagemill.yaml"))
        try folder.write("picture", to: "in/d.jpg")
        #expect(symlink("/etc/hostname", folder.path("in/d.jpg.yaml")) == 0)
        #expect(try failure("d.jpg").contains("'d.jpg.yaml': expected a file, found a folder, a link"))
        try folder.write("picture", to: "in/k.jpg")
        #expect(symlink("/etc/hostname", folder.path("in/k.jpg.yaml")) == 0)
        let kept = try fixture.claimed("k.jpg", keeps: true)
        #expect(throws: Failure.self) { try fixture.open(kept).openedSidecars() }
        var strict = fixture
        strict.companions.sidecars = .required
        try folder.write("picture", to: "in/e.jpg")
        let job = try strict.claimed("e.jpg")
        let missing = #expect(throws: Failure.self) { try strict.open(job) }
        #expect(missing?.message.contains("expected the sidecar 'e.jpg.yaml'") == true)
    }

    @Test func `one that has changed a moment ago keeps its picture in the inbox`() throws {
        try drop()
        let job = try fixture.job("sub/a.jpg")
        let outcome = spool.claim(
            job, from: fixture.inbox, fixture.companions, settle: .seconds(60), largest: .max)
        #expect(outcome == .changed)
        #expect(try fixture.list("in") == ["sub", "sub/a.jpg", "sub/a.jpg.yaml"] && fixture.list(fixture.work) == [])
    }

    @Test func `a picture whose name is too long for one has none`() throws {
        let name = String(repeating: "a", count: 248) + ".jpg"
        try folder.write("picture", to: "in/\(name)")
        let job = try fixture.claimed(name)
        #expect(try fixture.open(job).openedSidecars().isEmpty)
        _ = try spool.deadLetter(job, note: fixture.note(job))
        try spool.failed.giveBack(BytePath(name))
        #expect(try fixture.list("in") == [name])
    }

    @Test func `a set brings its own along, and it is deleted with its members`() throws {
        try folder.write("picture", to: "in/set/1.png")
        try folder.write("side: 4", to: "in/set/_imagemill.yaml")
        let job = try fixture.claimed("set", isSet: true)
        let source = try fixture.open(job)
        #expect(try values(source) == ["side: 4"])
        try fixture.settle(job, .delete)
        #expect(try fixture.list(fixture.done) == [] && fixture.list(fixture.work) == [])
    }

    @Test func `one that is still written to keeps its picture waiting`() throws {
        try drop()
        let job = try fixture.claimed("sub/a.jpg")
        let descriptor = open(folder.path("\(fixture.work)/\(job.id.text)/sidecar"), O_WRONLY)
        defer { close(descriptor) }
        #expect(throws: StillWritten.self) { try fixture.open(job) }
    }
}
