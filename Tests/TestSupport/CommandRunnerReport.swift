// The batch document as a program of somebody else would read it.
import Foundation

/// `imagemill run`'s report.
package struct BatchDocument: Decodable, Sendable {
    package struct Summary: Decodable, Equatable, Sendable {
        package let sources, done, failed, skipped, renditions, milliseconds: Int
        package let interrupted: Bool
    }

    package struct Entry: Decodable, Sendable {
        package struct Source: Decodable, Equatable, Sendable {
            package let path: String
            package let location: String?
            package let bytes, width, height: Int?
            package let format, sha256: String?
            package let pathBytes: String?

            private enum CodingKeys: String, CodingKey {
                case path, location, bytes, width, height, format, sha256
                case pathBytes = "path-bytes"
            }
        }

        package struct Rendition: Decodable, Equatable, Sendable {
            package let name, path, format: String
            package let scale, width, height: Int
            package let bytes, frames, quality, trials: Int?
            package let ssim: Double?
            package let cached: Bool
            package let sha256, pathBytes, color, thumbhash: String?
            package let original, preview: Bool?

            private enum CodingKeys: String, CodingKey {
                case name, path, format, scale, width, height, bytes, frames, quality, trials, ssim, cached, sha256
                case color, thumbhash, original, preview
                case pathBytes = "path-bytes"
            }
        }

        package struct Document: Decodable, Equatable, Sendable {
            package let name, path: String
        }

        package struct Failure: Decodable, Equatable, Sendable {
            package let code, stage, message: String
            package let retryable: Bool
            package let detail: String?
        }

        package struct Warning: Decodable, Equatable, Sendable {
            package let code, message: String
        }

        package let schema, status, pipeline: String
        package let source: Source
        package let renditions: [Rendition]
        package let documents: [Document]?
        package let warnings: [Warning]
        package let error: Failure?
        package let attempt: Int
        /// Bytes that the worker had at most.
        package let peakMemory: Int?
        /// Bytes that it was expected to have at most.
        package let predictedMemory: Int?

        private enum CodingKeys: String, CodingKey {
            case schema, status, pipeline, source, renditions, documents, warnings, error, attempt
            case peakMemory = "peak-memory-bytes"
            case predictedMemory = "predicted-memory-bytes"
        }
    }

    package let schema: String
    package let sources: [Entry]
    package let summary: Summary

    package init(text: String) throws { self = try JSONDecoder().decode(BatchDocument.self, from: Data(text.utf8)) }

    package init(file: String) throws {
        self = try JSONDecoder().decode(BatchDocument.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    }

    /// The document of a source by its path.
    package subscript(path: String) -> Entry? { sources.first { $0.source.path == path } }

    /// Sources and the code each failed with, or `done`.
    package var outcomes: [String: String] {
        Dictionary(sources.map { ($0.source.path, $0.error?.code ?? $0.status) }) { first, second in
            "\(first), \(second)"
        }
    }

    /// Sources and the paths of their renditions.
    package var names: [String: [String]] {
        Dictionary(sources.map { ($0.source.path, $0.renditions.map(\.path)) }) { $0 + $1 }
    }
}

extension CommandRunner {
    /// The report in the output folder `out`.
    package func report(_ path: String = "out/.imagemill/report.json") throws -> BatchDocument {
        try BatchDocument(file: folder.path(path))
    }

    /// Every file below a folder that is no file of Imagemill's own, sorted; none if the folder is missing.
    package func files(in name: String = "out") -> [String] {
        let all = FileManager.default.subpaths(atPath: folder.path(name)) ?? []
        return all.filter { path in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: folder.path(name) + "/" + path, isDirectory: &isFolder)
            return exists && !isFolder.boolValue && !path.hasPrefix(".imagemill/")
        }.sorted()
    }

    package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.path(name)) }

    package func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path(name))))
    }
}
