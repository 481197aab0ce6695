// The renditions in an output folder as pages and programs that show them want them: by source, format and width.
import Messages
package import Pipeline
import System

/// A manifest: every rendition that is there, and the sources that have failed.
package struct Manifest: Sendable {
    package struct Source: Sendable {
        package let path: BytePath
        /// From the output folder, which tells sources of several folders apart.
        let location: BytePath
        /// Pixels as a person sees them, of one frame; of the first member of a set.
        let size: PixelSize?
        /// As CSS writes it: `#a0b1c2`; nil if it is not wanted.
        package let color: String?
        /// In base64; nil if it is not wanted.
        let thumbHash: String?
        package let renditions: [Rendition]

        /// The paths of all its files, from the output folder.
        package var files: [BytePath] { renditions.flatMap(\.formats).flatMap(\.files).map(\.path) }
    }

    /// A rendition of the pipeline in all its formats.
    package struct Rendition: Sendable {
        package let name: String
        /// In the order of the pipeline.
        package let formats: [Format]
    }

    package struct Format: Sendable {
        package let format: OutputFormat
        /// The smallest first.
        package let files: [File]
    }

    package struct File: Sendable {
        /// From the output folder.
        package let path: BytePath
        package let size: PixelSize
        package let scale: Int
        /// Those of the archive, for a folder that was unpacked from one.
        let bytes: Int
        /// Nil for a folder.
        let digest: String?
        var isFolder: Bool { digest == nil }
    }

    package struct Failed: Sendable {
        package let path: BytePath
        /// With its code in front.
        package let message: String
    }

    package private(set) var sources: [Source] = []
    package private(set) var failed: [Failed] = []

    /// - Parameter record: of the output folder, after a run.
    /// - Throws: `StoreError`, or `SystemError` if a rendition cannot be read that has no digest yet.
    package init(_ record: OutboxRecord) throws {
        let outbox = record.location.path
        for result in try record.results() {
            if let failure = result.failure {
                if record.location.isGone(result.source) { continue }
                failed.append(Failed(path: result.relative, message: failure))
                continue
            }
            guard let report = SourceReport(document: result.document) else { continue }
            let files = try report.renditions.compactMap { try Self.file($0, in: outbox) }
            if !files.isEmpty { sources.append(Source(report, at: result.source, files)) }
        }
    }

    /// A rendition; nil if it is not there any more.
    private static func file(
        _ entry: SourceReport.RenditionEntry, in outbox: BytePath
    ) throws(SystemError) -> (entry: SourceReport.RenditionEntry, file: File)? {
        let path = outbox.appending(entry.path)
        guard let status = try FileSystem.status(path) else { return nil }
        var digest: String?
        switch status.kind {
        case .directory: break
        case .regular where status.bytes == entry.bytes:
            digest = if let known = entry.sha256 { known } else { try Digest.of(OpenFile.reading(path)) }
        default: return nil
        }
        let file = File(
            path: entry.path, size: entry.size, scale: entry.scale, bytes: entry.bytes ?? 0, digest: digest)
        return (entry, file)
    }
}

extension Manifest.Source {
    fileprivate init(
        _ report: SourceReport, at location: BytePath,
        _ files: [(entry: SourceReport.RenditionEntry, file: Manifest.File)]
    ) {
        (path, self.location) = (report.source.path, location)
        let facts = report.source.facts ?? report.source.members?.first?.facts
        size = facts.map { $0.orientation >= 5 ? $0.size.transposed : $0.size }
        let look = files.firstFound(\.entry.look)
        (color, thumbHash) = (look?.cssColor, look?.base64)
        renditions = files.grouped(by: \.entry.name).map { name, files in
            let formats = files.grouped(by: \.entry.format).map { format, files in
                Manifest.Format(
                    format: format,
                    files: files.map(\.file).sorted { ($0.size.width, $0.scale) < ($1.size.width, $1.scale) })
            }
            return Manifest.Rendition(name: name, formats: formats)
        }
    }
}

extension Array {
    /// The elements by a key, in the order in which the keys are first met.
    fileprivate func grouped<Key: Hashable>(by key: (Element) -> Key) -> [(key: Key, elements: [Element])] {
        let groups = Dictionary(grouping: self, by: key)
        var known: Set<Key> = []
        return compactMap { element in
            let key = key(element)
            return known.insert(key).inserted ? (key, groups[key] ?? []) : nil
        }
    }
}

// MARK: - As JSON

