// A rendition is nowhere to be seen until it is published.
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine

@Suite struct StagedFileTests {
    private func stage(_ folder: TemporaryFolder, _ name: String = "a.webp", unnamed: Bool) throws -> StagedFile {
        let file = try StagedFile(for: BytePath(folder.path(name)), token: "t", allowsUnnamed: unnamed)
        #expect(write(file.file.descriptor, "new", 3) == 3)
        return file
    }

    @Test("Nobody sees the file under its name before it is published; then it is complete", arguments: [true, false])
    func publish(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: unnamed)
        #expect(try folder.entries() == (unnamed ? [] : [".imagemill-t.part"]))
        try file.makeReady()
        #expect(try folder.entries() == [".imagemill-t.part"])
        try file.publish()
        #expect(try folder.entries() == ["a.webp"])
        #expect(try folder.text("a.webp") == "new")
    }

    @Test("A file that is not published leaves nothing behind", arguments: [true, false], [true, false])
    func dropped(unnamed: Bool, ready: Bool) throws {
        let folder = try TemporaryFolder()
        do {
            let file = try stage(folder, unnamed: unnamed)
            if ready { try file.makeReady() }
        }
        #expect(try folder.entries() == [])
    }

    @Test("It takes the place of what stands there, in one step", arguments: [true, false])
    func replaces(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.write("old", to: "a.webp")
        let old = open(folder.path("a.webp"), O_RDONLY)
        defer { close(old) }
        let file = try stage(folder, unnamed: unnamed)
        #expect(try folder.text("a.webp") == "old")
        try file.publish()
        #expect(try folder.text("a.webp") == "new")
        // Who has the old file open still reads the old bytes.
        var bytes = [UInt8](repeating: 0, count: 3)
        #expect(read(old, &bytes, 3) == 3 && bytes == Array("old".utf8))
    }

    @Test("Folders above it are made; its permissions are those of any new file", arguments: [true, false])
    func folders(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        try stage(folder, "x/y/a.webp", unnamed: unnamed).publish()
        #expect(try folder.entries() == ["x", "x/y", "x/y/a.webp"])
        var status = stat()
        #expect(stat(folder.path("x/y/a.webp"), &status) == 0)
        let mask = umask(0)
        umask(mask)
        #expect(status.st_mode & 0o777 == 0o666 & ~mask)
    }

    @Test("A file in the way of a folder is an error that names it")
    func fileInTheWay() throws {
        let folder = try TemporaryFolder()
        try folder.write("mine", to: "x")
        let error = #expect(throws: SystemError.self) { try stage(folder, "x/a.webp", unnamed: true) }
        #expect(error?.description == "cannot make the folder '\(folder.path("x"))': Not a directory")
        #expect(error?.asOutputFailure.code == .outputNotWritable)
    }
}
