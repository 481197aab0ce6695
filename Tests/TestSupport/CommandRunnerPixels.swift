// Pixels of what the program wrote, and pictures with facts that a header can state.
import Foundation
package import Vips

extension CommandRunner {
    /// Writes a picture by one of libvips' savers.
    package func save(
        _ name: String, as saver: String, _ options: [(String, Argument)] = [], _ image: () throws -> Image
    ) async throws {
        try await inVipsTurn { _ = try TestPicture.save(image(), as: saver, options, to: folder.path(name)) }
    }

    /// The answer to a question about a rendition, asked while libvips is this test's own.
    package func inspect<Value>(
        _ name: String, by loader: String, _ options: [(String, Argument)] = [], _ question: (Image) throws -> Value
    ) async throws -> Value {
        try await inVipsTurn { try question(TestPicture.load(folder.path(name), by: loader, options)) }
    }

    /// Runs a pipeline with one rendition over the folder `in` into `out`.
    package func render(stages: String = "[]", save: String, more: String = "") async throws -> CommandResult {
        let text = "\(more)\nrenditions:\n  a:\n    stages: \(stages)\n    save: \(save)\n    file: \"{stem}.{ext}\"\n"
        try folder.write(text, to: "p.yaml")
        return try await run("run", "p.yaml", "in", "-o", "out")
    }
}
