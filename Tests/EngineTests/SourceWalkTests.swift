// Which files are sources, and in which order.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine

@Suite struct SourceWalkTests {
    private func find(_ folder: TemporaryFolder, _ roots: [String] = ["in"], outbox: String = "out") -> FoundSources {
        SourceWalk.find(roots.map { BytePath(folder.path($0)) }, outbox: BytePath(folder.path(outbox)))
    }

    private func paths(_ found: FoundSources) -> [String] { found.sources.map(\.relative.text) }

    private func write(_ folder: TemporaryFolder, _ names: String...) throws {
        for name in names { try folder.write("x", to: name) }
    }

    private func link(_ folder: TemporaryFolder, _ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
    }

    @Test("A folder is walked to its depth, in natural order")
    func order() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/10.jpg", "in/2.jpg", "in/b/1.jpg", "in/a/deep/er/x", "in/b.jpg")
        #expect(paths(find(folder)) == ["2.jpg", "10.jpg", "a/deep/er/x", "b/1.jpg", "b.jpg"])
    }

    @Test("Links to files are followed, dangling ones become sources that fail, and links to folders are left out with a note")
    func links() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "elsewhere/b.jpg")
        try link(folder, "in/b.jpg", to: "../elsewhere/b.jpg")
        try link(folder, "in/c.jpg", to: "nothing")
        try link(folder, "in/d", to: "../elsewhere")
        try link(folder, "in/e", to: ".")
        let found = find(folder)
        #expect(paths(found) == ["a.jpg", "b.jpg", "c.jpg"])
        #expect(Set(found.notes) == Set(["d", "e"].map { "did not follow the link '\(folder.path("in/" + $0))' to a folder" }))
    }

    @Test("A root may be a link to a folder; its sources are known by where they really are")
    func linkedRoot() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg")
        try link(folder, "link", to: "in")
        let found = find(folder, ["link", "in"])
        #expect(paths(found) == ["a.jpg"])
        #expect(found.sources[0].identity == FileSystem.absolute(BytePath(folder.path("in/a.jpg"))))
    }

    @Test("Leftovers are passed over, also whole folders")
    func leftovers() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/.git/a.jpg", "in/@eaDir/a.jpg", "in/a.jpg.part", "in/Thumbs.db", "in/a.jpg")
        #expect(paths(find(folder)) == ["a.jpg"])
    }

    @Test("A leftover that is named outright is a source")
    func namedOutright() throws {
        let folder = try TemporaryFolder()
        try write(folder, ".hidden.jpg")
        #expect(paths(find(folder, [".hidden.jpg"])) == [".hidden.jpg"])
    }

    @Test("The output folder is left out wherever it lies, with a note", arguments: ["in/out", "in/a/b/out", "in"])
    func outboxInside(outbox: String) throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", outbox + "/result.webp")
        let found = find(folder, outbox: outbox)
        #expect(paths(found) == (outbox == "in" ? [] : ["a.jpg"]))
        #expect(found.notes == ["left out '\(folder.path(outbox))': it is the output folder"])
    }

    @Test("The output folder is recognised behind a link")
    func outboxBehindLink() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "in/out/result.webp")
        try link(folder, "link", to: "in/out")
        #expect(paths(find(folder, outbox: "link")) == ["a.jpg"])
    }

    @Test("A folder that is named like a picture is a failure, and what is in it is found")
    func folderLikePicture() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/x.jpg/a.jpg")
        let found = find(folder)
        #expect(paths(found) == ["x.jpg", "x.jpg/a.jpg"])
        #expect(found.sources.map(\.problem?.code) == [.isADirectory, nil])
    }

    @Test("A root that is not there is a source that fails when it is opened")
    func missing() throws {
        let folder = try TemporaryFolder()
        let found = find(folder, ["gone.jpg"])
        #expect(paths(found) == ["gone.jpg"])
        let failure = #expect(throws: Failure.self) { try OpenedSource(found.sources[0], limits: Limits()) }
        #expect(failure?.code == .notFound)
    }

    @Test("A root with dots or a slash at its end is the same root")
    func sameRoot() throws {
        let folder = try TemporaryFolder()
        try write(folder, "in/a.jpg", "b.jpg")
        #expect(paths(find(folder, ["in", "in/", "./in", "in/../in", "b.jpg", "in/../b.jpg"])) == ["a.jpg", "b.jpg"])
    }
}
