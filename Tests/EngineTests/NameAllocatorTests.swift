// The names that sources get: each its own, none those of another, and ten thousand of them quickly.
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

/// A record of names in memory that counts what it is asked.
private final class TestNames: NameStore {
    struct State {
        var owners: [BytePath: BytePath] = [:]
        var contents: [BytePath: [String]] = [:]
        var calls = 0
        var trouble: StoreError?
        /// Called before the next claim, once.
        var beforeClaim: (@Sendable (inout [BytePath: BytePath]) -> Void)?
    }

    let state = Mutex(State())

    func names(of source: BytePath, in outbox: BytePath) throws(StoreError) -> [BytePath] {
        if let trouble = state.withLock({ $0.trouble }) { throw trouble }
        return state.withLock { state in
            state.calls += 1
            return state.owners.filter { $0.value == source }.map(\.key)
        }
    }

    func owners(of names: [BytePath], in outbox: BytePath) throws(StoreError) -> [BytePath: OwnedName] {
        state.withLock { state in
            state.calls += 1
            return names.reduce(into: [:]) { owners, name in
                owners[name] = state.owners[name].map {
                    OwnedName(outbox: outbox, name: name, source: $0, contents: state.contents[name] ?? [])
                }
            }
        }
    }

    func record(_ names: [OwnedName], areNoted: Bool) throws(StoreError) {
        state.withLock { state in for name in names { state.contents[name.name] = name.contents } }
    }

    func claim(_ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath])
        throws(StoreError) -> Bool
    {
        state.withLock { state in
            state.calls += 1
            state.beforeClaim?(&state.owners)
            state.beforeClaim = nil
            guard
                names.allSatisfy({
                    state.owners[$0] == nil || state.owners[$0] == source || state.owners[$0] == seen[$0]
                })
            else { return false }
            for name in names { state.owners[name] = source }
            return true
        }
    }

    func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath) throws(StoreError) {
        state.withLock { state in
            state.calls += 1
            for name in names where state.owners[name] == source { state.owners[name] = nil }
        }
    }

    func ownedNames(after place: OwnedName?, limit: Int) throws(StoreError) -> [OwnedName] { [] }
}

@Suite struct NameAllocatorTests {
    private let folder: TemporaryFolder
    private let names = TestNames()
    private let outbox: Outbox

    init() throws {
        folder = try TemporaryFolder()
        outbox = Outbox(path: BytePath(folder.path("out")), of: .run, writer: "run")
        _ = try outbox.folder(BytePath([]))
    }

    private func allocator(
        _ policy: CollisionPolicy = .version, gone: Set<String> = [], sources: Set<String> = []
    ) -> NameAllocator {
        NameAllocator(
            store: names, outbox: BytePath("out"), folder: outbox, policy: policy, isGone: { gone.contains($0.text) },
            isSource: { sources.contains($0.text) })
    }

    private func path(_ stem: String, _ version: Int, _ ending: String) -> BytePath {
        BytePath(stem + (version == 1 ? "" : "-\(version)") + ending)
    }

    private func allocate(
        _ owner: String, _ allocator: NameAllocator, _ endings: [String] = [".webp"], isThumbnail: Bool = false
    ) throws
        -> Allocation
    {
        try allocator.allocate(for: BytePath(owner)) { version throws(PlanFailure) in
            endings.map { RenditionName(path: path("a", version, $0), isThumbnail: isThumbnail) }
        }
    }

    /// Puts files under the names of an allocation.
    /// - Parameters:
    ///   - writer: nil on a file system without attributes.
    ///   - isRecorded: whether the record knows what was written.
    private func publish(
        _ allocation: Allocation, of owner: String, by writer: String? = "run", isRecorded: Bool = true
    ) throws {
        for name in allocation.names {
            let file = try OpenFile.reading(BytePath(try folder.write("x", to: "out/" + name.path.text)))
            let content = try Digest.short(of: file)
            _ = Outbox(path: BytePath(folder.path("out")), of: .run, writer: writer).note(
                content, of: BytePath(owner), in: file)
            if isRecorded { names.state.withLock { $0.contents[name.path] = [content] } }
        }
    }

    private func replaced(_ allocation: Allocation) -> [String] { allocation.replaceable.keys.map(\.text).sorted() }

