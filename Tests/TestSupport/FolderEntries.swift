// The entries of a folder for tests, hidden files included.
import Foundation

extension TemporaryFolder {
    /// Every file and folder below, as sorted paths.
    package func entries() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() }

    package func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
}
