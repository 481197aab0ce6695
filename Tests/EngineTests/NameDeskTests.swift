// Names are given in the order of the sources, whatever the order in which workers ask.
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct NameDeskTests {
    private func desk(_ folder: TemporaryFolder, _ policy: CollisionPolicy = .version, dry: Bool = false) throws -> NameDesk {
        try NameDesk(outbox: BytePath(folder.path), policy: policy, sources: [], isDryRun: dry)
    }

    /// Claims `a.webp` or a version of it.
    private func claim(_ desk: NameDesk, _ order: Int, _ source: String) async throws -> String {
        try await onNewThread {
            let names = try desk.claim(order: order, source: BytePath(source)) { version throws(PlanFailure) in
                [RenditionName(path: BytePath(version == 1 ? "a.webp" : "a-\(version).webp"), isShortened: false)]
            }
            return names[0].path.text
        }
    }

    @Test("The first source in order gets the plain name, even where it asks last")
    func turns() async throws {
        let folder = try TemporaryFolder()
        let desk = try desk(folder)
        async let third = claim(desk, 2, "/in/c")
        async let second = claim(desk, 1, "/in/b")
        try await Task.sleep(for: .milliseconds(50))
        async let first = claim(desk, 0, "/in/a")
        #expect(try await [first, second, third] == ["a.webp", "a-2.webp", "a-3.webp"])
    }

    @Test("A source that will not ask lets the next one go on, at its turn and before it")
    func pass() async throws {
        let folder = try TemporaryFolder()
        let desk = try desk(folder)
        desk.pass(order: 2)
        desk.pass(order: 1)
        async let last = claim(desk, 3, "/in/d")
        try await Task.sleep(for: .milliseconds(50))
        desk.pass(order: 0)
        #expect(try await last == "a.webp")
    }

    @Test("A source whose names cannot be used has used up its turn")
    func failing() async throws {
        let folder = try TemporaryFolder()
        let desk = try desk(folder)
        await #expect(throws: Failure.self) {
            try await desk.claim(order: 0, source: BytePath("/in/a")) { _ throws(PlanFailure) in
                throw PlanFailure(.nameInvalid, stage: "publish", "no name")
            }
        }
        desk.pass(order: 0)
        #expect(try await claim(desk, 1, "/in/b") == "a.webp")
    }

    @Test("Names stay with their sources over runs, also where the sources come in another order")
    func persistent() async throws {
        let folder = try TemporaryFolder()
        let first = try desk(folder)
        #expect(try await [claim(first, 0, "/in/a"), claim(first, 1, "/in/b")] == ["a.webp", "a-2.webp"])
        let second = try desk(folder)
        #expect(
            try await [claim(second, 0, "/in/b"), claim(second, 1, "/in/c"), claim(second, 2, "/in/a")] == [
                "a-2.webp", "a-3.webp", "a.webp",
            ])
    }

    @Test("Two desks may share an output folder")
    func shared() async throws {
        let folder = try TemporaryFolder()
        let (left, right) = (try desk(folder), try desk(folder))
        for index in 0..<20 {
            async let one = claim(left, index, "/in/left\(index)")
            async let other = claim(right, index, "/in/right\(index)")
            #expect(try await one != other)
        }
    }

    private final class Log: Sendable {
        let isDone = Mutex(false)
    }

    @Test("With overwrite, the later source waits until the earlier one has written the same name")
    func overwriteWaits() async throws {
        let folder = try TemporaryFolder()
        let desk = try desk(folder, .overwrite)
        #expect(try await claim(desk, 0, "/in/a") == "a.webp")
        let log = Log()
        let later = Task {
            let name = try await claim(desk, 1, "/in/b")
            log.isDone.withLock { $0 = true }
            return name
        }
        try await Task.sleep(for: .milliseconds(80))
        #expect(!log.isDone.withLock { $0 })
        desk.release([RenditionName(path: BytePath("a.webp"), isShortened: false)])
        #expect(try await later.value == "a.webp")
    }

    @Test("A dry run knows the record and leaves it as it is")
    func dry() async throws {
        let folder = try TemporaryFolder()
        let real = try desk(folder)
        #expect(try await claim(real, 0, "/in/a") == "a.webp")
        let before = try folder.entries()
        let dry = try desk(folder, dry: true)
        #expect(try await [claim(dry, 0, "/in/b"), claim(dry, 1, "/in/a")] == ["a-2.webp", "a.webp"])
        #expect(try folder.entries() == before)
        let again = try desk(folder)
        #expect(try await claim(again, 0, "/in/c") == "a-2.webp")
    }
}
