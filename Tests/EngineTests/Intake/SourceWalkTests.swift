// The files that are sources, and their order.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct SourceWalkTests {
    private func find(
        _ folder: TemporaryFolder, _ roots: [String] = ["in"], outbox: String = "out", kind: SourceKind = .picture,
        filter: PathFilter = PathFilter()
    ) -> FoundSources {
        SourceWalk.find(
            roots.map { BytePath(folder.path($0)) },
            WalkRules(outbox: BytePath(folder.path(outbox)), kind: kind, filter: filter))
    }

    private func paths(_ found: FoundSources) -> [String] { found.sources.map(\.relative.text) }

    private func write(_ folder: TemporaryFolder, _ names: String...) throws {
        for name in names { try folder.write("x", to: name) }
    }

    private func link(_ folder: TemporaryFolder, _ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
    }

    @Test func `a folder is searched recursively, in natural order`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/10.jpg", "in/2.jpg", "in/b/1.jpg", "in/a/deep/er/x.png", "in/b.jpg")
        #expect(paths(find(folder)) == ["2.jpg", "10.jpg", "a/deep/er/x.png", "b/1.jpg", "b.jpg"])
    }

    @Test
    func `links to files are followed, dangling ones fail as sources, and links to folders are left out with a note`()
        throws
    {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "elsewhere/b.jpg")
        try link(folder, "in/b.jpg", to: "../elsewhere/b.jpg")
        try link(folder, "in/c.jpg", to: "nothing")
        try link(folder, "in/d", to: "../elsewhere")
        try link(folder, "in/e", to: ".")
        let found = find(folder)
        #expect(paths(found) == ["a.jpg", "b.jpg", "c.jpg"])
        #expect(
            Set(found.notes)
                == Set(["d", "e"].map { "did not follow the link '\(folder.path("in/" + $0))' to a folder" }))
    }

    @Test func `a root may be a link to a folder; its sources are known by where they really are`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg")
        try link(folder, "link", to: "in")
        let found = find(folder, ["link", "in"])
        #expect(paths(found) == ["a.jpg"])
        #expect(found.sources[0].identity == FileSystem.absolute(BytePath(folder.path("in/a.jpg"))))
    }

    @Test func `leftovers are ignored, also whole folders`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/.git/a.jpg", "in/@eaDir/a.jpg", "in/a.jpg.part", "in/Thumbs.db", "in/a.jpg")
        #expect(paths(find(folder)) == ["a.jpg"])
    }

    @Test func `a leftover that is named outright is a source`() throws {
        let folder = try TemporaryFolder()
        try write(folder, ".hidden.jpg")
        #expect(paths(find(folder, [".hidden.jpg"])) == [".hidden.jpg"])
    }

    @Test(arguments: ["in/out", "in/a/b/out", "in"])
    func `the output folder is left out wherever it is, with a note`(outbox: String) throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", outbox + "/result.webp")
        let found = find(folder, outbox: outbox)
        #expect(paths(found) == (outbox == "in" ? [] : ["a.jpg"]))
        #expect(found.notes == ["left out '\(folder.path(outbox))': it is the output folder"])
    }

    @Test func `the output folder is recognised behind a link`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "in/out/result.webp")
        try link(folder, "link", to: "in/out")
        #expect(paths(find(folder, outbox: "link")) == ["a.jpg"])
    }

    @Test func `a folder that is named like a picture is a folder like any other`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/x.jpg/a.jpg")
        let found = find(folder)
        #expect(paths(found) == ["x.jpg/a.jpg"])
        #expect(found.sources[0].problem == nil)
    }

    @Test func `a root that is not there is a source that fails when it is opened`() throws {
        let folder = try TemporaryFolder()
        let found = find(folder, ["gone.jpg"])
        #expect(paths(found) == ["gone.jpg"])
        let failure = #expect(throws: Failure.self) { try OpenedSource(found.sources[0], limits: Limits()) }
        #expect(failure?.code == .notFound)
    }

    @Test func `a root with dots or a slash at its end is the same root`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "b.jpg")
        #expect(
            paths(find(folder, ["in", "in/", "./in", "in/../in", "b.jpg", "in/../b.jpg"])) == ["b.jpg", "in/a.jpg"])
    }

    @Test func `sets are the folders that have files in them, with their members in natural order`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/10.jpg", "in/2.jpg", "in/a/1.jpg", "in/a/b/2.jpg", "in/empty/.hidden")
        let found = find(folder, kind: .set)
        #expect(paths(found) == ["a", "a/b", "in"])
        #expect(
            found.sources.map { $0.members?.map(\.relative.text) } == [
                ["a/1.jpg"], ["a/b/2.jpg"], ["2.jpg", "10.jpg"],
            ])
        for member in found.sources.flatMap({ $0.members ?? [] }) {
            #expect(try member.location.open().status.bytes == 1)
        }
    }

    @Test(arguments: [SourceKind.picture, .set])
    func `a walk does not follow a folder that is swapped for a link, nor does opening its sources`(kind: SourceKind)
        throws
    {
        let folder = try TemporaryFolder()
        let count = 20
        for number in 0..<count {
            try write(folder, "in/dir\(number)/picture.jpg")
            try link(folder, "in/.link\(number)", to: folder.path("secret"))
        }
        try folder.write("not for you", to: "secret/picture.jpg")
        try folder.write("not for you", to: "secret/only-here.jpg")
        let swapper = Swapper(folder.path("in"), count: count)
        swapper.start()
        defer { swapper.stop() }
        var (opened, walks, leaks) = (0, 0, 0)
        let (least, end) = (Moment.now + .seconds(2), Moment.now + .seconds(60))
        let isEnough = { walks > 10 && opened > 10 && swapper.swaps > 1000 }
        while Moment.now < least || !isEnough() && Moment.now < end {
            walks += 1
            for source in find(folder, kind: kind).sources.flatMap({ $0.members ?? [$0] }) where source.problem == nil {
                if source.relative.lastComponent.text == "only-here.jpg" { leaks += 1 }
                guard let (file, status) = try? source.location.open() else { continue }
                if (try? file.bytes(at: 0, count: 20)) != Array("x".utf8) || status.bytes != 1 { leaks += 1 }
                opened += 1
            }
        }
        swapper.stop()
        #expect(leaks == 0)
        #expect(isEnough())
    }

    @Test
    func `a folder that is swapped for a link after the walk is not followed, and a link to a file still is`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a/1.jpg", "in/b/1.jpg", "elsewhere/1.jpg")
        try link(folder, "in/b/2.jpg", to: "../../elsewhere/1.jpg")
        let found = find(folder)
        #expect(paths(found) == ["a/1.jpg", "b/1.jpg", "b/2.jpg"])
        #expect(rename(folder.path("in/a"), folder.path("in/old")) == 0)
        try link(folder, "in/a", to: "../elsewhere")
        #expect(throws: SystemError.self) { try found.sources[0].location.open() }
        #expect(try found.sources[1].location.open().status.bytes == 1)
        #expect(try found.sources[2].location.open().status.bytes == 1)
    }

    @Test(arguments: [(2000, 1), (300, 2)])
    func `a tree that is deeper than the limit of open files is walked, and its sources are opened`(
        levels: Int, width: Int
    ) throws {
        let folder = try TemporaryFolder()
        var level = try Directory(BytePath(folder.path))
        level = try level.makingFolder(BytePath("in"))
        for number in 0..<levels {
            // The other folder comes before or after the deep one.
            if width == 2 {
                _ = try level.makingFolder(BytePath(number % 2 == 0 ? "a" : "z")).making(BytePath("f.png"))
            }
            level = try level.makingFolder(BytePath("d"))
        }
        _ = try level.making(BytePath("end.png"))
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(7), &limit)
        let before = limit
        // The descriptors that are open already, and 64 more.
        let open =
            (try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).compactMap(Int.init).max() ?? 0
        limit.rlim_cur = rlim_t(open + 64)
        setrlimit(__rlimit_resource_t(7), &limit)
        let found = find(folder)
        let deepest = found.sources.max { $0.relative.bytes.count < $1.relative.bytes.count }
        let status = try? deepest?.location.open().status
        var restored = before
        setrlimit(__rlimit_resource_t(7), &restored)
        #expect(found.sources.count == (width == 2 ? levels + 1 : 1) && found.sources.allSatisfy { $0.problem == nil })
        #expect(deepest?.relative.bytes.count == levels * 2 + 7 && status?.bytes == 0)
        try removeDeepTree(folder)
    }

    private static let gif = Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 20)

    @Test func `a search passes over what is no picture by name and content, and finds what is one by either`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "in/notes.txt", "in/a.xmp", "in/sub/a.CR2", "in/Makefile")
        try folder.write("", to: "in/empty")
        try folder.write("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", to: "in/logo.svg")
        try folder.write(Self.gif, to: "in/no-extension")
        try folder.write(Self.gif, to: "in/wrong.dat")
        try link(folder, "in/dangling", to: "nothing")
        #expect(mkfifo(folder.path("in/pipe"), 0o600) == 0)
        let found = find(folder)
        #expect(paths(found) == ["a.jpg", "no-extension", "wrong.dat"])
        let names = ["Makefile", "a.xmp", "dangling", "empty", "logo.svg", "notes.txt", "pipe", "sub/a.CR2"]
        #expect(found.passedOver.map(\.path.text).sorted() == names.map { folder.path("in/" + $0) })
        #expect(paths(find(folder, ["in/notes.txt"])) == ["notes.txt"])
    }

    @Test func `a set has no members that are no pictures, and a folder without pictures is no set`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a/1.jpg", "in/a/1.xmp", "in/b/notes.txt")
        let found = find(folder, kind: .set)
        #expect(found.sources.map { $0.members?.map(\.relative.text) } == [["a/1.jpg"]])
        #expect(found.passedOver.count == 2)
    }

    @Test func `excluded folders are not entered, and excluded files are not counted`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "in/b.jpg", "in/node_modules/c.jpg", "in/x/node_modules/d.txt", "in/x/e.jpg")
        let filter = PathFilter(include: [], exclude: [PathPattern("node_modules")!, PathPattern("b.*")!])
        let found = find(folder, filter: filter)
        #expect(paths(found) == ["a.jpg", "x/e.jpg"])
        #expect(found.passedOver.isEmpty)
        #expect(paths(find(folder, ["in/a.jpg", "in/b.jpg"], filter: filter)) == ["a.jpg"])
    }

    @Test func `paths begin at the folder that all roots have in common, and are shown as typed`() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a/1.jpg", "in/b/1.jpg", "in/b/c/2.jpg")
        #expect(paths(find(folder, ["in/a", "in/b"])) == ["a/1.jpg", "b/1.jpg", "b/c/2.jpg"])
        #expect(paths(find(folder, ["in/b/1.jpg", "in/b/c/2.jpg"])) == ["1.jpg", "c/2.jpg"])
        #expect(paths(find(folder, ["in/b"])) == ["1.jpg", "c/2.jpg"])
        #expect(paths(find(folder, ["in", "in/b/c"])) == ["a/1.jpg", "b/1.jpg", "b/c/2.jpg"])
        let found = find(folder, ["in/a/", "in/../in/b/1.jpg", "gone.jpg"])
        #expect(
            found.sources.map(\.typed.text) == ["gone.jpg", "in/a/1.jpg", "in/../in/b/1.jpg"].map { folder.path($0) })
        #expect(paths(find(folder, ["in/a", "in/b"], kind: .set)) == ["a", "b", "b/c"])
    }

    @Test func `many roots do not use up the descriptors`() throws {
        let folder = try TemporaryFolder()
        let names = (0..<300).map { "in/\($0)" }
        for name in names { try write(folder, name + "/sub/a.jpg") }
        let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        let found = find(folder, names)
        #expect(found.sources.count == 300)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 100)
        for source in found.sources { #expect(try source.location.open().status.bytes == 1) }
    }

    /// Foundation's removal needs a path, which must not be longer than 4096 bytes.
    private func removeDeepTree(_ folder: TemporaryFolder) throws {
        let root = try Directory(BytePath(folder.path))
        while let inner = try? root.folder(BytePath("in/d")) {
            // The second level becomes the first.
            for name in try inner.names() where name != Array("d".utf8) { try inner.removeTree(BytePath(name)) }
            guard try inner.status(BytePath("d")) != nil else { break }
            try inner.move(BytePath("d"), to: root, as: BytePath("next"))
            try root.removeTree(BytePath("in"))
            _ = try root.makingFolder(BytePath("in"))
            try root.move(BytePath("next"), to: root.folder(BytePath("in")), as: BytePath("d"))
        }
    }
}

/// Swaps folders `dirN` for links `.linkN` and back, as fast as it can.
private final class Swapper: Sendable {
    private let path: String
    private let count: Int
    private let state = Mutex((isStopping: false, swaps: 0))
    private let hasEnded = Monitor(false)

    init(_ path: String, count: Int) {
        self.path = path
        self.count = count
    }

    var swaps: Int { state.withLock { $0.swaps } }

    func start() {
        runOnNewThread { [self] in
            var areLinks = false
            while !state.withLock({ $0.isStopping }) {
                for number in 0..<count {
                    let (folder, link, other) = (
                        "\(path)/dir\(number)", "\(path)/.link\(number)", "\(path)/.dir\(number)"
                    )
                    let result =
                        areLinks
                        ? rename(folder, link) + rename(other, folder) : rename(folder, other) + rename(link, folder)
                    if result == 0 { state.withLock { $0.swaps += 1 } }
                }
                areLinks.toggle()
                usleep(UInt32.random(in: 0..<200))
            }
            hasEnded.change { $0 = true }
        }
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        hasEnded.wait { $0 ? () : nil }
    }
}
