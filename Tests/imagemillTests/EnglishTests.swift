// The English of messages, help and documents: phrases that slow a reader down are found here.
import Foundation
import TestSupport
import Testing

@Suite struct EnglishTests {
    /// Phrases, and what to write instead.
    private static let phrases: [(pattern: String, instead: String)] = [
        (#"\bstands?\b(?! for| alone)"#, "is"),
        (#"\bwhere (it is|they are|nothing is) (missing|said)\b"#, "if"),
        (#", where (it|they|this|that|nothing|nobody|somebody) "#, "if"),
        (#"\bbehind\b"#, "after"), (#"(^|[.;:!?] )where [^.;:|]*, (?!or |and )"#, "if"),
    ]

    /// Phrases that comments and the names of tests must not have either.
    private static let inComments: [(pattern: String, instead: String)] = [
        (#"\b(stands?|stood)\b(?! for| alone)"#, "is"), (#"\bwhat becomes of\b"#, "what to do with"),
        (#"\bbegins? like none\b"#, "not a recognized image format"),
        (#"\bwhat runs is finished\b"#, "finishing running jobs"),
        (#"\bits content says\b"#, "is detected from the content"),
        (#"\bbroken world\b"#, "trouble with the environment"),
        (#"\b(nil|empty|negative|none|false) where\b"#, "if"), (#"- Throws:[^.]*\bwhere\b"#, "if"),
        (#"\b(are|is|was|were) told\b(?! from| apart)"#, "gets, is shown"),
        (#"\bare walked\b"#, "are searched"), (#"\bin the works\b"#, "under way"),
        (#"\bto (its|their) depth\b"#, "recursively"),
        (#"\bnothing is begun\b"#, "starting no new ones"), (#"\bdecoder judges\b"#, "is decoded anyway"),
    ]

    /// Words that no comment begins with, since its noun is missing then.
    private static let openings = ["Of", "What", "Who", "Which"]

    /// Each phrase has one of these in it; most lines have none, and to look for words is quick.
    private static let parts = [
        "stand", "becomes", "depth", "told", "where", "none", "finished", "behind", "works", "walked", "says", "world",
        "begun", "judges", "stood",
    ]

    private func found(in text: String) throws -> [String] {
        try found(Self.phrases + Self.inComments.dropFirst(), in: text)
    }

    private func found(_ phrases: [(pattern: String, instead: String)], in text: String) throws -> [String] {
        let lowered = text.lowercased()
        guard Self.parts.contains(where: { lowered.contains($0) }) else { return [] }
        return try phrases.flatMap { phrase in
            text.matches(of: try Regex(phrase.pattern).ignoresCase()).map {
                "'\(text[$0.range])': write '\(phrase.instead)'"
            }
        }
    }

    /// Words of other programs, and names of colors that CSS has in both spellings.
    private static let quotations = ["| `sharp -i photos/*.jpg -o out greyscale` |"]

    @Test(
        arguments: ["README.md", "CHANGELOG.md", "SECURITY.md"]
            + ["docs", "Benchmarks", "Tests"].flatMap { Checkout.files(below: $0, extension: "md") }
            + ["html", "css", "js", "swift"].flatMap { Checkout.files(below: "Sources", extension: $0) }
            + ["1", "5"].flatMap { Checkout.files(below: "docs/man", extension: $0) }
            + Checkout.files(below: "docs/schema", extension: "json")
            + ["pipelines", "deploy"].flatMap { Checkout.files(below: $0, extension: "yaml") })
    func `color and gray have one spelling in everything that a user reads or writes`(file: String) throws {
        // Synonyms are what other programs write, and libvips has operations of its own.
        let others = ["Diagnostics/Synonyms.swift", "Values/ColorNames.swift", "Sources/Vips/"]
        guard !others.contains(where: file.contains) else { return }
        for (number, line) in try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            // To look for words is quick, and most lines have none.
            let lowered = line.lowercased()
            guard lowered.contains("colour") || lowered.contains("grey"),
                !Self.quotations.contains(where: line.contains)
            else { continue }
            var texts = [String(line)]
            if file.hasSuffix(".swift") {
                // Names in the code, also those within texts, are nobody's reading.
                let code = line.drop { $0 == " " }
                guard !code.hasPrefix("//") else { continue }
                texts = line.replacing(/\\\([^()]*(\([^()]*\)[^()]*)*\)/, with: "").matches(of: /"((?:[^"\\]|\\.)*)"/)
                    .map {
                        String($0.output.1)
                    }
            }
            for text in texts where text.firstMatch(of: /(?i)colour|\bgrey/) != nil {
                Issue.record("\(file):\(number + 1): write 'color' and 'gray': \(text)")
            }
        }
    }

    @Test(arguments: ["README.md", "CHANGELOG.md"] + Checkout.files(below: "docs", extension: "md"))
    func `documents for users have none of the phrases`(page: String) throws {
        // Decisions and the architecture are for those who change the program.
        guard !page.hasPrefix("docs/decisions/"), page != "docs/architecture.md" else { return }
        for (number, line) in try Checkout.text(page).split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            for phrase in try found(in: String(line)) { Issue.record("\(page):\(number + 1): \(phrase)") }
        }
    }

    @Test(arguments: Checkout.files(below: "Sources", extension: "swift"))
    func `messages and help have none of the phrases`(file: String) throws {
        for (number, line) in try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let text = line.drop { $0 == " " }
            guard !text.hasPrefix("//") else { continue }
            // Texts in quotes, and lines of longer texts, which have no braces or calls.
            let quoted = line.matches(of: /"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) }
            let isProse =
                !text.contains("\"") && text.split(separator: " ").count > 8 && !text.contains("{")
                && !text.contains("(")
            for phrase in try (quoted + (isProse ? [String(text)] : [])).flatMap(found) {
                Issue.record("\(file):\(number + 1): \(phrase)")
            }
        }
    }

    @Test(
        arguments: Checkout.files(below: "Sources", extension: "swift")
            + Checkout.files(below: "Tests", extension: "swift"))
    func
        `no comment begins with 'Of' or 'What', none and no test's name has one of the phrases, and no header asks a question`(
            file: String
        ) throws
    {
        let lines = try Checkout.text(file).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            !lines.prefix { $0.hasPrefix("//") }.contains { $0.contains("?") }, "\(file): the header asks a question")
        for (number, line) in lines.enumerated() {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("//") || text.hasPrefix("func `") || text.hasPrefix("@Test func `") {
                for phrase in try found(Self.inComments, in: String(text)) {
                    Issue.record("\(file):\(number + 1): \(phrase)")
                }
            }
            let isHeadless = Self.openings.contains { text.hasPrefix("/// \($0) ") || text.hasPrefix("// \($0) ") }
            let continues = number > 0 && lines[number - 1].drop { $0 == " " }.hasPrefix("//")
            #expect(!isHeadless || continues, "\(file):\(number + 1): say what it is: \(text)")
        }
    }
    @Test(arguments: Checkout.files(below: "Tests", extension: "swift"))
    func `a test's name is its function's, a sentence in backticks`(file: String) throws {
        for match in try Checkout.text(file).matches(of: /(?m)^ *@Test\b(?s:(.*?))\bfunc (.*)$/) {
            #expect(match.output.2.hasPrefix("`"), "\(file): func \(match.output.2)")
            #expect(match.output.1.firstMatch(of: /^\(\s*#*"/) == nil, "\(file):\(match.output.1)")
        }
    }
}