extension Manifest: Encodable {
    private enum Key: String, CodingKey {
        case schema, sources, failed
        case source, location, width, height, color, thumbhash, renditions
        case name, formats, format, type, files
        case path, url, scale, bytes, sha256, error
        case pathBytes = "path-bytes"
        case sourceBytes = "source-bytes"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("imagemill.manifest/1", forKey: .schema)
        var list = container.nestedUnkeyedContainer(forKey: .sources)
        for source in sources {
            var entry = list.nestedContainer(keyedBy: Key.self)
            try entry.encode(source.path.text, forKey: .source)
            try entry.encodeIfPresent(source.path.percentEncodedIfNotText, forKey: .sourceBytes)
            try entry.encode(source.location.text, forKey: .location)
            try entry.encodeIfPresent(source.size?.width, forKey: .width)
            try entry.encodeIfPresent(source.size?.height, forKey: .height)
            try entry.encodeIfPresent(source.color, forKey: .color)
            try entry.encodeIfPresent(source.thumbHash, forKey: .thumbhash)
            var renditions = entry.nestedUnkeyedContainer(forKey: .renditions)
            for rendition in source.renditions { try encode(rendition, to: &renditions) }
        }
        var failures = container.nestedUnkeyedContainer(forKey: .failed)
        for failure in failed {
            var entry = failures.nestedContainer(keyedBy: Key.self)
            try entry.encode(failure.path.text, forKey: .source)
            try entry.encodeIfPresent(failure.path.percentEncodedIfNotText, forKey: .sourceBytes)
            try entry.encode(failure.message, forKey: .error)
        }
    }

    private func encode(_ rendition: Rendition, to list: inout any UnkeyedEncodingContainer) throws {
        var entry = list.nestedContainer(keyedBy: Key.self)
        try entry.encode(rendition.name, forKey: .name)
        var formats = entry.nestedUnkeyedContainer(forKey: .formats)
        for format in rendition.formats {
            var entry = formats.nestedContainer(keyedBy: Key.self)
            try entry.encode(format.format, forKey: .format)
            let isFolder = format.files.contains(where: \.isFolder)
            try entry.encode(isFolder ? "inode/directory" : format.format.declaration.mediaType, forKey: .type)
            var files = entry.nestedUnkeyedContainer(forKey: .files)
            for file in format.files {
                var entry = files.nestedContainer(keyedBy: Key.self)
                try entry.encode(file.path.text, forKey: .path)
                try entry.encodeIfPresent(file.path.percentEncodedIfNotText, forKey: .pathBytes)
                try entry.encode(file.path.percentEncoded, forKey: .url)
                try entry.encode(file.size.width, forKey: .width)
                try entry.encode(file.size.height, forKey: .height)
                try entry.encode(file.scale, forKey: .scale)
                try entry.encode(file.bytes, forKey: .bytes)
                try entry.encodeIfPresent(file.digest, forKey: .sha256)
            }
        }
    }

    /// Its JSON Schema.
    package static var schema: JSONValue {
        let text: JSONValue = ["type": "string"]
        let (side, count): (JSONValue, JSONValue) = (
            ["type": "integer", "minimum": 1], ["type": "integer", "minimum": 0]
        )
        let bytes: JSONValue = [
            "type": "string", "description": "The path's bytes, percent-encoded; only where the path is not UTF-8.",
        ]
        func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }
        let file = ReportSchema.object(
            [
                "path": ["type": "string", "description": "From the output folder."],
                "url": ["type": "string", "description": "The same, escaped for an address."],
                "width": side, "height": side, "scale": side, "bytes": count,
            ],
            optional: [
                "path-bytes": bytes,
                "sha256": ["type": "string", "pattern": "^[0-9a-f]{64}$", "description": "Of all but folders."],
            ])
        let formats: JSONValue = ["enum": .array(OutputFormat.allCases.map { .string($0.rawValue) })]
        let format = ReportSchema.object([
            "format": formats, "type": ["type": "string", "description": "The media type."], "files": list(file),
        ])
        let rendition = ReportSchema.object(["name": text, "formats": list(format)])
        let source = ReportSchema.object(
            [
                "source": text, "renditions": list(rendition),
                "location": [
                    "type": "string",
                    "description":
                        "The source's path from the output folder, which tells those of several folders apart.",
                ],
            ],
            optional: [
                "source-bytes": bytes, "width": side, "height": side,
                "color": ["type": "string", "pattern": "^#[0-9a-f]{6}$"], "thumbhash": text,
            ])
        let failure = ReportSchema.object(["source": text, "error": text], optional: ["source-bytes": bytes])
        return ReportSchema.object([
            "schema": ["const": "imagemill.manifest/1"], "sources": list(source), "failed": list(failure),
        ]).merging([
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Imagemill manifest: the renditions in an output folder",
        ])
    }
}
