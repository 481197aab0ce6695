// The result of one shard: the document whose presence means that the shard is done.
import FoundationEssentials
package import Pipeline
import System

/// The result of a shard.
package struct ShardResult: Codable, Equatable, Sendable {
    /// A source that failed. Its report has more.
    package struct Failed: Codable, Equatable, Sendable {
        package let path: String
        /// The path's bytes, percent-encoded, if it is not UTF-8.
        package let pathBytes: String?
        package let code: FailureCode
        package let stage: String
        package let message: String

        private enum CodingKeys: String, CodingKey {
            case path, code, stage, message
            case pathBytes = "path-bytes"
        }

        init(_ source: BytePath, _ failure: Failure) {
            path = source.text
            pathBytes = source.percentEncodedIfNotText
            code = failure.code
            stage = failure.stage
            message = failure.message
        }
    }

    package var schema = "imagemill.shard/1"
    /// The plan's id.
    package let plan: String
    package let shard: Int
    /// SHA-256 of the shard's list of sources.
    package let list: String
    /// The folder or the tar of its renditions, from the output folder.
    package let folder: String
    /// The host that did it.
    package let node: String
    package let started: String
    package let milliseconds: Int
    package let engine: String
    package let sources: Int
    package let done: Int
    package let failed: Int
    package let renditions: Int
    /// The bytes of all renditions.
    package let bytes: Int
    /// How often each warning was given.
    package let warnings: [String: Int]
    package let failures: [Failed]

    /// Returns true if the numbers are in a range that can be summed over all shards. Others may write to the folder
    /// that results are read from.
    var isPlausible: Bool {
        let counts = [sources, done, failed, renditions, milliseconds] + warnings.values
        return counts.allSatisfy((0...1 << 40).contains) && (0...1 << 46).contains(bytes)
    }
}

/// A document of ours, read again; nil if it is none.
func decoded<Document: Decodable>(_ bytes: [UInt8]) -> Document? {
    try? JSONDecoder().decode(Document.self, from: Data(bytes))
}
