// The cache as a store of bytes: bounded, in the order of use, shared, never trusted blindly.
import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct CacheStoreTests {
    private let folder: TemporaryFolder
    private var cache: BytePath { BytePath(folder.path("cache")) }

    init() throws { folder = try TemporaryFolder() }

    private func open(bound: Int = .max) throws -> CacheStore { try CacheStore(folder: cache, bound: bound) }

    private func key(_ number: Int) -> CacheKey { CacheKey(text: Digest.of("key \(number)")) }

    /// A file with bytes that no other number has.
    private func file(_ number: Int, bytes: Int) throws -> OpenFile {
        var generator = SystemRandomNumberGenerator()
        let content = (0..<max(0, bytes - 8)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return try OpenFile.reading(
            BytePath(folder.write(Array("\(number + 10_000_000)".utf8) + content, to: "source")))
    }

    @discardableResult
    private func put(_ store: CacheStore, _ number: Int, bytes: Int = 100) throws -> Bool {
        let file = try file(number, bytes: bytes)
        return try store.put(key(number), file, digest: Digest.of(file), about: "{}")
    }

    @Test func `a cache of another layout is refused, with what to do`() throws {
        try put(open(), 1)
        let index = try DatabaseQueue(path: folder.path("cache/index.sqlite"))
        try index.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('later')") }
        try index.close()
        let problem = #expect(throws: CacheProblem.self) { try open() }
        #expect(problem?.description.hasSuffix("remove the folder, or choose another one") == true)
    }

    @Test(arguments: [DatabaseFile.SharedMemory.works, .takesRoom, .isOfOneMachine])
    func `where processes cannot share memory the index does without it`(_ memory: DatabaseFile.SharedMemory) throws {
        try folder.write("", to: "cache/x")
        let indexes = try (0..<2).map { _ in try CacheIndex(folder: cache, memory: memory) }
        #expect(try folder.entries().contains("cache/index.sqlite-shm") == (memory == .works))
        for number in 0..<4 { try indexes[number % 2].add(assetFacts: "\(number)", "digest\(number)") }
        for index in indexes {
            #expect(try (0..<4).map { try index.assetFacts("digest\($0)") } == ["0", "1", "2", "3"])
        }
    }

    @Test func `strangers may not open the lock, with which they could keep everybody out`() throws {
        _ = try open()
        #expect(try FileSystem.status(BytePath(folder.path("cache/lock"))).map { $0.mode & 0o007 } == 0)
    }

    /// Copies a rendition out; nil if it is not there.
    private func get(_ store: CacheStore, _ number: Int) throws -> [UInt8]? {
        guard let entry = try store.entry(key(number)) else { return nil }
        try folder.write([UInt8](), to: "copy")
        let descriptor = Glibc.open(folder.path("copy"), O_RDWR)
        let copy = OpenFile(owning: descriptor)
        return try store.copy(entry, into: copy) ? copy.bytes(at: 0, count: 1 << 20) : nil
    }

    /// The files below `objects/` and the bytes of all of them.
    private func stored() -> (files: [String], bytes: Int) {
        let objects = folder.path("cache/objects")
        let files = (FileManager.default.subpaths(atPath: objects) ?? []).filter { $0.contains("/") }.map {
            objects + "/" + $0
        }
        return (
            files,
            files.reduce(0) { $0 + (((try? FileManager.default.attributesOfItem(atPath: $1)[.size]) as? Int) ?? 0) }
        )
    }

    @Test func `what was put in comes out, also after the cache was closed; what was not is not there`() throws {
        try put(open(), 1, bytes: 5000)
        let store = try open()
        #expect(try get(store, 1)?.prefix(8) == ArraySlice("10000001".utf8) && get(store, 1)?.count == 5000)
        #expect(try get(store, 2) == nil)
        #expect(try store.put(key(1), file(1, bytes: 10), digest: "", about: "{}") == false)
        #expect(try get(store, 1)?.count == 5000)
        #expect(try store.verify(repairs: false).isEmpty)
    }

    @Test
    func `three thousand renditions and room for a tenth: never above the bound, and the least recently used go first`()
        throws
    {
        let (count, size) = (3000, 64)
        let bound = count * size / 10
        let store = try open(bound: bound)
        for number in 0..<count {
            #expect(try put(store, number, bytes: size))
            // Rendition 0 is used all the time, so it never is the one that goes.
            if number % 100 == 0 { #expect(try get(store, 0) != nil) }
            // Looking at a thousand files costs more than writing one; the sum of the index is held against it now and
            // then.
            if number % 331 == 0 || number > count - 20 { #expect(stored().bytes <= bound) }
        }
        #expect(stored().bytes == bound)
        #expect(try store.entry(key(0)) != nil)
        #expect(try store.entry(key(count - 1)) != nil && store.entry(key(count - 299)) != nil)
        #expect(try store.entry(key(count - 300)) == nil && store.entry(key(1)) == nil)
        #expect(try store.statistics().renditions == count / 10)
        #expect(try store.verify(repairs: false).isEmpty)
    }

    @Test func `with renditions of many sizes the files are never above the bound, whatever comes and goes`() throws {
        let bound = 20_000
        let store = try open(bound: bound)
        for number in 0..<300 {
            try put(store, number, bytes: 8 + (number * 7919) % 6000)
            if number % 3 == 0 { _ = try get(store, number / 2) }
            #expect(stored().bytes <= bound)
        }
        #expect(try store.verify(repairs: false).isEmpty)
    }

    @Test func `what is larger than the whole cache is not kept, and nothing goes for it`() throws {
        let store = try open(bound: 1000)
        #expect(try put(store, 1, bytes: 900))
        #expect(try put(store, 2, bytes: 1001) == false)
        #expect(try get(store, 1) != nil)
        #expect(try put(store, 3, bytes: 1000))
        #expect(try get(store, 1) == nil && stored().bytes == 1000)
    }

    @Test func `a cache that is opened with a lower bound is cut to it`() throws {
        let store = try open(bound: 1000)
        for number in 0..<10 { try put(store, number) }
        withExtendedLifetime(try open(bound: 350)) { #expect(stored().bytes == 300) }
        #expect(try store.entry(key(9)) != nil && store.entry(key(6)) == nil)
    }

    @Test func `pruning removes the least recently used`() throws {
        let store = try open()
        for number in 0..<10 { try put(store, number) }
        _ = try get(store, 0)
        // The uses are noted when the cache is closed, or when something is put into it.
        try put(store, 10)
        #expect(try store.prune(to: 250) == 9)
        #expect(try store.entry(key(0)) != nil && store.entry(key(10)) != nil)
        #expect(try store.prune(to: 0) == 2 && stored().files.isEmpty)
    }

    @Test(arguments: ["alter", "cut", "take"])
    func `a file that was altered, cut or taken away is noticed, removed and can be stored anew`(kind: String) throws {
        let store = try open()
        try put(store, 1, bytes: 1000)
        let path = try #require(stored().files.first)
        switch kind {
        case "alter": try Data(repeating: 7, count: 1000).write(to: URL(fileURLWithPath: path))
        case "cut": #expect(truncate(path, 10) == 0)
        default: try FileManager.default.removeItem(atPath: path)
        }
        #expect(try store.verify(repairs: false).count == 1)
        #expect(try get(store, 1) == nil)
        #expect(try store.entry(key(1)) == nil && stored().files.isEmpty)
        #expect(try store.verify(repairs: false).isEmpty)
        #expect(try put(store, 1, bytes: 1000))
        #expect(try get(store, 1)?.count == 1000)
    }

    @Test func `verify names what is wrong, and repairs it when told`() throws {
        let store = try open()
        for number in 0..<3 { try put(store, number) }
        let paths = stored().files.sorted()
        try FileManager.default.removeItem(atPath: paths[0])
        try Data(repeating: 7, count: 100).write(to: URL(fileURLWithPath: paths[1]))
        try folder.write("?", to: "cache/objects/ab/stranger")
        try folder.write("?", to: "cache/objects/stray")
        let problems = try store.verify(repairs: true)
        #expect(problems.count == 4)
        #expect(problems.contains("objects/stray: the index does not know it"))
        #expect(problems.contains { $0.hasSuffix(": the index names it, and it is missing") })
        #expect(problems.contains { $0.hasSuffix(": its content is not what was stored") })
        #expect(problems.contains("objects/ab/stranger: the index does not know it"))
        #expect(try store.verify(repairs: false).isEmpty)
        #expect(stored().files == [paths[2]])
    }

    @Test
    func `several users of one cache put, get and evict at once, and it stays within its bound and whole`() async throws
    {
        let bound = 5000
        let stores = try (0..<3).map { _ in try open(bound: bound) }
        let sources = try (0..<40).map { number in
            let path = try folder.write(
                [UInt8](repeating: UInt8(number), count: 100 + number * 20), to: "sources/\(number)")
            return try OpenFile.reading(BytePath(path))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    try await onNewThread {
                        for round in 0..<120 {
                            let number = (round * (index + 3) * 7) % 40
                            let file = sources[number]
                            try store.put(key(number), file, digest: Digest.of(file), about: "{}")
                            #expect(stored().bytes <= bound)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try stores[0].verify(repairs: false).isEmpty)
        #expect(stored().bytes <= bound && stored().bytes > bound / 2)
    }

    @Test func `a folder that is no cache is not taken for one`() throws {
        #expect {
            try CacheStore(existing: BytePath(folder.path))
        } throws: {
            "\($0)".hasPrefix("'\(folder.path)' is no cache: expected a folder that 'imagemill run --cache' has filled")
        }
        try folder.write("no database, but long enough to be looked at", to: "cache/index.sqlite")
        #expect {
            try open()
        } throws: {
            "\($0)".hasPrefix("the cache '\(folder.path("cache"))' cannot be used: ")
        }
    }
}
