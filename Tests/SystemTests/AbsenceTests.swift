import Pipeline
import TestSupport
import Testing

@testable import System

@Suite struct AbsenceTests {
    @Test func `a look that fails has not found that nothing is there`() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "a")
        #expect(FileSystem.isAbsent(BytePath(folder.path("b"))))
        #expect(FileSystem.isAbsent(BytePath(folder.path("a/b"))))
        #expect(!FileSystem.isAbsent(BytePath(folder.path("a"))))
        // Longer than a file system's names can be.
        let long = BytePath(folder.path(String(repeating: "n", count: 300)))
        #expect(throws: SystemError.self) { try FileSystem.status(long) }
        #expect(!FileSystem.isAbsent(long))
    }

    /// `try?` joins an error with the absence of a value, and a comparison with `.some(nil)` is true for both.
    @Test(arguments: Checkout.files(below: "Sources", extension: "swift"))
    func `no error counts as absence`(file: String) throws {
        #expect(try !Checkout.text(file).contains("== .some(nil)"), "use isAbsent")
    }
}