    private func text(_ allocation: Allocation) -> [String] { allocation.names.map(\.path.text) }

    @Test
    func `the first source has the plain name, the second one the next; both keep theirs, in whatever order they come`()
        throws
    {
        let allocator = allocator()
        for _ in 0..<2 {
            #expect(try text(allocate("x/a.jpg", allocator)) == ["a.webp"])
            #expect(try text(allocate("y/a.jpg", allocator)) == ["a-2.webp"])
        }
        #expect(try text(allocate("y/a.jpg", allocator)) == ["a-2.webp"])
        #expect(try text(allocate("z/a.jpg", allocator)) == ["a-3.webp"])
    }

    @Test func `a version other than the first is announced, each time, with who has the plain name`() throws {
        let allocator = allocator()
        #expect(try allocate("other/a.jpg", allocator).warning == nil)
        for _ in 0..<2 {
            let warning = try allocate("a.jpg", allocator).warning
            #expect(warning == Warning(.nameVersioned, "'a.webp' belongs to 'other/a.jpg'; this source is 'a-2.webp'"))
        }
        #expect(WarningCode.nameVersioned.rawValue == "name-versioned")
        let freed = try allocate("a.jpg", self.allocator(gone: ["other/a.jpg"]))
        #expect(freed.warning?.message == "'a.webp' belonged to another source before; this source is 'a-2.webp'")
    }

