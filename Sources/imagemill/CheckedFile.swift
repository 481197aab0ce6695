// The entry of `imagemill check --json` for one file, and its schema.
import Engine
import Pipeline

/// One file that was checked.
struct CheckedFile {
    private let file: String
    private let mistakes: [JSONValue]
    private let warnings: [String]

    /// A file that is good.
    /// - Parameter warnings: what may keep it from being used, but is no mistake in it.
    init(_ file: String, warnings: [String]) { (self.file, mistakes, self.warnings) = (file, [], warnings) }

    /// A file that is not.
    init(_ file: String, _ error: any Error) {
        self.file = file
        warnings = []
        mistakes =
            switch error {
            case let diagnostics as Diagnostics: Self.entries(diagnostics)
            case let problems as MillProblems:
                problems.mistakes.flatMap(Self.entries)
                    + problems.refusals.map { ["file": .string(file), "message": .string($0)] }
            default: [["file": .string(file), "message": .string("\(error)")]]
            }
    }

    private static func entries(_ diagnostics: Diagnostics) -> [JSONValue] {
        diagnostics.items.map { item in
            [
                "file": .string(diagnostics.file), "line": .int(item.position.line),
                "column": .int(item.position.column),
                "message": .string(item.message),
            ]
        }
    }

    /// The document of several files.
    static func document(_ files: [CheckedFile]) -> JSONValue {
        let entries = files.map { file -> JSONValue in
            [
                "file": .string(file.file), "good": .bool(file.mistakes.isEmpty), "mistakes": .array(file.mistakes),
                "warnings": .array(file.warnings.map { .string($0) }),
            ]
        }
        return ["schema": "imagemill.check/1", "files": .array(entries)]
    }

    static var schema: JSONValue {
        let text: JSONValue = ["type": "string"]
        let number: JSONValue = ["type": "integer", "minimum": 1]
        let mistake = ReportSchema.object(
            ["file": text, "message": text], optional: ["line": number, "column": number])
        let file = ReportSchema.object([
            "file": text, "good": ["type": "boolean"], "mistakes": ["type": "array", "items": mistake],
            "warnings": ["type": "array", "items": text],
        ])
        let document = ReportSchema.object([
            "schema": ["const": "imagemill.check/1"], "files": ["type": "array", "items": file],
        ])
        return document.merging([
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Imagemill: what is wrong with pipeline files and mill files",
        ])
    }
}
