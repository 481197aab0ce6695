// Where things are in the checkout and beside it.
import Foundation

package enum Checkout {
    /// The folder that holds Package.swift.
    package static let path = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Pictures of other people's, which not every checkout has beside it.
    package static let corpus = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(
        "shared/corpus"
    ).path

    package static var hasCorpus: Bool { FileManager.default.fileExists(atPath: corpus) }

    package static func text(_ name: String) throws -> String {
        try String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }

    /// Files below a folder of the checkout, by extension, as paths from the checkout.
    package static func files(below name: String, extension suffix: String) -> [String] {
        let all = FileManager.default.subpaths(atPath: path + "/" + name) ?? []
        return all.filter { $0.hasSuffix("." + suffix) }.sorted().map { "\(name)/\($0)" }
    }
}

package enum TestMachine {
    package static var isRoot: Bool { geteuid() == 0 }
}
