// The folders of an outbox: made when they are needed, and never reached through a link.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct OutboxTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func outbox(holdsOpen: Bool, _ name: String = "out") -> Outbox {
        Outbox(path: BytePath(folder.path(name)), of: holdsOpen ? .run : .dropFolder, writer: "me")
    }

    private func publish(_ names: [String], into outbox: Outbox) throws {
        for file in try outbox.stage(
            names.map { RenditionName(path: BytePath($0)) }, newToken: { DurableFile.newToken })
        {
            try file.publishNew()
        }
    }

    @Test func `a run makes its outbox and the folders below; a second use finds them`() throws {
        let outbox = outbox(holdsOpen: true, "new/out")
        try publish(["x/y/a.webp"], into: outbox)
        try publish(["x/y/b.webp", "c.webp"], into: outbox)
        #expect(
            try folder.entries() == [
                "new", "new/out", "new/out/c.webp", "new/out/x", "new/out/x/y", "new/out/x/y/a.webp",
                "new/out/x/y/b.webp",
            ])
    }

    @Test func `a drop folder's outbox is never made, since it may be a mount; folders below it are`() throws {
        let outbox = outbox(holdsOpen: false)
        let error = #expect(throws: SystemError.self) { try publish(["x/a.webp"], into: outbox) }
        #expect(error?.code == ENOENT && error?.asOutputFailure.code == .outputNotWritable)
        #expect(throws: SystemError.self) { try outbox.status(BytePath("a.webp")) }
        #expect(try folder.entries() == [])
        try folder.write("", to: "out/z")
        try publish(["x/a.webp"], into: outbox)
        #expect(try folder.entries() == ["out", "out/x", "out/x/a.webp", "out/z"])
    }

    @Test(arguments: [true, false])
    func `nothing is held open for a drop folder between jobs, and only some folders for a run`(holdsOpen: Bool) throws
    {
        try folder.write("", to: "out/z")
        let outbox = outbox(holdsOpen: holdsOpen)
        for index in 0..<200 { try publish(["\(index)/a.webp"], into: outbox) }
        let root = folder.path("out")
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(root) == true
        }
        #expect(holdsOpen ? (1...64).contains(open.count) : open.isEmpty, "\(open.count)")
    }

    @Test func `a folder that was removed during a run is made again`() throws {
        let outbox = outbox(holdsOpen: true)
        try publish(["x/a.webp"], into: outbox)
        try FileManager.default.removeItem(atPath: folder.path("out"))
        try publish(["x/b.webp"], into: outbox)
        #expect(try folder.entries() == ["out", "out/x", "out/x/b.webp"])
    }

    @Test(arguments: [true, false])
    func `a link below the outbox is not followed, and the message names it`(holdsOpen: Bool) throws {
        try folder.write("", to: "out/sub/z")
        try folder.write("secret", to: "elsewhere/deep/a.webp")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("out/sub/link"), withDestinationPath: folder.path("elsewhere"))
        let outbox = outbox(holdsOpen: holdsOpen)
        for name in ["sub/link/a.webp", "sub/link/deep/a.webp"] {
            let error = #expect(throws: SystemError.self) { try publish([name], into: outbox) }
            #expect(error?.asOutputFailure.code == .outputNotWritable)
            #expect(
                error?.description
                    == "cannot write into '\(folder.path("out/sub/link"))': it is a link, and links inside of the output folder "
                    + "are not followed; put a folder or a mount in its place")
            #expect(throws: SystemError.self) { try outbox.status(BytePath(name)) }
            #expect(throws: SystemError.self) { try outbox.found(BytePath(name), recorded: nil) }
        }
        #expect(
            try folder.entries().filter { $0.hasPrefix("elsewhere") } == [
                "elsewhere", "elsewhere/deep", "elsewhere/deep/a.webp",
            ])
    }

    @Test func `the outbox itself may be a link: the user named it`() throws {
        try folder.write("", to: "real/z")
        try FileManager.default.createSymbolicLink(atPath: folder.path("out"), withDestinationPath: folder.path("real"))
        try publish(["x/a.webp"], into: outbox(holdsOpen: false))
        #expect(try folder.entries().contains("real/x/a.webp"))
    }

    @Test(arguments: [true, false])
    func `a file in the way of a folder is an error that names it; a name below it is free`(holdsOpen: Bool) throws {
        try folder.write("mine", to: "out/x")
        let outbox = outbox(holdsOpen: holdsOpen)
        let error = #expect(throws: SystemError.self) { try publish(["x/y/a.webp"], into: outbox) }
        #expect(error?.description == "cannot make the folder '\(folder.path("out/x"))': Not a directory")
        #expect(error?.asOutputFailure.code == .outputNotWritable)
        #expect(try outbox.status(BytePath("x/a.webp")) == nil)
    }

    @Test func `folders for what is the owner's alone are the owner's alone`() throws {
        let outbox = outbox(holdsOpen: true)
        let names = [
            RenditionName(path: BytePath("large/a.png"), isThumbnail: true), RenditionName(path: BytePath("b/c.png")),
        ]
        for file in try outbox.stage(names, newToken: { DurableFile.newToken }) { try file.publish() }
        #expect(try outbox.status(BytePath("large"))?.mode == 0o700)
        #expect(try outbox.status(BytePath("large/a.png"))?.mode == 0o600)
        #expect(try #require(try outbox.status(BytePath("b"))).mode & 0o055 == 0o055)
    }
}
