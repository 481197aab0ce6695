// The folders that must not be inside each other: first with made-up places, then with real ones.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct FolderPlaceTests {
    /// A folder whose ancestors are the numbers, the nearest first.
    private func place(_ path: String, _ inodes: [UInt64], missing: String = "") -> FolderPlace {
        FolderPlace(
            path: BytePath(path), ancestors: inodes.map { FileIdentity(device: 1, inode: $0) },
            missing: BytePath(missing), place: nil)
    }

    private func layout(_ inboxes: [(String, FolderPlace, FolderPlace)], state: FolderPlace? = nil) -> MillLayout {
        MillLayout(
            state: state ?? place("/state", [90, 1]), shelves: [place("/state/done", [90, 1], missing: "done")],
            inboxes: inboxes.map { .init(name: $0.0, inbox: $0.1, outbox: $0.2) })
    }

    @Test func `folders that are apart are not refused`() {
        let mill = layout([
            ("a", place("/in/a", [3, 2, 1]), place("/out", [5, 1])),
            ("b", place("/in/b", [4, 2, 1]), place("/out", [5, 1])),
        ])
        #expect(mill.refusals.map(\.sentence) == [])
    }

    @Test
    func `an outbox in an inbox, an inbox in an outbox, and one that is both are refused, each with its sentence`() {
        #expect(
            layout([("a", place("/in", [2, 1]), place("/in/out", [3, 2, 1]))]).refusals.map(\.sentence) == [
                "inbox 'a': the outbox '/in/out' is inside of the inbox '/in', so that renditions would come in again"
            ])
        #expect(
            layout([("a", place("/out/in", [3, 2, 1]), place("/out", [2, 1]))]).refusals.map(\.sentence) == [
                "inbox 'a': the inbox '/out/in' is inside of the outbox '/out'; keep them apart"
            ])
        #expect(
            layout([("a", place("/in", [2, 1]), place("/link", [2, 1]))]).refusals.map(\.sentence) == [
                "inbox 'a': '/in' is the outbox too; choose another folder for the renditions"
            ])
    }

    @Test func `the outbox of one inbox may not be in another inbox`() {
        let mill = layout([
            ("a", place("/a", [2, 1]), place("/b/out", [4, 3, 1])), ("b", place("/b", [3, 1]), place("/out", [5, 1])),
        ])
        #expect(
            mill.refusals.map(\.sentence) == [
                "inbox 'b': the outbox of 'a' '/b/out' is inside of the inbox '/b', so that renditions would come in again"
            ])
    }

    @Test func `two inboxes that are nested or one folder are refused`() {
        let out = place("/out", [9, 1])
        #expect(
            layout([("a", place("/in", [2, 1]), out), ("b", place("/in/sub", [3, 2, 1]), out)]).refusals.map(\.sentence)
                == [
                    "inboxes 'a' and 'b': '/in/sub' is inside of '/in'"
                ])
        #expect(
            layout([("a", place("/in", [2, 1]), out), ("b", place("/bind", [2, 7, 1]), out)]).refusals.map(\.sentence)
                == [
                    "inboxes 'a' and 'b': '/in' and '/bind' are one folder"
                ])
    }

    @Test func `a state folder in an inbox or outbox is refused, and folders among our own shelves are`() {
        let mill = layout([("a", place("/in", [2, 1]), place("/out", [3, 1]))], state: place("/in/state", [4, 2, 1]))
        #expect(
            mill.refusals.map(\.sentence) == [
                "inbox 'a': the state folder '/in/state' is inside of the inbox '/in'; keep them apart"
            ])
        let other = layout([("a", place("/in", [2, 1]), place("/out", [3, 1]))], state: place("/out", [3, 1]))
        #expect(
            other.refusals.map(\.sentence) == [
                "inbox 'a': the state folder '/out' is inside of the outbox '/out'; keep them apart"
            ])
        let shelf = layout([("a", place("/in", [2, 1]), place("/state/done/x", [90, 1], missing: "done/x"))])
        #expect(
            shelf.refusals.map(\.sentence) == [
                "inbox 'a': the outbox '/state/done/x' is inside of '/state/done', where Imagemill keeps sources; choose another folder"
            ])
        #expect(
            layout([("a", place("/state/in", [91, 90, 1]), place("/state/out", [92, 90, 1]))]).refusals.map(\.sentence)
                == [])
    }

    @Test func `what is not there yet is compared by its names below what is`() {
        let inbox = place("/mnt/in", [2, 1], missing: "in")
        #expect(place("/mnt/in/out", [2, 1], missing: "in/out").isAtOrBelow(inbox))
        #expect(!place("/mnt/inner", [2, 1], missing: "inner").isAtOrBelow(inbox))
        #expect(!place("/mnt", [2, 1]).isAtOrBelow(inbox))
        #expect(inbox.isAtOrBelow(place("/mnt", [2, 1])))
    }

    @Test func `a bind mount of a sub-folder is seen through by the place in the file system`() {
        let table = MountTable(
            Array(
                """
                21 1 254:0 / / rw - ext4 /dev/vda rw
                40 21 254:0 /srv/drop/sub /mnt/my\\040bind rw - ext4 /dev/vda rw
                41 21 0:33 / /mnt/share rw - tmpfs none rw
                """.utf8))
        let bound = table.place(of: BytePath("/mnt/my bind/x"), onMount: 40)
        #expect(bound == FileSystemPlace(device: "254:0", path: BytePath("/srv/drop/sub/x")))
        let drop = table.place(of: BytePath("/srv/drop"), onMount: 21)
        #expect(drop == FileSystemPlace(device: "254:0", path: BytePath("/srv/drop")))
        #expect(bound!.isAtOrBelow(drop!) && !drop!.isAtOrBelow(bound!))
        #expect(
            table.place(of: BytePath("/mnt/share"), onMount: 41) == FileSystemPlace(device: "0:33", path: BytePath("/"))
        )
        #expect(table.place(of: BytePath("/x"), onMount: 99) == nil)
    }

    @Test func `real folders are recognised through links, and before they are made`() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "in/sub/file")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "in")
        func look(_ name: String) throws -> FolderPlace {
            try FolderPlace.looking(BytePath(folder.path(name)), .current)
        }
        let inbox = try look("in")
        #expect(try look("link").isAtOrBelow(inbox) && inbox.isAtOrBelow(try look("link")))
        #expect(try look("link/sub").isAtOrBelow(inbox))
        #expect(try look("link/not/yet").isAtOrBelow(inbox))
        #expect(try !look("inner").isAtOrBelow(inbox) && !look("out").isAtOrBelow(inbox))
        #expect(try look("in/sub/file").isNoFolder && !inbox.isNoFolder)
        #expect(try look("new/in/out").isAtOrBelow(look("new/in")))
    }
}
