// Who may import whom: section 2 of the design, held against the import lines of the sources.
import TestSupport
import Testing

@Suite struct ImportTableTests {
    private static let table: [String: Set<String>] = [
        "Vips": ["CVips", "CResample", "Glibc", "Synchronization"],
        "Pipeline": ["Yams", "FoundationEssentials"],
        "Stages": ["Pipeline", "Vips", "Glibc"],
        "Engine": [
            "Pipeline", "Stages", "Vips", "CLinux", "Glibc", "Synchronization", "FoundationEssentials", "GRDB", "Crypto", "Logging",
        ],
        "imagemill": [
            "Engine", "Pipeline", "Stages", "Vips", "Glibc", "Synchronization", "FoundationEssentials", "GRDB", "Crypto", "Logging",
            "ArgumentParser",
            "FlyingFox",
        ],
    ]

    /// The modules that a file imports, whatever stands before `import`.
    private func imports(_ path: String) throws -> [String] {
        try Checkout.text(path).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"), words[..<place].allSatisfy(isModifier), words.count > place + 1 else {
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

    @Test("Every target imports what the table allows, and nothing else", arguments: table.keys.sorted())
    func target(name: String) throws {
        let files = Checkout.files(below: "Sources/\(name)", extension: "swift")
        #expect(!files.isEmpty)
        let allowed = try #require(Self.table[name])
        var seen: Set<String> = []
        for file in files {
            for module in try imports(file) {
                seen.insert(module)
                #expect(allowed.contains(module), "\(file) imports \(module), which \(name) may not: see docs/architecture.md")
            }
        }
        // The reading of the lines itself is at work.
        #expect(!seen.isEmpty)
    }

    @Test("Yams is imported by one file alone")
    func yams() throws {
        let files = try Checkout.files(below: "Sources", extension: "swift").filter { try imports($0).contains("Yams") }
        #expect(files == ["Sources/Pipeline/YAML/YAMLDocument.swift"])
    }

    @Test("Every target of Swift stands in the table")
    func complete() {
        let folders = Set(Checkout.files(below: "Sources", extension: "swift").map { String($0.split(separator: "/")[1]) })
        #expect(folders == Set(Self.table.keys))
    }
}
