import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct OpenedSourceTests {
    private func opened(_ folder: TemporaryFolder) throws -> (source: OpenedSource, path: String) {
        let path = try folder.write([0xFF, 0xD8, 0xFF, 0xE0] + Array(repeating: 7, count: 5000), to: "a.jpg")
        let source = SourceFile(location: .path(BytePath(path)), identity: BytePath(path), relative: BytePath("a.jpg"))
        return (try OpenedSource(source, limits: Limits()), path)
    }

    @Test(arguments: [Int.max, .min, 10_413_792_000, -99_999_999_999])
    func `a file may have any time at all: it is told from other times, and stops nobody`(seconds: Int) {
        var status = stat()
        status.st_mode = S_IFREG
        (status.st_mtim, status.st_ctim) = (
            timespec(tv_sec: seconds, tv_nsec: 999_999_999), timespec(tv_sec: seconds, tv_nsec: 999_999_999)
        )
        let (sighting, file) = (FileStatus(status), FileStatus(status))
        status.st_mtim.tv_nsec -= 1
        #expect(sighting != FileStatus(status) && file != FileStatus(status))
    }

    @Test func `a picture from the year 2300 can be read, and has a fingerprint`() throws {
        let folder = try TemporaryFolder()
        let path = try opened(folder).path
        #expect(
            utimensat(
                AT_FDCWD, path,
                [timespec(tv_sec: 10_413_792_000, tv_nsec: 0), timespec(tv_sec: 10_413_792_000, tv_nsec: 0)], 0) == 0)
        let source = try OpenedSource(
            SourceFile(location: .path(BytePath(path)), identity: BytePath(path), relative: BytePath("a.jpg")),
            limits: Limits())
        #expect(source.isUnchanged && source.fingerprint != nil && source.modificationDate.count == 19)
    }

    @Test func `a file that is linked, renamed or given another mode while it is read has not changed`() throws {
        let folder = try TemporaryFolder()
        let (source, path) = try opened(folder)
        #expect(link(path, path + ".hard") == 0)
        #expect(chmod(path, 0o600) == 0)
        #expect(rename(path, path + ".moved") == 0)
        #expect(source.isUnchanged)
    }

    @Test(
        arguments: [
            [], Array("hello".utf8), [0xFF, 0xD8, 0xFF, 0xE0] + Array(repeating: 7, count: 500),
        ] as [[UInt8]])
    func `as long as somebody writes to a file, what is wrong with it is that`(bytes: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let path = BytePath(try folder.write(bytes, to: "a.jpg"))
        let source = SourceFile(location: .path(path), identity: path, relative: BytePath("a.jpg"))
        let damage = Failure(.corrupt, stage: "decode", "the picture cannot be decoded")
        func failure() throws -> Failure? {
            do throws(Failure) {
                return try OpenedSource(source, limits: Limits()).refined(damage)
            } catch {
                return error
            }
        }
        let writer = open(path.text, O_WRONLY)
        #expect(try failure()?.code == .changedWhileRead)
        close(writer)
        #expect([.empty, .notAnImage, .truncated].contains(try #require(try failure()).code))
    }

    @Test func `a file that has changed since it was opened is not called damaged`() throws {
        let folder = try TemporaryFolder()
        let (source, path) = try opened(folder)
        try folder.write("x", to: "a.jpg")
        #expect(path == folder.path("a.jpg"))
        #expect(source.refined(Failure(.corrupt, stage: "decode", "x")).code == .changedWhileRead)
    }

    @Test func `a file that is written to, cut or touched has changed`() throws {
        for change in ["append", "cut", "overwrite"] {
            let folder = try TemporaryFolder()
            let (source, path) = try opened(folder)
            usleep(20_000)
            let file = open(path, O_WRONLY | (change == "append" ? O_APPEND : 0))
            #expect(change == "cut" ? ftruncate(file, 100) == 0 : write(file, "x", 1) == 1)
            close(file)
            #expect(!source.isUnchanged, "\(change)")
        }
    }
}
