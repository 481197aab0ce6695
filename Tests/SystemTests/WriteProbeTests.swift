// The probe tells whether an outbox can be written to.
import Foundation
import TestSupport
import Testing

@testable import Pipeline
@testable import System

@Suite struct WriteProbeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a sound outbox is left as it was`() throws {
        try folder.write("x", to: "out/a")
        #expect(WriteProbe.trouble(in: BytePath(folder.path("out"))) == nil)
        #expect(try folder.entries() == ["out", "out/a"])
    }

    @Test func `one that is missing is not made; a file in its place is none`() throws {
        try folder.write("x", to: "file")
        let out = folder.path("out")
        #expect(
            WriteProbe.trouble(in: BytePath(out))?.description
                == "cannot write into '\(out)': No such file or directory")
        #expect(WriteProbe.trouble(in: BytePath(folder.path("file")))?.code == ENOTDIR)
        #expect(try folder.entries() == ["file"])
    }

    @Test func `one where nobody may write says so`() throws {
        // Nobody, root included, writes in here.
        let trouble = try #require(WriteProbe.trouble(in: BytePath("/proc/self")))
        #expect([EACCES, EPERM, EROFS, ENOENT].contains(trouble.code))
    }

    @Test(.enabled(if: TestMachine.canMount, "no file system can be mounted here"))
    func `a full disk shows`() async throws {
        let runner = try CommandRunner()
        let mounted = try await runner.shell("mkdir small && mount -t tmpfs -o size=128k tmpfs small")
        try #require(mounted.exit == 0)
        let path = BytePath(runner.folder.path("small"))
        let (trouble, isFull) = (WriteProbe.trouble(in: path), WriteProbe.isFull(path))
        _ = try await runner.shell("umount small")
        #expect(trouble?.code == ENOSPC && isFull)
    }
}
