// The imports that each module may have, and the folders of the engine that each folder may name: the tables of
// docs/architecture.md, compared with the sources.
import Foundation
import TestSupport
import Testing

@testable import System

/// A table of docs/architecture.md: its first column is a name in backquotes, its last one lists names in backquotes or
/// words.
private struct ArchitectureTable {
    /// The last column of each row, by the first.
    let rows: [String: [String]]

    init(under heading: String) throws {
        let text = try Checkout.text("docs/architecture.md")
        let section = try #require(
            text.components(separatedBy: "\n## ").first { $0.hasPrefix(heading + "\n") }, "no section '\(heading)'")
        var rows: [String: [String]] = [:]
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let name = cells[0].filter { $0 != "`" && $0 != "/" }
            let words = (cells.last ?? "").split { !$0.isLetter && !$0.isNumber }.map(String.init)
            rows[name] = words.filter { $0.first?.isUppercase == true }
        }
        self.rows = rows
    }
}

@Suite struct ImportTableTests {
    private static let targets = [
        "Kernels", "Vips", "Pipeline", "Typesetting", "Stages", "System", "Postgres", "Messages", "Render", "Engine",
        "imagemill",
    ]

    /// The modules that a file imports, whatever comes before `import`.
    private func imports(_ path: String) throws -> [String] {
        try Checkout.text(path).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"), words[..<place].allSatisfy(isModifier),
                words.count > place + 1
            else {
                return nil
            }
            // `import struct Foundation.URL` names the module after the kind.
            let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let"]
            let name = kinds.contains(words[place + 1]) && words.count > place + 2 ? words[place + 2] : words[place + 1]
            return String(name.prefix { $0 != "." && $0 != ";" })
        }
    }

    private func isModifier(_ word: Substring) -> Bool {
        ["public", "package", "internal", "fileprivate", "private"].contains(word) || word.hasPrefix("@")
    }

    @Test(arguments: targets)
    func `every target imports what the table in docs/architecture.md allows, and nothing else`(name: String) throws {
        let files = Checkout.files(below: "Sources/\(name)", extension: "swift")
        #expect(!files.isEmpty)
        let allowed = Set(try #require(try ArchitectureTable(under: "Targets").rows[name]))
        var seen: Set<String> = []
        for file in files {
            for module in try imports(file) {
                seen.insert(module)
                #expect(
                    allowed.contains(module),
                    "\(file) imports \(module), which \(name) may not: see docs/architecture.md")
            }
        }
        // The reading of the lines itself is at work.
        #expect(!seen.isEmpty)
        #expect(
            allowed.subtracting(seen).isEmpty,
            "\(name) does not import \(allowed.subtracting(seen).sorted()), which the table lists")
    }

    @Test func `Yams is imported by one file alone`() throws {
        let files = try Checkout.files(below: "Sources", extension: "swift").filter { try imports($0).contains("Yams") }
        #expect(files == ["Sources/Pipeline/YAML/YAMLDocument.swift"])
    }

    @Test
    func `nothing asks for a calendar, a time zone or a language: the program has none of ICU's data, see decision 43`()
        throws
    {
        let words =
            /\b(Calendar|TimeZone|Locale|\w*FormatStyle|\w*Formatter|date(En|De)codingStrategy|localized[A-Z]\w*)\b/
            .wordBoundaryKind(.simple)
        for file in Checkout.files(below: "Sources", extension: "swift") {
            #expect(try Checkout.text(file).firstMatch(of: words)?.output.0 == nil, "\(file)")
        }
        #expect(
            "encoder.dateEncodingStrategy = .iso8601".contains(words) && "Date.ISO8601FormatStyle()".contains(words))
    }

    @Test func `every target of Swift is in the table`() throws {
        let folders = Set(
            Checkout.files(below: "Sources", extension: "swift").map { String($0.split(separator: "/")[1]) })
        #expect(folders == Set(Self.targets))
        #expect(folders.isSubset(of: try ArchitectureTable(under: "Targets").rows.keys))
    }
}

@Suite struct EngineFolderTests {
    /// A file's text without comments and the contents of strings.
    private func code(_ path: String) throws -> String {
        var text = try Checkout.text(path)
        for pattern in [#""""[\s\S]*?""""#, #""(\\.|[^"\\\n])*""#, #"/\*[\s\S]*?\*/"#, #"//.*"#] {
            text = text.replacingOccurrences(of: pattern, with: "\"\"", options: .regularExpression)
        }
        return text
    }

    private func words(_ text: String, _ pattern: String, group: Int) throws -> [String] {
        let expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
        let range = NSRange(text.startIndex..., in: text)
        return expression.matches(in: text, range: range).compactMap {
            Range($0.range(at: group), in: text).map { String(text[$0]) }
        }
    }

    /// The folders that each folder names types of, with an example of each.
    private func references() throws -> [String: [String: String]] {
        let files = Checkout.files(below: "Sources/Engine", extension: "swift")
        let texts = try files.map { ($0, String($0.split(separator: "/")[2]), try code($0)) }
        let declaration =
            #"^(?:(?:package|public|internal|final|indirect|nonisolated|@\w+(?:\([^)]*\))?)\s+)*(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)"#
        // Types of one file, and types inside of others, are not seen from another folder; but they hide what has the
        // same name.
        let anyDeclaration = #"\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)"#
        var own: [String: Set<String>] = [:]
        var homes: [String: String] = [:]
        for (_, folder, text) in texts { own[folder, default: []].formUnion(try words(text, anyDeclaration, group: 1)) }
        for (_, folder, text) in texts {
            for type in try words(text, declaration, group: 1) { homes[type] = homes[type] ?? folder }
        }
        #expect(homes.count > 100, "the types are found")
        var found: [String: [String: String]] = [:]
        for (file, folder, text) in texts {
            for word in Set(try words(text, #"\b([A-Z]\w*)"#, group: 1)) {
                guard let home = homes[word], home != folder, !own[folder, default: []].contains(word) else { continue }
                found[folder, default: [:]][home] = "\(file) names \(word)"
            }
        }
        return found
    }

    @Test func `a folder of the engine names only the types that the table in docs/architecture.md allows`() throws {
        let table = try ArchitectureTable(under: "The engine, folder by folder").rows
        let folders = Set(
            Checkout.files(below: "Sources/Engine", extension: "swift").map { String($0.split(separator: "/")[2]) })
        #expect(folders == Set(table.keys))
        for (folder, named) in try references() {
            for (other, example) in named {
                #expect(table[folder]?.contains(other) == true, "\(folder) may not name \(other): \(example)")
            }
        }
    }

    @Test func `no two folders may name each other, directly or in a ring`() throws {
        let table = try ArchitectureTable(under: "The engine, folder by folder").rows
        for start in table.keys {
            var reached: Set<String> = []
            var rest = table[start] ?? []
            while let next = rest.popLast() { if reached.insert(next).inserted { rest += table[next] ?? [] } }
            #expect(!reached.contains(start), "\(start) leads back to itself")
        }
    }

    @Test func `no source names the clock that goes on while the machine sleeps`() throws {
        for file in Checkout.files(below: "Sources", extension: "swift") {
            #expect(try !Checkout.text(file).contains("ContinuousClock"), "\(file): use SuspendingClock or Moment")
        }
    }
}
