// Ways in which sources were once lost, exchanged or deleted, each by its number.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct SpoolBugTests {
    private let fixture: SpoolFixture
    private var folder: TemporaryFolder { fixture.folder }
    private var spool: Spool { fixture.spool }

    init() throws { fixture = try SpoolFixture() }

    /// The folder of a job in work/.
    private func path(_ job: Job, _ name: String) -> String { folder.path("\(fixture.work)/\(job.id.text)/\(name)") }

    // MARK: - B1

    @Test
    func `a half copied set of a kept inbox is not taken for the source after a crash, and is copied anew`() throws {
        for number in 0..<5 { try folder.write("frame \(number)", to: "in/trip/\(number).png") }
        let job = try fixture.job("trip", isSet: true, keeps: true)
        // As a crash leaves it now, and as a version before this one has left it.
        for name in ["source.part", "source"] {
            for number in 0..<2 {
                try folder.write("frame \(number)", to: "\(fixture.work)/\(job.id.text)/\(name)/\(number).png")
            }
            let started = try fixture.restarted()
            #expect(try started.place(of: job, inbox: fixture.inbox) == .inbox)
            #expect(started.claim(job, from: fixture.inbox, CompanionRule(), settle: .zero, largest: .max) == .claimed)
            let source = try started.open(job, ignored: fixture.ignored, limits: Limits())
            #expect(source.members?.count == 5)
            #expect(try Directory(BytePath(path(job, ""))).status(Snapshot.part) == nil)
            try FileManager.default.removeItem(atPath: path(job, ""))
        }
    }

    @Test func `a source that was being copied, and is then moved, is not taken for a copy`() throws {
        try folder.write("a", to: "in/a.jpg")
        let job = try fixture.job("a.jpg")
        // The policy was 'keep' until the program was killed in the middle of the copy.
        let place = "\(fixture.work)/\(job.id.text)"
        try folder.write("", to: "\(place)/source.part")
        #expect(symlink("a.jpg", folder.path("\(place)/copy-of")) == 0)
        #expect(fixture.claim(job) == .claimed)
        let entry = try #require(fixture.entries().first)
        #expect(!entry.isCopy && entry.path == BytePath("a.jpg"))
        // A start discards copies that the store does not know.
        try fixture.spool.discard(job.id)
        #expect(try folder.text("\(place)/source") == "a")
    }

    @Test func `an empty copy of a kept file, as a loss of power leaves it, is not taken for the source`() throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.job("a.jpg", keeps: true)
        try folder.write("", to: "\(fixture.work)/\(job.id.text)/source")
        #expect(try fixture.place(job) == .inbox)
        #expect(fixture.claim(job) == .claimed)
        #expect(try fixture.text(fixture.open(job)) == "abc" && fixture.place(job) == .spool)
    }

    // MARK: - B2

    @Test func `members that arrive or change after 'open' are not deleted, nor is what was never rendered`() throws {
        for name in ["1.png", "2.png", "3.png", "more/4.png", "Thumbs.db"] {
            try folder.write(name, to: "in/trip/\(name)")
        }
        let job = try fixture.claimed("trip", isSet: true)
        _ = try fixture.open(job)
        try folder.write("late", to: "\(fixture.work)/\(job.id.text)/source/more/5.png")
        try folder.write("other", to: "\(fixture.work)/\(job.id.text)/source/2.png")
        try fixture.settle(job, .delete)
        let left = ["trip", "trip/2.png", "trip/Thumbs.db", "trip/more", "trip/more/5.png"]
        #expect(try fixture.list(fixture.done) == left)
        #expect(try folder.text("\(fixture.done)/trip/2.png") == "other" && fixture.entries() == [])
    }

    @Test func `a set whose members were all rendered is deleted, with its folders and its mark`() throws {
        for name in ["1.png", "more/2.png", "more/empty/x.png"] { try folder.write(name, to: "in/trip/\(name)") }
        try folder.write("", to: "in/trip/.done")
        let job = try fixture.claimed("trip", isSet: true)
        _ = try fixture.open(job)
        try fixture.settle(job, .delete)
        #expect(try fixture.list(fixture.done) == [] && fixture.entries() == [] && fixture.list(fixture.work) == [])
    }

    @Test func `what arrives while a set is deleted, and what a crash left undecided, goes to done/`() throws {
        try folder.write("1", to: "in/trip/1.png")
        let job = try fixture.claimed("trip", isSet: true)
        #expect(rename(path(job, "source"), path(job, "remains")) == 0)
        try folder.write("2", to: "\(fixture.work)/\(job.id.text)/doomed")
        try fixture.settle(job, .delete)
        let recovered = "recovered-\(job.id.text)"
        #expect(try fixture.list(fixture.done) == [recovered, "\(recovered)~2", "\(recovered)~2/1.png"])
        #expect(try fixture.entries() == [])
    }

    @Test func `a set that another start has rendered is moved, not deleted`() throws {
        try folder.write("1", to: "in/trip/1.png")
        let job = try fixture.claimed("trip", isSet: true)
        _ = try fixture.restarted().settle(job.with(.delete))
        #expect(try fixture.list(fixture.done) == ["trip", "trip/1.png"])
    }

    @Test func `a set that has changed since it was observed returns to its inbox with all its members`() throws {
        try folder.write("1", to: "in/trip/1.png")
        let job = try fixture.claimed("trip", isSet: true)
        try folder.write("2", to: "\(fixture.work)/\(job.id.text)/source/2.png")
        #expect(throws: StillWritten.self) { try fixture.open(job) }
        #expect(try spool.putBack(job, to: fixture.inbox)?.text == "trip")
        #expect(try fixture.list("in") == ["trip", "trip/1.png", "trip/2.png"])
    }

    /// While a set waits in the queue, its writer may go on.
    @Test(arguments: ["2.png.part", ".2.png", "up.part/2.png"])
    func `a set to which a program writes under a name that is no member returns to its inbox`(name: String) throws {
        try folder.write("1", to: "in/trip/1.png")
        try folder.write("half", to: "in/trip/\(name)")
        let (moved, kept) = (try fixture.job("trip", isSet: true), try fixture.job("trip", isSet: true, keeps: true))
        let writer = Glibc.open(folder.path("in/trip/\(name)"), O_WRONLY)
        #expect(fixture.claim(kept) == .changed)
        #expect(fixture.claim(moved) == .claimed)
        #expect(throws: StillWritten.self) { try fixture.open(moved) }
        close(writer)
        #expect(try fixture.open(moved).members?.count == 1)
    }

    // MARK: - B3

    @Test func `a member that is swapped for a link after the look, or a folder above it, is not followed`() throws {
        try folder.write("secret", to: "outside/1.png")
        try folder.write("picture", to: "in/trip/sub/1.png")
        try folder.write("picture", to: "in/trip/2.png")
        let job = try fixture.claimed("trip", isSet: true)
        let source = try fixture.open(job)
        let set = path(job, "source")
        #expect(unlink(set + "/2.png") == 0 && symlink(folder.path("outside/1.png"), set + "/2.png") == 0)
        #expect(rename(set + "/sub", set + "/old") == 0 && symlink(folder.path("outside"), set + "/sub") == 0)
        for member in try #require(source.members) {
            #expect(throws: (any Error).self) { try member.location.open() }
        }
        // The paths above the spool may be exchanged too.
        let kept = try #require(source.members?.first)
        #expect(throws: (any Error).self) { try kept.location.open() }
        try fixture.settle(job, .delete)
        #expect(try folder.text("outside/1.png") == "secret")
        #expect(try fixture.list(fixture.done).contains("trip/old/1.png"))
    }

    @Test func `a member that is too large is refused before it is opened again`() throws {
        var fixture = fixture
        fixture.limits.maximumSourceBytes = 2
        try folder.write("abc", to: "in/trip/1.png")
        let job = try fixture.claimed("trip", isSet: true)
        let failure = #expect(throws: Failure.self) { try fixture.open(job) }
        #expect(
            failure?.message == "the member '1.png' failed: the file has 3 bytes; the limit is 2 (max-source-bytes)")
    }

    // MARK: - B8

    /// Makes a chain of folders below one, with a file in the last.
    private func makeChain(_ levels: Int, below path: String) throws {
        var current = try Directory(BytePath(path))
        for _ in 0..<levels { current = try current.makingFolder(BytePath("d")) }
        _ = try current.making(BytePath("deepest.png"))
    }

    /// With room for a few more descriptors than are open now.
    private func withFewDescriptors(_ body: () throws -> Void) throws {
        var before = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) == 0)
        var few = before
        let highest =
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int($0) }.max() ?? 0
        few.rlim_cur = rlim_t(highest + 32)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few) == 0)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before) }
        try body()
    }

    @Test func `a tree of nine thousand levels is removed with few descriptors`() throws {
        try folder.write("x", to: "in/deep/1.png")
        try makeChain(9_000, below: folder.path("in/deep"))
        let root = try Directory(fixture.inbox)
        var isGone = false
        try withFewDescriptors { isGone = try root.removeTree(BytePath("deep")) }
        #expect(isGone)
        #expect(try fixture.list("in") == [])
    }

    @Test func `a folder of more names than are looked at together is removed`() throws {
        try folder.write("x", to: "in/wide/folder/1.png")
        for number in 0..<20_001 { #expect(mknod(folder.path("in/wide/\(number)"), S_IFREG | 0o600, 0) == 0) }
        #expect(try Directory(fixture.inbox).removeTree(BytePath("wide")))
        #expect(try fixture.list("in") == [])
    }

    @Test
    func `a set that is too deep fails with a sentence, and goes to failed/ as it is; one that is kept fails too`()
        throws
    {
        try folder.write("x", to: "in/deep/1.png")
        let root = try Directory(fixture.inbox)
        let job = try fixture.job("deep", isSet: true)
        try makeChain(9_000, below: folder.path("in/deep"))
        let kept = try fixture.job("deep", isSet: true, keeps: true)
        #expect(fixture.claim(kept) == .claimed)
        let refusal = #expect(throws: Failure.self) { try fixture.open(kept) }
        #expect(refusal?.message.contains("the folder 'deep' has folders more than 64 levels deep") == true)
        try fixture.settle(kept)
        try withFewDescriptors {
            #expect(fixture.claim(job) == .claimed)
            let failure = #expect(throws: Failure.self) { try fixture.open(job) }
            #expect(failure?.message.contains("the folder 'deep' has folders more than 64 levels deep") == true)
            let failed = try spool.deadLetter(job, note: fixture.note(job))
            #expect(failed?.text == "deep")
        }
        #expect(try root.names() == [] && fixture.entries() == [])
        #expect(try Directory(spool.path(.failed)).removeTree(BytePath("deep")))
    }

    @Test(arguments: [false, true])
    func `a set of too many members fails with that code, whether it is moved or kept, and is not copied`(
        keeps: Bool
    ) throws {
        for number in 0...OpenedSet.most { try folder.write("", to: "in/big/\(number).png") }
        let job = try fixture.claimed("big", isSet: true, keeps: keeps)
        // As a start after a crash finds it.
        #expect(fixture.claim(job) == .claimed)
        #expect(try fixture.place(job) == .spool)
        let failure = #expect(throws: Failure.self) { try fixture.open(job) }
        #expect(failure?.code == .tooManyMembers)
        guard keeps else { return }
        #expect(try fixture.list(fixture.work).allSatisfy { !$0.hasSuffix(".png") })
        try fixture.settle(job)
        #expect(try fixture.list(fixture.work) == [])
        #expect(try fixture.list("in").count == OpenedSet.most + 2)
    }

    // MARK: - B11

    @Test func `a claim that a loss of power took back is found in the inbox, so that its attempts count`() throws {
        try folder.write("abc", to: "in/sub/a.jpg")
        let job = try fixture.claimed("sub/a.jpg")
        // The state of the inbox's disk after that; the store is on another one.
        #expect(rename(path(job, "source"), folder.path("in/sub/a.jpg")) == 0)
        try FileManager.default.removeItem(atPath: path(job, ""))
        let started = try fixture.restarted()
        #expect(try started.place(of: job, inbox: fixture.inbox) == .inbox)
        #expect(started.claim(job, from: fixture.inbox, CompanionRule(), settle: .zero, largest: .max) == .claimed)
        #expect(try started.place(of: job, inbox: fixture.inbox) == .spool)
    }

    @Test func `while an inbox is missing, nobody says that its sources are lost`() throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.job("a.jpg")
        #expect(rename(folder.path("in"), folder.path("away")) == 0)
        #expect(throws: SystemError.self) { try fixture.place(job) }
    }

    // MARK: - B15

    /// A spool that has to be in the inbox: `/dev/shm` is another file system than the folder above it.
    private func inInbox(_ name: String = "shop") throws -> Spool {
        try Spool(SpoolLocation(only: fixture.inbox, at: 2), inbox: fixture.inbox, name: name)
    }

    @Test(arguments: [1, 2])
    func `a spool in the inbox, or beside it, is held by one at a time`(candidate: Int) throws {
        let location = SpoolLocation(only: fixture.inbox, at: candidate)
        do {
            let first = try Spool(location, inbox: fixture.inbox, name: "shop")
            let error = #expect(throws: SystemError.self) { try Spool(location, inbox: fixture.inbox, name: "shop") }
            #expect(
                error?.code == EWOULDBLOCK
                    && error?.description.contains("another imagemill watch works there; stop one of the two") == true)
            _ = try Spool(location, inbox: fixture.inbox, name: "other")
            withExtendedLifetime(first) {}
        }
        #expect(try Spool(location, inbox: fixture.inbox, name: "shop").base == location.candidates[candidate])
    }

    @Test func `a base that is a link is refused, and nothing is made where it points to`() throws {
        try FileManager.default.createDirectory(atPath: folder.path("elsewhere"), withIntermediateDirectories: false)
        #expect(symlink("../elsewhere", folder.path("in/.imagemill")) == 0)
        let error = #expect(throws: SystemError.self) { try inInbox() }
        #expect(error?.description.contains("it is a link, or belongs to somebody else") == true)
        #expect(try fixture.list("elsewhere") == [])
    }

    @Test(.enabled(if: TestMachine.isRoot, "only root can give a folder away"))
    func `a base that belongs to somebody else is refused`() throws {
        #expect(mkdir(folder.path("in/.imagemill"), 0o755) == 0 && chown(folder.path("in/.imagemill"), 1234, 1234) == 0)
        let error = #expect(throws: SystemError.self) { try inInbox() }
        #expect(error?.code == EPERM && error?.description.contains("belongs to somebody else") == true)
    }

    @Test func `a base that others may replace is refused, until the folder above has the sticky bit`() throws {
        #expect(chmod(folder.path("in"), 0o777) == 0)
        let error = #expect(throws: SystemError.self) { try inInbox() }
        #expect(error?.description.contains("chmod +t '\(folder.path("in"))'") == true)
        #expect(try fixture.list("in") == [])
        #expect(chmod(folder.path("in"), 0o1777) == 0)
        let spool = try inInbox()
        // A base that is exchanged later is not used either.
        #expect(
            rename(folder.path("in/.imagemill"), folder.path("in/old")) == 0
                && symlink("old", folder.path("in/.imagemill")) == 0)
        #expect(throws: SystemError.self) { try spool.entries(ignored: fixture.ignored) }
    }

    // MARK: - D1

    @Test func `a claim whose answer was lost is a claim`() throws {
        var calls = NameCalls.system
        calls.rename = { from, name, to, newName in
            let first = renameat(from, name, to, newName)
            // The server has done it and forgotten; the client asks again.
            return first == 0 ? renameat(from, name, to, newName) : first
        }
        let fixture = try SpoolFixture(calls: calls)
        try fixture.folder.write("victim", to: "in/a.png")
        let job = try fixture.claimed("a.png")
        #expect(try fixture.text(fixture.open(job)) == "victim")
        // The other one of two claimers finds nothing.
        try fixture.folder.write("second", to: "in/b.png")
        let other = try fixture.job("b.png")
        #expect(unlink(fixture.folder.path("in/b.png")) == 0)
        #expect(fixture.claim(other) == .gone)
    }

    @Test(arguments: ["link", "unlink", "both"])
    func `a move by link and unlink whose answers were lost loses nothing and leaves one name`(lost: String) throws {
        var calls = NameCalls.system
        calls.renameNoReplace = { _, _, _, _ in
            errno = EINVAL
            return -1
        }
        if lost != "unlink" { calls.link = { linkat($0, $1, $2, $3, 0) == 0 ? linkat($0, $1, $2, $3, 0) : -1 } }
        if lost != "link" { calls.unlink = { unlinkat($0, $1, 0) == 0 ? unlinkat($0, $1, 0) : -1 } }
        let fixture = try SpoolFixture(calls: calls)
        for number in 1...2 {
            try fixture.folder.write("victim \(number)", to: "in/a.png")
            try fixture.settle(fixture.claimed("a.png"))
        }
        #expect(try fixture.list(fixture.done) == ["a.png", "a~2.png"])
        #expect(
            try fixture.folder.text("\(fixture.done)/a.png") == "victim 1"
                && fixture.folder.text("\(fixture.done)/a~2.png") == "victim 2")
        #expect(try fixture.entries() == [] && fixture.list("in") == [])
    }

    @Test func `a folder whose move lost its answer is in one place, and replaces nothing`() throws {
        var calls = NameCalls.system
        calls.renameNoReplace = { _, _, _, _ in
            errno = EINVAL
            return -1
        }
        calls.rename = { renameat($0, $1, $2, $3) == 0 ? renameat($0, $1, $2, $3) : -1 }
        let fixture = try SpoolFixture(calls: calls)
        try fixture.folder.write("old", to: "\(fixture.done)/trip/0.png")
        try fixture.folder.write("1", to: "in/trip/1.png")
        try fixture.settle(fixture.claimed("trip", isSet: true))
        #expect(try fixture.list(fixture.done) == ["trip", "trip/0.png", "trip~2", "trip~2/1.png"])
    }

    @Test func `a crash between link and unlink leaves one name after the next start`() throws {
        try folder.write("abc", to: "in/a.png")
        let job = try fixture.claimed("a.png")
        #expect(link(path(job, "source"), folder.path("\(fixture.done)/a.png")) == 0)
        _ = try fixture.restarted().settle(job)
        #expect(try fixture.list(fixture.done) == ["a.png"] && fixture.entries() == [])
    }

    // MARK: - D2

    /// As NFS names files that were removed while they were open.
    private static let keptName = ".nfs000000000123456700000001"

    /// Whether this process may mount one file over another.
    private static var mayMount: Bool {
        guard let folder = try? TemporaryFolder(), let path = try? folder.write("", to: "file") else { return false }
        return mount("/dev/null", path, nil, UInt(MS_BIND), nil) == 0 && umount(path) == 0
    }

    @Test(.enabled(if: Self.mayMount, "only root can mount"))
    func `a job's folder with files that NFS keeps is left without an error, and removed later`() async throws {
        try folder.write("abc", to: "in/a.jpg")
        let job = try fixture.claimed("a.jpg")
        try folder.write("x", to: "\(fixture.work)/\(job.id.text)/\(Self.keptName)")
        // A file over which another is mounted answers as NFS does.
        #expect(mount("/dev/null", path(job, Self.keptName), nil, UInt(MS_BIND), nil) == 0)
        try fixture.settle(job)
        #expect(try fixture.list(fixture.done) == ["a.jpg"])
        #expect(try fixture.entries().map(\.source) == [nil])
        #expect(umount(path(job, Self.keptName)) == 0)
        try spool.discard(job.id)
        #expect(try fixture.list(fixture.work) == [])
    }

    @Test func `names that NFS gives are told from others`() {
        #expect(BytePath(Self.keptName).isKeptByNFS)
        for name in [".nfs", ".nfs-photo.jpg", "nfs000000000123456700000001", ".nfs00000000012345670000000g"] {
            #expect(!BytePath(name).isKeptByNFS)
        }
    }

    // MARK: - D4

    @Test func `the lock of a spool is on a file, which is locked for other machines too`() throws {
        let spool = try inInbox()
        let file = try Directory(spool.path(.work)).opening(SpoolFolders.lock)
        #expect(file.lock() == .taken)
        withExtendedLifetime(spool) {}
    }

    // MARK: - Sparse files

    @Test
    func `a copy of a sparse hard link needs no more room than its original; one that is too large is not copied`()
        throws
    {
        let original = try Directory(fixture.inbox).making(BytePath("a.tif"))
        #expect(ftruncate(original.descriptor, 450 << 20) == 0)
        #expect(pwrite(original.descriptor, "data", 4, 100 << 20) == 4)
        #expect(link(folder.path("in/a.tif"), folder.path("elsewhere.tif")) == 0)
        let job = try fixture.claimed("a.tif")
        let copy = try fixture.open(job).location.open().file
        var status = stat()
        #expect(fstat(copy.descriptor, &status) == 0)
        #expect(status.st_size == 450 << 20 && status.st_blocks * 512 < 1 << 20 && status.st_nlink == 1)
        #expect(try copy.bytes(at: 100 << 20, count: 4) == Array("data".utf8) && copy.bytes(at: 0, count: 2) == [0, 0])
        var small = Limits()
        small.maximumSourceBytes = 100 << 20
        try FileManager.default.removeItem(atPath: path(job, "private"))
        let failure = #expect(throws: Failure.self) { try spool.open(job, ignored: fixture.ignored, limits: small) }
        #expect(failure?.code == .tooManyBytes)
        #expect(try Directory(BytePath(path(job, ""))).status(Spool.copies) == nil)
    }

    @Test func `half a copy is removed when the disk is full`() throws {
        try folder.write("abc", to: "in/a.tif")
        let (original, target) = (
            try Directory(fixture.inbox).opening(BytePath("a.tif")), try Directory(BytePath(folder.path("state")))
        )
        var before = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before) == 0)
        let handler = signal(SIGXFSZ, SIG_IGN)
        var few = before
        few.rlim_cur = 2
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &few) == 0)
        let result = Result { try target.copying(original, as: BytePath("copy")) }
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before)
        signal(SIGXFSZ, handler)
        #expect(throws: SystemError.self) { try result.get() }
        #expect(try target.status(BytePath("copy")) == nil)
    }
}

extension SpoolLocation {
    /// One candidate of the three; the others are on another file system.
    fileprivate init(only inbox: BytePath, at candidate: Int) {
        self.init(inbox: inbox, state: BytePath("/proc/imagemill"))
        candidates = candidates.indices.map {
            $0 == candidate || $0 > candidate ? candidates[$0] : BytePath("/proc/imagemill")
        }
    }
}
