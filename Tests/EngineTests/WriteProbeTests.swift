// The probe tells whether an outbox can be written to.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct WriteProbeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A sound outbox is left as it was")
    func sound() throws {
        try folder.write("x", to: "out/a")
        #expect(WriteProbe.trouble(in: BytePath(folder.path("out")), missing: .missingOutbox) == nil)
        #expect(try folder.entries() == ["out", "out/a"])
    }

    @Test("One that is missing is not made; a file in its place is none")
    func missing() throws {
        try folder.write("x", to: "file")
        #expect(WriteProbe.trouble(in: BytePath(folder.path("out")), missing: .missingOutbox) == .missingOutbox)
        #expect(WriteProbe.trouble(in: BytePath(folder.path("file")), missing: .missingInbox) == .missingInbox)
        #expect(try folder.entries() == ["file"])
    }

    @Test("One where nobody may write says so")
    func readOnly() throws {
        // Nobody, root included, writes in here.
        #expect(
            [.permission, .readOnly, .missingOutbox].contains(
                try #require(WriteProbe.trouble(in: BytePath("/proc/self"), missing: .missingOutbox))))
    }

    @Test("A full disk shows", .enabled(if: geteuid() == 0))
    func full() async throws {
        let runner = try CommandRunner()
        let mounted = try await runner.shell("mkdir small && mount -t tmpfs -o size=128k tmpfs small")
        // A container may forbid it.
        guard mounted.exit == 0 else { return }
        let trouble = WriteProbe.trouble(in: BytePath(runner.folder.path("small")), missing: .missingOutbox)
        _ = try await runner.shell("umount small")
        #expect(trouble == .noSpace)
    }
}
