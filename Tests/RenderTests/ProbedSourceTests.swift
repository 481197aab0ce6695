// The failure that a worker reports for a source that cannot be read from its disk.
import Pipeline
import System
import TestSupport
import Testing

@testable import Render

@Suite struct ProbedSourceTests {
    // Otherwise a disk that fails between two looks at a header makes a good picture corrupt.
    @Test func `a header that cannot be read a second time is no damage of the picture`() throws {
        let folder = try TemporaryFolder()
        let file = ReceivedFile(try OpenFile.unreadable([1, 2, 3], in: folder))
        let failure = #expect(throws: Failure.self) { try file.structureForDecoding { $0.read(0, 3) } }
        #expect(failure?.code == .changedWhileRead)
    }
}
