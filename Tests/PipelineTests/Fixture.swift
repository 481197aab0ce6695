// Fixtures in one file each: a pipeline or a mill file, a line of dashes, then the messages that it must bring.
import Foundation
import Testing

/// A file with mistakes and what must be said of it.
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String
    let input: String
    let expected: String

    var testDescription: String { name }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// Pipelines.
    static let all = fixtures(in: "pipelines")
    /// Mill files.
    static let mills = fixtures(in: "mills")

    private static func fixtures(in name: String) -> [Fixture] {
        let folder = folder.appending(path: name)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().compactMap { Fixture($0, in: folder) }
    }

    private init?(_ file: String, in folder: URL) {
        let dashes = "\n----------\n"
        guard let text = try? String(contentsOf: folder.appending(path: file), encoding: .utf8),
            let line = text.range(of: dashes)
        else { return nil }
        name = String(file.dropLast(".txt".count))
        input = String(text[..<line.lowerBound]) + "\n"
        expected = text[line.upperBound...].trimmingCharacters(in: .newlines)
    }
}
