// A folder for one test, removed with its owner.
import Foundation

/// A folder of its own for one test; removed with this object.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let template = FileManager.default.temporaryDirectory.appendingPathComponent(
            "imagemill-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
        path = template.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in the folder.
    package func path(_ name: String) -> String { path + "/" + name }

    /// Writes a file, with the folders above it, and gives its path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let url = URL(fileURLWithPath: path(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url.path
    }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }
}
