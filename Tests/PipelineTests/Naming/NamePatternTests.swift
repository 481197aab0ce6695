// Patterns of names.
import Testing

@testable import Pipeline

struct NamePatternTests {
    @Test(
        arguments: [
            ("*.xmp", "a.xmp"), ("*.xmp", ".xmp"), ("*.XMP", "a.xmp"), ("a?c", "abc"), ("*", "anything"),
            ("a*b*c", "a1b2b3c"),
            ("*.tar.*", "x.tar.gz"),
            ("**", ""), ("[a]", "[a]"),
        ])
    func `a pattern fits the whole name`(pattern: String, name: String) throws {
        #expect(try #require(NamePattern(pattern)).matches(Array(name.utf8)))
    }

    @Test(arguments: [("*.xmp", "a.xmpx"), ("a?c", "ac"), ("a?c", "abbc"), ("a", "ab"), ("a*b", "abc"), ("?", "")])
    func `a part is not enough`(pattern: String, name: String) throws {
        #expect(try !#require(NamePattern(pattern)).matches(Array(name.utf8)))
    }

    @Test
    func `names are bytes, and many stars take no time`() throws {
        #expect(try #require(NamePattern("?.jpg")).matches([0xFF] + Array(".jpg".utf8)))
        let many = try #require(NamePattern(String(repeating: "*a", count: 40) + "b"))
        #expect(!many.matches([UInt8](repeating: UInt8(ascii: "a"), count: 255)))
    }

    @Test
    func `an exception begins with an exclamation mark`() throws {
        let pattern = try #require(NamePattern("!*.tmp"))
        #expect(pattern.isException && pattern.matches(Array("a.tmp".utf8)))
        #expect(["", "!", "a/b", "a\0b"].allSatisfy { NamePattern($0) == nil })
    }
}
