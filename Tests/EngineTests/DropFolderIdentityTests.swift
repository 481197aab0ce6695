// The identity of a drop folder: made once, and never made anew by itself.
import Foundation
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct DropFolderIdentityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func identity(_ state: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder.path(state), withIntermediateDirectories: true)
        let state = BytePath(folder.path(state))
        return try DropFolderIdentity.read(
            from: state, ledger: SQLiteLedger(state: state, policy: { _ in RetryPolicy(attempts: 3) })
        ).identity
    }

    @Test func `each state folder has its own, which stays`() throws {
        let first = try identity("a")
        #expect(try identity("a") == first && identity("b") != first)
        #expect(try folder.text("a/identity") == first + "\n")
        #expect(
            try !folder.entries().contains { $0.hasPrefix("a/") && $0 != "a/identity" && !$0.hasPrefix("a/ledger.") })
    }

    @Test func `one of the file and the ledger is enough to know it, and the file decides`() throws {
        let first = try identity("a")
        try FileManager.default.removeItem(atPath: folder.path("a/identity"))
        #expect(try identity("a") == first && folder.text("a/identity") == first + "\n")
        try FileManager.default.removeItem(atPath: folder.path("a/ledger.sqlite"))
        #expect(try identity("a") == first)
        try folder.write("other1\n", to: "a/identity")
        #expect(try identity("a") == "other1")
        try folder.write("?", to: "a/identity")
        let error = #expect(throws: SystemError.self) { try identity("a") }
        #expect(error?.description.hasSuffix("it holds no identity; remove it: the ledger has it too") == true)
        try FileManager.default.removeItem(atPath: folder.path("a/identity"))
        #expect(try identity("a") == "other1")
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
