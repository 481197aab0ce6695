// The identity of a drop folder: made once, and never made anew by itself.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct DropFolderIdentityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func identity(_ state: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder.path(state), withIntermediateDirectories: true)
        return try DropFolderIdentity.read(from: BytePath(folder.path(state))).identity
    }

    @Test func `each state folder has its own, which stays`() throws {
        let first = try identity("a")
        #expect(try identity("a") == first && identity("b") != first)
        #expect(try folder.text("a/identity") == first + "\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("a")) == ["identity"])
    }

    @Test(arguments: ["", "\n", "abc", "../../x\n", "no identity\n", String(repeating: "1", count: 60) + "\n"])
    func `a file that holds none is an error that says what to do, and stays as it is`(text: String) throws {
        try folder.write(text, to: "a/identity")
        let error = #expect(throws: SystemError.self) { try identity("a") }
        #expect(
            error?.description
                == "cannot use '\(folder.path("a/identity"))': it holds no identity; put it back from a backup, or remove it: "
                + "then this is a new drop folder, which replaces no rendition that is there")
        #expect(try folder.text("a/identity") == text)
    }
}
