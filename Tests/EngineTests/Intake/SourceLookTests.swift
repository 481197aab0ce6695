// A look at sources in an inbox that is open.
import Foundation
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct SourceLookTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func look() throws -> SourceLook {
        SourceLook(root: try Directory(BytePath(folder.path("in"))), ignored: IgnoredNames())
    }

    private func signs(_ set: String) throws -> (status: FileStatus, signs: UploadSigns) {
        guard case .source(let status, let signs) = try look().look(BytePath(set), isSet: true) else {
            throw SystemError("find '\(set)'", code: ENOENT)
        }
        return (status, signs)
    }

    private func examine(_ set: String) throws -> Examination? { try look().examine(BytePath(set), isSet: true) }

    @Test func `of a file that cannot be read, nobody says whether it is complete`() throws {
        try folder.write("x", to: "in/a.jpg")
        // A folder is open like a file, and every read of it fails.
        let look = try look()
        let error = #expect(throws: SystemError.self) { try look.examine(look.root.file) }
        #expect(error?.description == "cannot read the file: Is a directory")
    }

    /// Neither the name nor the first bytes alone say that it is one.
    @Test func `a raw file whose end is still to come is incomplete, like any other picture`() throws {
        let file = CameraDNG(width: 40, height: 30).file { _, _ in [90, 90, 90] }
        try folder.write(Array(file.dropLast(100)), to: "in/a.dng")
        #expect(try look().examine(BytePath("a.dng"), isSet: false)?.structure == .incomplete)
        try folder.write(file, to: "in/a.dng")
        #expect(try look().examine(BytePath("a.dng"), isSet: false)?.structure == .complete)
    }

    @Test(arguments: ["in/album/.2.png", "in/album/2.png", "in/album/.upload/2.png", "in/album/@eaDir/2.png"])
    func `a set has a writer as long as a file in it is open, whatever its name is and however empty it is`(
        name: String
    ) throws {
        try folder.write(SmallPNG.bytes, to: "in/album/1.png")
        try folder.write([], to: name)
        #expect(try examine("album") == Examination(hasWriter: false, structure: .complete))
        let writer = open(folder.path(name), O_WRONLY)
        #expect(try examine("album")?.hasWriter == true)
        close(writer)
        #expect(try examine("album")?.hasWriter == false)
    }

    @Test(
        arguments: [
            ".2.png", "sub/.2.png.Xa1", ".upload/2.png", "2.png.part", ".~tmp~/2.png", ".rsync-partial/2.png",
            "up.part/deep/2.png",
        ])
    func `what appears or changes under a name that is passed over is a sign, and not a part of the set`(
        name: String
    ) throws {
        try folder.write(SmallPNG.bytes, to: "in/album/1.png")
        try folder.write(SmallPNG.bytes, to: "in/album/sub/3.png")
        let before = try signs("album")
        try folder.write("half", to: "in/album/\(name)")
        let during = try signs("album")
        try folder.write("more than half", to: "in/album/\(name)")
        let after = try signs("album")
        #expect(before.signs != during.signs && during.signs != after.signs)
        #expect(before.status == during.status && during.status == after.status)
    }

    @Test func `a hidden folder that may not be looked into keeps nobody from taking its set`() throws {
        try folder.write(SmallPNG.bytes, to: "in/album/1.png")
        try folder.write("x", to: "in/album/.locked/x")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: folder.path("in/album/.locked"))
        #expect(try signs("album").status.bytes == SmallPNG.bytes.count)
        #expect(try examine("album") == Examination(hasWriter: false, structure: .complete))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path("in/album/.locked"))
    }

    @Test func `a look at a large set that is given up lets another source have its turn, and gets more time`() throws {
        for number in 0..<3000 { try folder.write("x", to: "in/large/\(number).png") }
        try folder.write(SmallPNG.bytes, to: "in/small/1.png")
        var settings = WatchSettings(name: "in", path: BytePath(folder.path("in")), takesSets: true)
        settings.times.incompleteAfter = .microseconds(500)
        let looks = SlowLooks(settings) {}
        var found: [SlowLooks.Outcome] = []
        let end = SuspendingClock.now + .seconds(30)
        for name in ["large", "small"] { looks.add(.look(BytePath(name), isSet: true)) }
        while found.count < 2, .now < end {
            found += looks.takeOutcomes()
            usleep(5_000)
        }
        #expect(found.map(\.action.path.text) == ["small", "large"])
        guard case .success(.look(.source(let status, _)))? = found.last?.found else { throw CancellationError() }
        #expect(status.bytes == 3000)
    }

    @Test(arguments: [".png", ".png.part"])
    func `of a set with too many files or other names, the rest is not looked at, and a change is noticed`(
        end: String
    ) throws {
        try folder.write(SmallPNG.bytes, to: "in/album/0.png")
        for number in 1..<50 { try folder.write(SmallPNG.bytes, to: "in/album/\(number)\(end)") }
        // A file in the sub-folder is not reached, or nothing that is found there counts.
        for number in 0..<50 { try folder.write("no picture", to: "in/album/sub/\(number)\(end)") }
        var look = try look()
        look.most = 20
        func status() throws -> FileStatus {
            guard case .source(let status, _) = try look.look(BytePath("album"), isSet: true) else {
                throw SystemError("find the set", code: ENOENT)
            }
            return status
        }
        let before = try status()
        #expect(before.stamp == (try FileSystem.status(BytePath(folder.path("in/album"))))?.stamp)
        #expect(try status() == before)
        #expect(try look.examine(BytePath("album"), isSet: true)?.hasWriter == false)
        try folder.write(SmallPNG.bytes, to: "in/album/more\(end)")
        #expect(try status() != before)
    }

    @Test func `a photo is as incomplete as the raw file that leaves with it`() throws {
        try folder.write([0xFF, 0xD8, 0xFF, 0xD9], to: "in/a.jpg")
        // A GIF without an end stands for any half file.
        try folder.write(Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], to: "in/a.nef")
        var look = SourceLook(root: try Directory(BytePath(folder.path("in"))), ignored: IgnoredNames())
        #expect(try look.examine(BytePath("a.jpg"), isSet: false)?.structure == .complete)
        look.companions.raw = .preview
        #expect(try look.examine(BytePath("a.jpg"), isSet: false)?.structure == .incomplete)
    }
}
