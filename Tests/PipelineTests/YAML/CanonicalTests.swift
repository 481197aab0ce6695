// One text for all files that say the same, and another for all that do not.
import Testing

@testable import Pipeline

@Suite struct CanonicalTests {
    private func canonical(_ yaml: String) throws -> String {
        let (root, problems) = readYAML(yaml)
        #expect(problems.isEmpty)
        return try #require(root).canonical
    }

    @Test func `comments, indentation, style and the order of keys do not count`() throws {
        let one = "a: 1\nb:\n  - x: { c: '1', d: [2, 3] }\n  - y\n"
        let other = "# words\nb: [ {x: {d: [2,   3], c: \"1\"}}, y ]   # more\n\na:   1\n"
        #expect(try canonical(one) == canonical(other))
    }

    @Test(arguments: [
        ("a: 1", "a: 2"), ("a: 1", "b: 1"), ("a: 1", "a: '1'"), ("a: [1, 2]", "a: [2, 1]"),
        ("a: [1, 2]", "a: [[1], 2]"),
        ("a: x", "a: [x]"), ("a: { b: c }", "a: [b, c]"), ("a: ab", "a: [a, b]"), ("a: ~", "a: '~'"),
        ("a: { b: 1 }\nc: 2", "a: { b: 1, c: 2 }"),
    ])
    func `what is said counts`(one: String, other: String) throws {
        #expect(try canonical(one) != canonical(other))
    }

    @Test func `keys that are left out do not count, further down they do`() throws {
        let root = try #require(readYAML("a: 1\nfile: x\nb: { file: y }").root)
        #expect(try root.canonical(without: ["file"]) == canonical("a: 1\nb: { file: y }"))
    }
}
