// A cache that is left alone after trouble, and used again.
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct SharedCacheTests {
    private func renditions(_ cache: SharedCache) -> Int? { cache.use { try $0.statistics().renditions } }

    @Test
    func `trouble is said once, the cache is left alone for a while, and then it is used again, which is said too`()
        async throws
    {
        let folder = try TemporaryFolder()
        try folder.write("a file", to: "cache")
        let notes = Mutex<[String]>([])
        let cache = SharedCache(folder: BytePath(folder.path("cache")), bound: 1000, pause: .milliseconds(300)) {
            note in
            notes.withLock { $0.append(note) }
        }
        let begin = SuspendingClock.now
        #expect(renditions(cache) == nil)
        #expect(renditions(cache) == nil)
        #expect(notes.withLock { $0.count } == 1 && cache.status.trouble != nil)
        try FileManager.default.removeItem(atPath: folder.path("cache"))
        while renditions(cache) == nil, .now - begin < .seconds(20) { try await Task.sleep(for: .milliseconds(20)) }
        #expect(.now - begin >= .milliseconds(300))
        #expect(notes.withLock { $0.count } == 2 && notes.withLock { $0.last }?.hasSuffix("can be used again") == true)
        #expect(cache.status.trouble == nil)
    }

    @Test
    func `a cache that does not answer is left alone, which is said once; it is used again when it answers`() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "cache/lock")
        // Whoever opens the cache waits for this one.
        let lock = open(folder.path("cache/lock"), O_RDWR | O_CLOEXEC)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let isHeld = Mutex(true)
        @Sendable func release() {
            if isHeld.withLock({ held in
                defer { held = false }; return held
            }) {
                close(lock)
            }
        }
        defer { release() }
        runOnNewThread {
            sleep(15)
            release()
        }
        let notes = Mutex<[String]>([])
        let cache = SharedCache(folder: BytePath(folder.path("cache")), bound: 1000, pause: .milliseconds(10)) { note in
            notes.withLock { $0.append(note) }
        }
        let begin = SuspendingClock.now
        #expect(renditions(cache) == nil)
        #expect(.now - begin > .seconds(1) && .now - begin < .seconds(10))
        usleep(50_000)
        // Nobody else waits for it.
        let next = SuspendingClock.now
        for _ in 0..<10 { #expect(renditions(cache) == nil) }
        #expect(.now - next < .seconds(1))
        let path = folder.path("cache")
        #expect(notes.withLock { $0 } == ["the cache '\(path)' does not answer; the work goes on without it"])
        #expect(cache.status.trouble != nil)
        release()
        while renditions(cache) == nil, .now - begin < .seconds(30) { usleep(20_000) }
        #expect(renditions(cache) == 0 && cache.status.trouble == nil)
        #expect(notes.withLock { $0.last } == "the cache '\(path)' can be used again")
    }

    @Test func `for a run trouble is the end of the cache`() throws {
        let folder = try TemporaryFolder()
        try folder.write("a file", to: "cache")
        let cache = SharedCache(folder: BytePath(folder.path("cache")), bound: 1000) { _ in }
        #expect(renditions(cache) == nil)
        try FileManager.default.removeItem(atPath: folder.path("cache"))
        #expect(renditions(cache) == nil)
    }

    @Test
    func `the count of renditions follows what is put in, replaced and removed; a smaller bound holds at once`() throws
    {
        let folder = try TemporaryFolder()
        let cache = SharedCache(folder: BytePath(folder.path("cache")), bound: 1000) { Issue.record("\($0)") }
        for number in 0..<30 {
            let file = try OpenFile.reading(
                BytePath(folder.write([UInt8](repeating: UInt8(number), count: 100), to: "source")))
            _ = cache.use {
                try $0.put(CacheKey(text: Digest.of("\(number)")), file, digest: Digest.of(file), about: "{}")
            }
        }
        #expect(cache.status.contents.renditions == 10 && cache.status.contents.bytes == 1000)
        cache.set(bound: 350)
        #expect(
            cache.status.contents.renditions == 3 && cache.status.contents.bytes == 300 && cache.status.bound == 350)
        let problems = cache.use { try $0.verify(repairs: false) }
        #expect(problems == [])
    }
}
