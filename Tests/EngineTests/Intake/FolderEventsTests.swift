// The kernel's events: their bytes, and those of real folders.
import Foundation
import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct FolderEventsTests {
    private func bytes(_ watch: Int32, _ mask: UInt32, _ name: [UInt8], padded: Int) -> [UInt8] {
        var event: [UInt8] = []
        for number in [UInt32(bitPattern: watch), mask, 0, UInt32(padded)] {
            event += withUnsafeBytes(of: number.littleEndian, Array.init)
        }
        return event + name + [UInt8](repeating: 0, count: padded - name.count)
    }

    @Test func `events are read one after the other, and half an event is left out`() {
        let name: [UInt8] = [0xFF, 0x0A, 0x61]
        let all = bytes(1, UInt32(IN_CREATE), name, padded: 16) + bytes(2, UInt32(IN_DELETE_SELF), [], padded: 0)
        let events = (all + all.prefix(20)).withUnsafeBytes { InotifyEvent.parse($0) }
        #expect(events.map(\.watch) == [1, 2])
        #expect(events[0].name == name && events[0].has(Int(IN_CREATE)) && events[1].name.isEmpty)
        for count in 0..<all.count {
            _ = all.prefix(count).withUnsafeBytes { InotifyEvent.parse(UnsafeRawBufferPointer(rebasing: $0[...])) }
        }
    }

    private func watched(_ folder: TemporaryFolder) throws -> FolderEvents {
        let events = try FolderEvents()
        try events.watch(Directory(BytePath(folder.path)), as: BytePath([]))
        return events
    }

    @Test func `the steps of a writer become events of the inbox`() throws {
        let folder = try TemporaryFolder()
        let events = try watched(folder)
        let file = open(folder.path("a"), O_WRONLY | O_CREAT, 0o600)
        _ = write(file, "x", 1)
        let a = BytePath("a")
        #expect(events.read() == [.file(.appeared, a), .file(.written, a)])
        close(file)
        #expect(events.read() == [.file(.finished, a)])
        #expect(
            chmod(folder.path("a"), 0o644) == 0 && rename(folder.path("a"), folder.path("b")) == 0
                && unlink(folder.path("b")) == 0)
        #expect(
            events.read() == [
                .file(.touched, a), .file(.vanished, a), .file(.finished, BytePath("b")),
                .file(.vanished, BytePath("b")),
            ])
        #expect(events.read() == [])
    }

    @Test func `folders have events when they come and go, and their files have once the folder is watched`() throws {
        let folder = try TemporaryFolder()
        let events = try watched(folder)
        try folder.write("x", to: "sub/early")
        #expect(events.read() == [.folderAppeared(BytePath("sub"))])
        try events.watch(Directory(BytePath(folder.path("sub"))), as: BytePath("sub"))
        try FileManager.default.removeItem(atPath: folder.path("sub/early"))
        #expect(events.read() == [.file(.vanished, BytePath("sub/early"))])
        #expect(rename(folder.path("sub"), folder.path("other")) == 0)
        #expect(events.read() == [.folderVanished(BytePath("sub")), .folderAppeared(BytePath("other"))])
        events.forget(BytePath("sub"))
        #expect(events.count == 1)
        try folder.write("x", to: "other/late")
        #expect(events.read() == [])
    }

    @Test func `the removal of the inbox is an event`() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "in/a")
        let events = try FolderEvents()
        try events.watch(Directory(BytePath(folder.path("in"))), as: BytePath([]))
        try FileManager.default.removeItem(atPath: folder.path("in"))
        #expect(events.read().last == .rootGone)
    }

    @Test func `a folder that was removed before it could be watched is no trouble`() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "in/a")
        let directory = try Directory(BytePath(folder.path("in")))
        try FileManager.default.removeItem(atPath: folder.path("in"))
        let events = try FolderEvents()
        try events.watch(directory, as: BytePath([]))
        _ = events.read()
        #expect(events.count <= 1)
    }

    @Test func `network file systems are known by their numbers, and local ones are not among them`() {
        #expect(RemoteFileSystem.name(ofType: 0x6969) == "NFS" && RemoteFileSystem.name(ofType: 0x6573_5546) == "FUSE")
        #expect(
            RemoteFileSystem.name(ofType: 0xFE53_4D42) == "SMB2" && RemoteFileSystem.name(ofType: 0x0102_1997) == "9p")
        // ext4, XFS, btrfs, tmpfs, overlay.
        for local: UInt32 in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630] {
            #expect(RemoteFileSystem.name(ofType: local) == nil)
        }
    }

    @Test func `a limit of the system is named with the setting to raise`() {
        #expect(FolderEvents.Shortage.watches.advice.contains("fs.inotify.max_user_watches"))
        #expect(FolderEvents.Shortage.instances.advice.contains("fs.inotify.max_user_instances"))
    }
}
