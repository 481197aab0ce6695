// Fingerprints survive the record, and tell what is different.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct FingerprintTests {
    /// The members of a set with sizes.
    private func set(_ members: [String: String]) throws -> Fingerprint {
        let folder = try TemporaryFolder()
        let files = try members.sorted { $0.key < $1.key }.map { name, text in
            let path = try folder.write(text, to: name)
            // One time for all, so that only what a test changes is different.
            #expect(
                utimensat(AT_FDCWD, path, [timespec(tv_sec: 1, tv_nsec: 5), timespec(tv_sec: 1, tv_nsec: 5)], 0) == 0)
            return Fingerprint.File(name: BytePath(name), try #require(try FileSystem.status(BytePath(path))).stamp)
        }
        return Fingerprint(files)
    }

    @Test func `a fingerprint is the same after it was recorded, names that are no text included`() throws {
        var fingerprint = try set(["1.png": "x", "2.png": "", "ü": "long"])
        let folder = try TemporaryFolder()
        let status = try #require(try FileSystem.status(BytePath(folder.write("abc", to: "x"))))
        fingerprint.files.append(Fingerprint.File(name: BytePath([0xFF, 0x00, 0xFE]), status.stamp))
        #expect(Fingerprint(encoded: fingerprint.encoded) == fingerprint)
        #expect(Fingerprint(encoded: []) == Fingerprint([]))
    }

    @Test func `bytes that are no fingerprint are refused, not trusted`() throws {
        let good = try set(["1.png": "x"]).encoded
        for count in 1..<good.count { #expect(Fingerprint(encoded: Array(good.prefix(count))) == nil) }
        #expect(Fingerprint(encoded: [UInt8](repeating: 0xFF, count: 64)) == nil)
        #expect(Fingerprint(encoded: [0, 0, 0, 0, 0, 0, 0, 0x7F] + good) == nil)
    }

    @Test func `the members of a set that were added, removed or changed are named`() throws {
        let old = try set(["1.png": "x", "2.png": "y", "3.png": "z"])
        #expect(try set(["1.png": "x", "2.png": "y", "3.png": "z"]).changes(since: old).isEmpty)
        let new = try set(["1.png": "x", "3.png": "zz", "4.png": "w"])
        #expect(
            new.changes(since: old).map(\.sentence) == [
                "the member '2.png' is gone", "the member '3.png' has 2 bytes; it had 1", "the member '4.png' is new",
            ])
    }

    @Test
    func `a source written to just before it was opened is not known: its next change might not move its time`() throws
    {
        let folder = try TemporaryFolder()
        let path = BytePath(try folder.write([0xFF, 0xD8, 0xFF, 0xE0], to: "a.jpg"))
        let source = SourceFile(location: .path(path), identity: path, relative: BytePath("a.jpg"))
        let now = nanosecondsSince1970()
        for (seconds, isKnown) in [(-10, true), (0, false), (3600, true)] {
            let time = timespec(tv_sec: now / 1_000_000_000 + seconds, tv_nsec: now % 1_000_000_000)
            try folder.write([0xFF, 0xD8, 0xFF, 0xE0], to: "a.jpg")
            if seconds != 0 { #expect(utimensat(AT_FDCWD, path.text, [time, time], 0) == 0) }
            // Other programs may delay this one for longer than the clock's tick, so the sure case is tried until it is
            // seen.
            var found = try OpenedSource(source, limits: Limits()).fingerprint != nil
            for _ in 0..<50 where found != isKnown {
                try folder.write([0xFF, 0xD8, 0xFF, 0xE0], to: "a.jpg")
                found = try OpenedSource(source, limits: Limits()).fingerprint != nil
            }
            #expect(found == isKnown)
        }
    }
}
