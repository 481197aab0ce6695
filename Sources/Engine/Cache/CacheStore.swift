// The cache of renditions: a folder of files and an index, bounded by bytes, shared by processes, safe when any of them
// is killed.
import CLinux
import Glibc
package import Pipeline
import Synchronization
import System

/// Why a folder is no cache that can be used.
package struct CacheProblem: Error, CustomStringConvertible {
    package let description: String
}

/// Renditions by the digest of what decides their bytes. For any thread of any number of processes.
///
/// A file below `objects/` exists only while a row of the index names it, and is written only after what must make room
/// for it is removed. So the files together never have more bytes than the bound.
package final class CacheStore: Sendable {
    private let folder: BytePath
    private let index: CacheIndex
    /// Locked while this object lives, together with other processes.
    private let lock: OpenFile
    private let bound: Mutex<Int>
    /// Entries that were used since the index was last written to, in the order of use.
    private let used = Mutex<[Int64]>([])

    /// Uses are written down in batches.
    private static let batch = 256

    /// Opens a cache, and makes one if there is none.
    /// - Parameter bound: the most bytes that all renditions together may have.
    /// - Throws: `CacheProblem` if the folder cannot be used.
    package convenience init(folder: BytePath, bound: Int) throws(CacheProblem) {
        do throws(SystemError) {
            try FileSystem.makeDirectories(folder)
        } catch {
            throw CacheProblem(description: "the cache '\(folder.printable)' cannot be used: \(error)")
        }
        try self.init(opening: folder, bound: bound)
        do {
            // The bound may have been higher before.
            if try index.total().bytes > bound { try prune(to: bound) }
        } catch {
            throw CacheProblem(description: "the cache '\(folder.printable)' cannot be used: \(error)")
        }
    }

    /// Opens a cache that is there.
    package convenience init(existing folder: BytePath) throws(CacheProblem) {
        let index = (try? FileSystem.status(folder.appending(CacheIndex.fileName))).flatMap { $0 }
        guard index?.kind == .regular else {
            let expected = "expected a folder that 'imagemill run --cache' has filled"
            throw CacheProblem(
                description:
                    "'\(folder.printable)' is no cache: \(expected), found no \(CacheIndex.fileName.text) in it")
        }
        try self.init(opening: folder, bound: .max)
    }

    private init(opening folder: BytePath, bound: Int) throws(CacheProblem) {
        self.folder = folder
        self.bound = Mutex(bound)
        do {
            // Others of the group may share the cache.
            lock = try Directory(folder).openingLock(BytePath("lock"), mode: 0o660)
            // If this process is alone, killed processes have left the unfinished entries.
            let isAlone = lock.lock() == .locked
            if !isAlone { try lock.waitForSharedLock() }
            index = try CacheIndex(folder: folder)
            guard isAlone else { return }
            let left = try index.unfinished()
            for entry in left { FileSystem.remove(folder.appending(entry.path)) }
            try index.forget(left)
            try lock.waitForSharedLock()
        } catch let problem as CacheProblem {
            throw problem
        } catch {
            throw CacheProblem(description: "the cache '\(folder.printable)' cannot be used: \(error)")
        }
    }

    deinit {
        try? index.note(used: used.withLock { $0 })
        index.close()
    }

    // MARK: - Renditions

    /// The index's entry for a rendition; nil if it is not there.
    func entry(_ key: CacheKey) throws -> CacheEntry? { try index.entry(key) }

    /// Copies a rendition into an empty file, and checks the copy.
    /// - Returns: false if it was not there or not as it should be; it is removed then, and the file is empty again.
    func copy(_ entry: CacheEntry, into file: OpenFile) throws -> Bool {
        do throws(SystemError) {
            let stored = try OpenFile.reading(folder.appending(entry.path))
            try file.fill(from: stored)
            if try file.status().bytes == entry.bytes, try Digest.of(file) == entry.digest {
                touch(entry)
                return true
            }
        } catch {
            // A full disk is the output's trouble, and will be said when the worker writes there.
        }
        try file.empty()
        // Another process may just have evicted it.
        if try index.isReady(entry) { try remove([entry]) }
        return false
    }

    private func touch(_ entry: CacheEntry) {
        let batch = used.withLock { used -> [Int64] in
            used.append(entry.id)
            return used.count >= Self.batch ? Self.take(&used) : []
        }
        // The order of use is a hint.
        try? index.note(used: batch)
    }

    /// Keeps a copy of a rendition.
    /// - Parameter digest: the rendition's SHA-256.
    /// - Returns: whether it is there now; not if it has more bytes than the whole cache may have.
    @discardableResult
    func put(_ key: CacheKey, _ file: OpenFile, digest: String, about: String) throws -> Bool {
        let bytes = try file.status().bytes
        let bound = bound.withLock { $0 }
        guard bytes <= bound else { return false }
        let used = self.used.withLock { Self.take(&$0) }
        guard
            let reservation = try index.reserve(
                CacheContent(key: key, bytes: bytes, digest: digest, about: about), bound: bound, used: used)
        else { return false }
        do {
            for victim in reservation.victims { FileSystem.remove(folder.appending(victim.path)) }
            try write(file, to: folder.appending(reservation.entry.path))
            try index.commit(reservation)
            return true
        } catch {
            try? remove([reservation.entry])
            throw error
        }
    }

    private func write(_ file: OpenFile, to path: BytePath) throws(SystemError) {
        try FileSystem.makeDirectories(path.directory)
        let descriptor = withPath(path) { clinux_openat(AT_FDCWD, $0, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
        guard descriptor >= 0 else { throw SystemError("write '\(path.printable)'") }
        try OpenFile(owning: descriptor).fill(from: file)
    }

    private func remove(_ entries: [CacheEntry]) throws {
        try index.leave(entries)
        for entry in entries { FileSystem.remove(folder.appending(entry.path)) }
        try index.forget(entries)
    }

    private static func take(_ used: inout [Int64]) -> [Int64] {
        defer { used = [] }
        return used
    }

    // MARK: - Assets

    func assetFacts(_ digest: String) throws -> String? { try index.assetFacts(digest) }
    func add(assetFacts facts: String, _ digest: String) throws { try index.add(assetFacts: facts, digest) }

    // MARK: - Upkeep

    package struct Statistics: Sendable {
        package let renditions: Int
        package let bytes: Int
    }

    package func statistics() throws -> Statistics {
        let total = try index.total()
        return Statistics(renditions: total.renditions, bytes: total.bytes)
    }

    /// Changes the bound for what is put in from now on.
    func set(bound: Int) { self.bound.withLock { $0 = bound } }

    /// Removes the least recently used renditions until no more than so many bytes are left.
    /// - Returns: how many were removed.
    @discardableResult
    package func prune(to bytes: Int) throws -> Int {
        let going = try index.evict(to: max(0, bytes))
        for entry in going { FileSystem.remove(folder.appending(entry.path)) }
        try index.forget(going)
        return going.count
    }

    /// Compares the index with the files.
    /// - Parameter repairs: removes what is wrong; it is made anew when it is needed.
    /// - Returns: what is wrong, a sentence each.
    package func verify(repairs: Bool) throws -> [String] {
        var problems: [String] = []
        for entry in try index.entries() {
            guard let problem = problem(of: entry), try index.isReady(entry) else { continue }
            problems.append("\(entry.path.text): \(problem)")
            if repairs { try remove([entry]) }
        }
        problems += try orphans(repairs: repairs)
        if let damage = try index.damage() {
            problems.append(damage)
            if repairs { try index.recount() }
        }
        return problems
    }

    private func problem(of entry: CacheEntry) -> String? {
        do throws(SystemError) {
            let file = try OpenFile.reading(folder.appending(entry.path))
            let bytes = try file.status().bytes
            if bytes != entry.bytes { return "it has \(bytes) bytes; the index says \(entry.bytes)" }
            return try Digest.of(file) == entry.digest ? nil : "its content is not what was stored"
        } catch {
            return error.code == ENOENT ? "the index names it, and it is missing" : error.description
        }
    }

    /// Files that the index does not know.
    private func orphans(repairs: Bool) throws -> [String] {
        let objects = folder.appending(BytePath("objects"))
        guard try FileSystem.status(objects) != nil else { return [] }
        let found = try Directory(objects).names().flatMap { name in
            let path = BytePath("objects").appending(BytePath(name))
            guard try FileSystem.status(folder.appending(path), followLinks: false)?.kind == .directory else {
                return [path]
            }
            let names = (try? Directory(folder.appending(path)).names()) ?? []
            return names.map { path.appending(BytePath($0)) }
        }
        // Asked after the listing, so that what another process writes meanwhile is known.
        let known = try index.allPaths()
        // Another process may have removed a file meanwhile.
        let orphans = try found.filter {
            try !known.contains($0) && FileSystem.status(folder.appending($0), followLinks: false) != nil
        }
        if repairs { orphans.forEach { FileSystem.remove(folder.appending($0)) } }
        return orphans.map { "\($0.printable): the index does not know it" }
    }
}
