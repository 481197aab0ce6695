// The entries of a folder for tests, hidden files included.
import Foundation
import TestSupport

extension TemporaryFolder {
    /// Every file and folder below, as sorted paths.
    func entries() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
}
