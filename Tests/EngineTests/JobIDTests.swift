// A job's name is harmless as the name of a folder.
import Testing

@testable import Engine

@Suite struct JobIDTests {
    @Test("New names are distinct, and read back as what they are")
    func new() {
        let names = Set((0..<1000).map { _ in JobID.new() })
        #expect(names.count == 1000)
        for name in names { #expect(JobID(name.text) == name) }
    }

    @Test(
        "Other texts are no names of jobs",
        arguments: ["", "abc", "0123456789abcdeF", "0123456789abcde/", "0123456789abcdef0", "0123456789abcde.", "0123456789abcdé"])
    func others(text: String) {
        #expect(JobID(text) == nil)
    }
}