    @Test func `all renditions of a source, and its report, have one version`() throws {
        let allocator = allocator()
        try folder.write("mine", to: "out/a@2x.webp")
        let second = try allocate("a.jpg", allocator, [".webp", "@2x.webp"])
        #expect(text(second) == ["a-2.webp", "a-2@2x.webp"] && second.version == 2)
        #expect(
            second.warning?.message
                == "'a@2x.webp' is a file that Imagemill did not write; this source is 'a-2@2x.webp'")
        try folder.write("mine", to: "out/a-3.json")
        let third = try allocator.allocate(for: BytePath("b.jpg"), extra: { [path("a", $0, ".json")] }) {
            version throws(PlanFailure) in
            [RenditionName(path: path("a", version, ".webp"))]
        }
        #expect(third.version == 1)
        let fourth = try allocator.allocate(for: BytePath("c.jpg"), extra: { [path("a", $0, ".json")] }) {
            version throws(PlanFailure) in
            [RenditionName(path: path("a", version, ".webp"))]
        }
        #expect(fourth.version == 4)
        #expect(names.state.withLock { $0.owners[BytePath("a-4.json")] } == BytePath("c.jpg"))
    }

    @Test func `a source replaces its own files; a name at which nothing is yet is not one of them`() throws {
        let allocator = allocator()
        let first = try allocate("a.jpg", allocator)
        #expect(replaced(first) == [])
        // B12: the record says whose the name is, but what came there meanwhile would be somebody else's.
        #expect(try replaced(allocate("a.jpg", allocator)) == [])
        try publish(first, of: "a.jpg")
        #expect(try replaced(allocate("a.jpg", allocator)) == ["a.webp"])
    }

    @Test func `a name that turned out to be occupied is given back, and the next version is taken`() throws {
        let allocator = allocator()
        let first = try allocate("a.jpg", allocator)
        try folder.write("designer's", to: "out/a.webp")
        try allocator.release(first, of: BytePath("a.jpg"), occupied: BytePath("a.webp"))
        #expect(try text(allocate("a.jpg", allocator)) == ["a-2.webp"])
    }

    @Test func `a name whose owner is gone is free, and its file may be replaced`() throws {
        try publish(allocate("old.jpg", allocator()), of: "old.jpg")
        let allocation = try allocate("a.jpg", allocator(gone: ["old.jpg"]))
        #expect(text(allocation) == ["a.webp"] && replaced(allocation) == ["a.webp"])
        #expect(try text(allocate("old.jpg", allocator())) == ["a-2.webp"])
    }

    @Test(.enabled(if: TestMachine.hasAttributes, "files have no extended attributes here"))
    func `if the record is lost, a file says itself whose it is`() throws {
        try publish(allocate("a.jpg", allocator()), of: "a.jpg")
        names.state.withLock { $0.owners = [:] }
        let other = try allocate("b.jpg", allocator())
        #expect(text(other) == ["a-2.webp"])
        #expect(other.warning?.message == "'a.webp' belongs to 'a.jpg'; this source is 'a-2.webp'")
        let own = try allocate("a.jpg", allocator())
        #expect(text(own) == ["a.webp"] && replaced(own) == ["a.webp"])
        names.state.withLock { $0.owners = [:] }
        #expect(try text(allocate("c.jpg", allocator(gone: ["a.jpg"]))) == ["a.webp"])
    }

    /// Whatever the record says.
    @Test(
        .enabled(if: TestMachine.hasAttributes, "files have no extended attributes here"),
        arguments: [true, false])
    func `a file that another writer has put under a name is theirs`(isRecorded: Bool) throws {
        let first = try allocate("a.jpg", allocator())
        if !isRecorded { names.state.withLock { $0.owners = [:] } }
        try publish(first, of: "a.jpg", by: "other", isRecorded: isRecorded)
        let second = try allocate("a.jpg", allocator())
        #expect(text(second) == ["a-2.webp"] && replaced(second) == [])
        #expect(
            second.warning?.message
                == "'a.webp' is a file of another drop folder, or of imagemill run; this source is 'a-2.webp'")
        let failure = #expect(throws: Failure.self) { try allocate("a.jpg", allocator(.fail)) }
        #expect(failure?.message == "there is a file of another drop folder, or of imagemill run, at 'a.webp'")
        #expect(try text(allocate("a.jpg", allocator(.overwrite))) == ["a.webp"])
    }

    @Test(.enabled(if: TestMachine.hasAttributes, "files have no extended attributes here"))
    func `a file that was changed since it was written is not replaced, though it says whose it is`() throws {
        try publish(allocate("a.jpg", allocator()), of: "a.jpg")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path("out/a.webp")))
        try file.write(contentsOf: Array("y".utf8))
        try file.close()
        let second = try allocate("a.jpg", allocator())
        #expect(text(second) == ["a-2.webp"])
        #expect(second.warning?.message == "'a.webp' was changed by another program; this source is 'a-2.webp'")
        let failure = #expect(throws: Failure.self) { try allocate("a.jpg", allocator(.fail)) }
        #expect(failure?.message == "another program has changed the file 'a.webp'")
    }

    @Test(arguments: ["run", nil])
    func `an empty file that a loss of power has left of the source's own is replaced`(writer: String?) throws {
        try publish(allocate("a.jpg", allocator()), of: "a.jpg", by: writer)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path("out/a.webp")))
        try file.truncate(atOffset: 0)
        try file.close()
        #expect(try replaced(allocate("a.jpg", allocator())) == ["a.webp"])
        try folder.write("", to: "out/b.webp")
        let other = try allocator().allocate(for: BytePath("b.jpg")) { version throws(PlanFailure) in
            [RenditionName(path: path("b", version, ".webp"))]
        }
        #expect(text(other) == ["b-2.webp"], "somebody has put it there")
    }

    @Test func `without attributes a file is the source's own only if its bytes are in the record`() throws {
        let first = try allocate("a.jpg", allocator())
        try publish(first, of: "a.jpg", by: nil)
        #expect(try replaced(allocate("a.jpg", allocator())) == ["a.webp"])
        for contents in [[], ["something else"]] {
            names.state.withLock { $0.contents[BytePath("a.webp")] = contents }
            let second = try allocate("a.jpg", allocator())
            #expect(text(second) == ["a-2.webp"])
            #expect(
                second.warning?.message
                    == "'a.webp' is a file that Imagemill did not write; this source is 'a-2.webp'")
            names.state.withLock { $0.owners[BytePath("a-2.webp")] = nil }
        }
    }

    @Test func `a file that knows its source by another name is its own if the record knows the bytes`() throws {
        try publish(allocate("new/a.jpg", allocator()), of: "old/a.jpg")
        let allocation = try allocate("new/a.jpg", allocator())
        #expect(text(allocation) == ["a.webp"] && replaced(allocation) == ["a.webp"])
    }

    @Test
    func `foreign files are never in the way of 'overwrite', never replaced with 'version', and a failure with 'fail'`()
        throws
    {
        try folder.write("mine", to: "out/a.webp")
        #expect(try text(allocate("a.jpg", allocator())) == ["a-2.webp"])
        let failure = #expect(throws: Failure.self) { try allocate("b.jpg", allocator(.fail)) }
        #expect(failure?.code == .nameTaken && failure?.stage == "publish")
        #expect(failure?.message == "there is a file that Imagemill did not write at 'a.webp'")
        let won = try allocate("c.jpg", allocator(.overwrite))
        #expect(text(won) == ["a.webp"])
        try publish(won, of: "c.jpg")
        let taken = #expect(throws: Failure.self) { try allocate("b.jpg", allocator(.fail)) }
        #expect(taken?.message == "the name 'a.webp' belongs to 'c.jpg'")
        #expect(try text(allocate("c.jpg", allocator(.fail))) == ["a.webp"])
    }

    @Test func `with 'overwrite' the loser is named; a source of this run is never replaced`() throws {
        try publish(allocate("a.jpg", allocator()), of: "a.jpg")
        let allocation = try allocate("b.jpg", allocator(.overwrite))
        #expect(text(allocation) == ["a.webp"] && allocation.losers == [BytePath("a.jpg")])
        #expect(
            allocation.warning
                == Warning(.nameOverwritten, "'a.webp' belonged to 'a.jpg', whose rendition was replaced"))
        #expect(try allocate("b.jpg", allocator(.overwrite)).warning == nil)
        #expect(names.state.withLock { $0.owners[BytePath("a.webp")] } == BytePath("b.jpg"))
        let careful = try allocate("c.jpg", allocator(.overwrite, sources: ["a.webp"]))
        #expect(text(careful) == ["a-2.webp"])
        #expect(careful.warning?.message == "'a.webp' is a source of this run; this source is 'a-2.webp'")
    }

    @Test func `a thumbnail is that of one file, so whatever is at its name is an older one`() throws {
        try folder.write("old", to: "out/a.png")
        let allocation = try allocate("a.jpg", allocator(), [".png"], isThumbnail: true)
        #expect(text(allocation) == ["a.png"] && replaced(allocation) == ["a.png"])
    }

    @Test func `whoever is too late at the record takes the next version`() throws {
        names.state.withLock { $0.beforeClaim = { $0[BytePath("a.webp")] = BytePath("quick.jpg") } }
        #expect(try text(allocate("slow.jpg", allocator())) == ["a-2.webp"])
    }

    @Test func `sources on many threads get a name each`() async throws {
        let all = await withTaskGroup(of: [String].self) { group in
            for thread in 0..<8 {
                group.addTask {
                    (0..<25).flatMap { index in (try? text(allocate("\(thread)/\(index).jpg", allocator()))) ?? [] }
                }
            }
            return await group.reduce([], +)
        }
        #expect(all.count == 200 && Set(all).count == 200)
    }

    @Test func `ten thousand sources that want one name ask the record some forty-five times each at most`() throws {
        let allocator = allocator()
        // As if so many had come: the record is asked, the disk has nothing.
        names.state.withLock { state in
            for version in 1...9_999 { state.owners[path("a", version, ".webp")] = BytePath("\(version)/a.jpg") }
            state.calls = 0
        }
        let allocation = try allocate("10000/a.jpg", allocator)
        #expect(text(allocation) == ["a-10000.webp"])
        #expect(names.state.withLock { $0.calls } <= 45, "\(names.state.withLock { $0.calls })")
        names.state.withLock { $0.calls = 0 }
        #expect(try text(allocate("5000/a.jpg", allocator)) == ["a-5000.webp"])
        #expect(names.state.withLock { $0.calls } <= 3)
    }

    @Test func `trouble with the record is no failure of the source`() throws {
        let trouble = StoreError(.locked, "another program holds it")
        names.state.withLock { $0.trouble = trouble }
        #expect(throws: trouble) { try allocate("x/a.jpg", allocator()) }
    }

    @Test func `a name that cannot be made is a failure of its source`() throws {
        let failure = #expect(throws: Failure.self) {
            try allocator().allocate(for: BytePath("a.jpg")) { _ throws(PlanFailure) in
                throw PlanFailure(.nameInvalid, stage: "publish", "no name")
            }
        }
        #expect(failure?.code == .nameInvalid)
    }
}
