import Glibc
import Pipeline
import TestSupport
import Testing

@testable import Engine

@Suite struct OpenedSourceTests {
    private func opened(_ folder: TemporaryFolder) throws -> (source: OpenedSource, path: String) {
        let path = try folder.write([0xFF, 0xD8, 0xFF, 0xE0] + Array(repeating: 7, count: 5000), to: "a.jpg")
        let source = SourceFile(path: BytePath(path), identity: BytePath(path), relative: BytePath("a.jpg"))
        return (try OpenedSource(source, limits: Limits()), path)
    }

    @Test("A file that is linked, renamed or given another mode while it is read has not changed")
    func untouched() throws {
        let folder = try TemporaryFolder()
        let (source, path) = try opened(folder)
        #expect(link(path, path + ".hard") == 0)
        #expect(chmod(path, 0o600) == 0)
        #expect(rename(path, path + ".moved") == 0)
        #expect(source.isUnchanged)
    }

    @Test("A file that is written to, cut or touched has changed")
    func touched() throws {
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
