// A rendition is nowhere to be seen until it is published.
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import System

@Suite struct StagedFileTests {
    private func stage(_ folder: TemporaryFolder, _ name: String = "a.webp", unnamed: Bool) throws -> StagedFile {
        let file = try StagedFile(
            in: Directory(BytePath(folder.path)), destination: BytePath(name), token: "t", allowsUnnamed: unnamed)
        #expect(write(file.file.descriptor, "new", 3) == 3)
        return file
    }

    @Test(arguments: [true, false])
    func `nobody sees the file under its name before it is published; then it is complete`(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: unnamed)
        #expect(try folder.entries() == (unnamed ? [] : [".imagemill-t.part"]))
        try file.makeReady()
        #expect(try folder.entries() == [".imagemill-t.part"])
        try file.publish()
        #expect(try folder.entries() == ["a.webp"])
        #expect(try folder.text("a.webp") == "new")
    }

    @Test(arguments: [true, false], [true, false])
    func `a file that is not published leaves nothing behind`(unnamed: Bool, ready: Bool) throws {
        let folder = try TemporaryFolder()
        do {
            let file = try stage(folder, unnamed: unnamed)
            if ready { try file.makeReady() }
        }
        #expect(try folder.entries() == [])
    }

    @Test(.enabled(if: TestMachine.canForbidRemoval, "no file can be made immutable here"))
    func `what a folder does not let go of is removed as soon as it does`() async throws {
        let folder = try TemporaryFolder()
        let name = ".imagemill-t.part"
        // Root is not held up by permissions, but by this.
        let (spoil, fix) =
            TestMachine.isRoot
            ? ("chattr +i '\(folder.path)/\(name)'", "chattr -i '\(folder.path)/\(name)'")
            : ("chmod 555 '\(folder.path)'", "chmod 755 '\(folder.path)'")
        var file: StagedFile? = try stage(folder, unnamed: false)
        #expect(file != nil)
        try #require(try await CommandRunner().shell(spoil).exit == 0)
        file = nil
        Leftovers.removeAll()
        #expect(try folder.entries() == [name])
        try #require(try await CommandRunner().shell(fix).exit == 0)
        Leftovers.removeAll()
        #expect(try folder.entries() == [])
    }

    @Test(.enabled(if: TestMachine.canForbidRemoval, "no file can be made immutable here"), arguments: [true, false])
    func `what was put aside gets its name again as soon as that is possible, unless something else has it`(
        isTaken: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        try folder.write("old", to: ".imagemill-t.old")
        let (spoil, fix) =
            TestMachine.isRoot
            ? ("chattr +i '\(folder.path)/.imagemill-t.old'", "chattr -i '\(folder.path)/.imagemill-t.old'")
            : ("chmod 555 '\(folder.path)'", "chmod 755 '\(folder.path)'")
        try #require(try await CommandRunner().shell(spoil).exit == 0)
        Leftovers.putBack(
            BytePath(".imagemill-t.old"), as: BytePath("a.webp"), in: try Directory(BytePath(folder.path)))
        #expect(try folder.entries() == [".imagemill-t.old"])
        try #require(try await CommandRunner().shell(fix).exit == 0)
        if isTaken { try folder.write("new", to: "a.webp") }
        Leftovers.removeAll()
        #expect(try folder.entries() == ["a.webp"] && folder.text("a.webp") == (isTaken ? "new" : "old"))
        // A file that is not there was never put aside.
        Leftovers.putBack(
            BytePath(".imagemill-u.old"), as: BytePath("b.webp"), in: try Directory(BytePath(folder.path)))
        #expect(try folder.entries() == ["a.webp"])
    }

    @Test(arguments: [true, false])
    func `a file that only tries the folder leaves nothing behind even if it is never let go`(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: unnamed)
        file.removeName()
        #expect(try folder.entries() == [])
        #expect(write(file.file.descriptor, "more", 4) == 4)
    }

    @Test(arguments: [true, false])
    func `it takes the place of what is there, in one step`(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.write("old", to: "a.webp")
        let old = open(folder.path("a.webp"), O_RDONLY)
        defer { close(old) }
        let file = try stage(folder, unnamed: unnamed)
        #expect(try folder.text("a.webp") == "old")
        try file.publish()
        #expect(try folder.text("a.webp") == "new")
        // A process that has the old file open still reads the old bytes.
        var bytes = [UInt8](repeating: 0, count: 3)
        #expect(read(old, &bytes, 3) == 3 && bytes == Array("old".utf8))
    }

    @Test(arguments: [true, false])
    func `its permissions are those of any new file`(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        try stage(folder, unnamed: unnamed).publish()
        var status = stat()
        #expect(stat(folder.path("a.webp"), &status) == 0)
        let mask = umask(0)
        umask(mask)
        #expect(status.st_mode & 0o777 == 0o666 & ~mask)
    }

    @Test(arguments: [true, false], [true, false])
    func `as a new file it replaces nothing, and can be published under another name then`(unnamed: Bool, ready: Bool)
        throws
    {
        let folder = try TemporaryFolder()
        try folder.write("designer's", to: "a.webp")
        let file = try stage(folder, unnamed: unnamed)
        if ready { try file.makeReady() }
        let error = #expect(throws: SystemError.self) { try file.publishNew() }
        #expect(error?.code == EEXIST && error?.description == "cannot put 'a.webp' in place: File exists")
        #expect(try folder.text("a.webp") == "designer's")
        file.redirect(to: BytePath("a-2.webp"), in: file.folder)
        try file.publishNew()
        #expect(try folder.entries() == ["a-2.webp", "a.webp"])
        #expect(try folder.text("a-2.webp") == "new")
    }

    @Test(arguments: [true, false], [true, false])
    func `a published file can be taken back and published again`(unnamed: Bool, replaces: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: unnamed)
        if replaces {
            try folder.write("old", to: "a.webp")
            try file.folder.link(BytePath("a.webp"), to: file.folder, as: BytePath(".kept"))
            try file.publish()
        } else {
            try file.publishNew()
        }
        #expect(file.isInPlace)
        try file.withdraw(restoring: replaces ? BytePath(".kept") : nil)
        #expect(!file.isInPlace)
        #expect(try folder.entries() == [".imagemill-t.part"] + (replaces ? ["a.webp"] : []))
        if replaces { #expect(try folder.text("a.webp") == "old") }
        try file.publish()
        #expect(try folder.entries() == ["a.webp"] && folder.text("a.webp") == "new")
    }

    @Test func `a folder that cannot be written to is an error that names the file`() throws {
        // Nobody, root included, writes in here.
        let error = #expect(throws: SystemError.self) {
            try StagedFile(in: Directory(BytePath("/proc/self")), destination: BytePath("x/a.webp"), token: "t")
        }
        #expect(error?.description.hasPrefix("cannot write 'x/a.webp': ") == true)
        #expect(error?.asOutputFailure.code == .outputNotWritable)
    }

    @Test(arguments: [true, false])
    func `a sealed file cannot be written to any more, and is published as ever`(unnamed: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: unnamed)
        let inode = try file.file.status().identity.inode
        #expect(try file.seal())
        #expect(try file.file.status().identity.inode == inode, "nothing was copied")
        #expect(write(file.file.descriptor, "x", 1) == -1)
        try file.sync()
        try file.publish()
        #expect(try folder.text("a.webp") == "new")
    }

    @Test(arguments: [true, false])
    func `a file that somebody can still write to is not sealed, however he has it open`(unnamed: Bool) throws {
        let passedOn = try stage(TemporaryFolder(), unnamed: unnamed)
        let duplicate = dup(passedOn.file.descriptor)
        #expect(try !passedOn.seal())
        close(duplicate)
        #expect(try passedOn.seal())

        let mapped = try stage(TemporaryFolder(), unnamed: unnamed)
        let memory = mmap(nil, 3, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.file.descriptor, 0)
        #expect(try !mapped.seal())
        munmap(memory, 3)
        #expect(try mapped.seal())
    }

    @Test
    func `a writer that is gone in a moment is waited for: a process that is being started has everything open`() throws
    {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: true)
        let duplicate = dup(file.file.descriptor)
        runOnNewThread {
            usleep(100_000)
            close(duplicate)
        }
        #expect(try file.seal())
    }

    @Test(arguments: [true, false], [true, false])
    func `without leases the content moves to a file that nobody had`(unnamed: Bool, ready: Bool) throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: unnamed)
        let writer = dup(file.file.descriptor)
        defer { close(writer) }
        if ready { try file.makeReady() }
        #expect(try file.seal { _ in nil })
        #expect(pwrite(writer, "evil", 4, 0) == 4)
        try file.publish()
        #expect(try folder.text("a.webp") == "new")
        #expect(try folder.entries() == ["a.webp"])
    }

    @Test(arguments: [true, false], [true, false])
    func `a file that is renewed is empty, and who still writes into the one before changes nothing`(
        unnamed: Bool, ready: Bool
    ) throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: unnamed)
        let before = file.file
        if ready { try file.makeReady() }
        try file.renew()
        #expect(write(file.file.descriptor, "right", 5) == 5)
        #expect(pwrite(before.descriptor, "evil evil", 9, 0) == 9)
        try file.publish()
        #expect(try folder.text("a.webp") == "right")
        #expect(try folder.entries() == ["a.webp"])
    }

    @Test func `a file that an earlier, unanswered call has made under the temporary name is replaced`() throws {
        let folder = try TemporaryFolder()
        try folder.write("something longer", to: ".imagemill-t.part")
        let file = try stage(folder, unnamed: false)
        try file.publish()
        #expect(try folder.entries() == ["a.webp"] && folder.text("a.webp") == "new")
    }

    @Test func `a refused lease says nothing on a network file system: its server may give none, whoever writes`() {
        let (ext4, nfs, fuse, cifs): (UInt32, UInt32, UInt32, UInt32) = (0xEF53, 0x6969, 0x6573_5546, 0xFF53_4D42)
        for type in [ext4, nfs, fuse, cifs] {
            #expect(OpenFile.hasWriter(lease: 1, fileSystem: type) == false)
            #expect(OpenFile.hasWriter(lease: -1, fileSystem: type) == nil)
        }
        #expect([ext4, fuse].allSatisfy { OpenFile.hasWriter(lease: 0, fileSystem: $0) == true })
        #expect([nfs, cifs].allSatisfy { OpenFile.hasWriter(lease: 0, fileSystem: $0) == nil })
    }

    @Test func `what keeps a file from growing is found out with a block, which is taken back`() throws {
        let folder = try TemporaryFolder()
        let file = try stage(folder, unnamed: true)
        #expect(file.troubleGrowing(to: 1 << 20) == nil)
        #expect(try file.file.status().bytes == 3)
        #expect(file.troubleGrowing(to: 3)?.asOutputFailure.code == .outputTooLarge)
    }
}
