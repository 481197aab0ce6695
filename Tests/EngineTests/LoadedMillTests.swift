// A mill file's folders that can be seen only after it was loaded.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct LoadedMillTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("renditions: { web: { save: { format: webp } } }\n", to: "p.yaml")
        for name in ["b", "c", "out"] { try FileSystem.makeDirectories(BytePath(folder.path(name))) }
        try FileManager.default.createSymbolicLink(atPath: folder.path("a"), withDestinationPath: "c")
    }

    private func load() throws -> LoadedMill {
        let inboxes = ["a", "b"].map { "  - { path: \($0), outbox: out, pipeline: p.yaml }\n" }.joined()
        return try LoadedMill(
            path: folder.path("mill.yaml"), text: "state: state\ninboxes:\n" + inboxes, patience: .seconds(60)
        ) { _ in nil }
    }

    /// A mill of which the folders of the first inbox could not be seen.
    private func loadWithoutFirst() throws -> LoadedMill {
        var mill = try load()
        mill.inboxes[0].places = nil
        mill.layout.inboxes.removeFirst()
        return mill
    }

    @Test func `an inbox gets its places when its file systems answer, and with them the key of its outbox`() throws {
        var mill = try loadWithoutFirst()
        let first = mill.inboxes[0]
        #expect(first.outboxKey == BytePath(folder.path("out")))
        let placed = try mill.place(first, at: mill.look(at: first))
        #expect(placed?.outboxKey == BytePath("out") && mill.inboxes[0].places != nil)
    }

    @Test func `folders that turn out to be those of another inbox are refused, and stay without places`() throws {
        var mill = try loadWithoutFirst()
        try FileManager.default.removeItem(atPath: folder.path("a"))
        try FileManager.default.createSymbolicLink(atPath: folder.path("a"), withDestinationPath: "b")
        let first = mill.inboxes[0]
        let places = try mill.look(at: first)
        let error = #expect(throws: MillProblems.self) { _ = try mill.place(first, at: places) }
        let (a, b) = (folder.path("a"), folder.path("b"))
        #expect(
            error?.refusals.map { $0.replacing("'\(b)'", with: "B").replacing("'\(a)'", with: "A") } == [
                "inboxes 'b' and 'a': B and A are one folder"
            ])
        #expect(mill.inboxes[0].places == nil)
    }

    @Test func `an inbox that has other folders by now does not get the places of the ones before`() throws {
        var mill = try loadWithoutFirst()
        let second = mill.inboxes[1]
        let places = try mill.look(at: second)
        mill.inboxes.remove(at: 1)
        let placed = try mill.place(second, at: places)
        #expect(placed == nil)
    }

    @Test func `a reload takes over the places of folders that do not answer, if they are the same`() throws {
        var new = try loadWithoutFirst()
        try new.takePlaces(of: load())
        #expect(new.inboxes[0].places != nil && new.layout.inboxes.count == 2)
    }

    @Test(arguments: ["p.yaml", "mill.yaml"])
    func `a file that does not answer ends the reading in time, with a sentence that names it`(name: String) throws {
        try folder.write("inboxes: [ { path: a, outbox: out, pipeline: p.yaml } ]\n", to: "mill.yaml")
        let path = folder.path(name)
        try FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        // A pipe whose writer says nothing.
        let writer = open(path, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        let start = SuspendingClock.now
        let error = #expect(throws: SystemError.self) {
            try LoadedMill.reading(folder.path("mill.yaml"), withinSeconds: 1) { _ in "/nowhere" }
        }
        #expect(.now - start < .seconds(10))
        let what = name == "p.yaml" ? "the pipeline '\(path)' or its assets" : "the mill file '\(path)'"
        let reason = "the file system has not answered for 1 s; see to it, and try again"
        #expect(error?.description == "cannot read \(what): \(reason)" && error?.mayPass == true)
    }
}
