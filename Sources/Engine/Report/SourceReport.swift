// What was done with one source: the document that people and programs read. Its schema is in docs/schema/.
import Glibc
package import Pipeline
import Vips

/// The version of this program.
package let imagemillVersion = "0.1.0"

/// One source's report, as JSON.
package struct SourceReport: Sendable, Encodable {
    package enum Status: String, Sendable, Encodable, CaseIterable {
        case done, failed, planned
        /// Nothing has changed since it was done; its document is that of then.
        case skipped
    }

    package struct Source: Sendable, Encodable {
        package var path: BytePath
        /// In a run, the path as the user would type it, for messages. Not in the document.
        package var typed: BytePath?
        /// In a run, the path from the output folder, which tells sources of several folders apart.
        package var location: BytePath?
        package var bytes: Int?
        package var sha256: String?
        package var facts: SourceFacts?
        /// The pictures of a set, in their order.
        package var members: [Member]?
    }

    package struct Member: Sendable, Encodable {
        package let path: BytePath
        package let bytes: Int
        package let facts: SourceFacts
    }

    package struct RenditionEntry: Sendable, Encodable {
        package var name: String
        package var scale: Int
        package var path: BytePath
        package var format: OutputFormat
        package var size: PixelSize
        package var frames: Int
        /// nil if nothing was written.
        package var bytes: Int?
        package var sha256: String?
        /// It was copied from the cache.
        package var cached = false
    }

    package struct Times: Sendable, Encodable {
        package var wait = 0
        package var render = 0
        package var publish = 0
    }

    package var status: Status
    package let pipeline: String
    /// The name of the inbox, for a drop folder.
    package var inbox: String?
    package var source: Source
    package var renditions: [RenditionEntry] = []
    package var warnings: [Warning] = []
    package var error: Failure?
    package var attempt = 1
    package let started: String
    package var milliseconds = Times()
    /// Bytes that the worker had at most while it rendered the source; since it was started, if the system does not
    /// tell them apart.
    package var peakMemory: Int?
    /// Bytes that the worker was expected to need at most.
    package var predictedMemory: Int?

    package init(status: Status, pipeline: String, source: BytePath) {
        self.status = status
        self.pipeline = pipeline
        self.source = Source(path: source)
        started = timestamp()
    }

    /// Nothing was published.
    mutating func fail(_ failure: Failure, attempts: Int) {
        status = .failed
        error = failure
        renditions = []
        attempt = max(attempt, attempts)
    }
}

// The keys, in one place for each object.

extension SourceReport {
    private enum Key: String, CodingKey {
        case schema, status, pipeline, inbox, source, renditions, warnings, error, attempt, started, milliseconds,
            engine
        case peakMemory = "peak-memory-bytes"
        case predictedMemory = "predicted-memory-bytes"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("imagemill.report/1", forKey: .schema)
        try container.encode(status, forKey: .status)
        try container.encode(pipeline, forKey: .pipeline)
        try container.encodeIfPresent(inbox, forKey: .inbox)
        try container.encode(source, forKey: .source)
        try container.encode(renditions, forKey: .renditions)
        try container.encode(warnings, forKey: .warnings)
        try container.encode(error.map { FailureEntry($0, in: inbox == nil ? .command : .millFile) }, forKey: .error)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(started, forKey: .started)
        try container.encode(milliseconds, forKey: .milliseconds)
        try container.encodeIfPresent(peakMemory, forKey: .peakMemory)
        try container.encodeIfPresent(predictedMemory, forKey: .predictedMemory)
        try container.encode(EngineVersions(), forKey: .engine)
    }
}

private enum SourceKey: String, CodingKey {
    case path, bytes, sha256, format, width, height, orientation, frames, alpha, members
    case location
    case pathBytes = "path-bytes"
    case locationBytes = "location-bytes"
}

extension SourceReport.Source {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SourceKey.self)
        try container.encode(path)
        try container.encodeIfPresent(location?.text, forKey: .location)
        try container.encodeIfPresent(location?.percentEncodedIfNotText, forKey: .locationBytes)
        try container.encodeIfPresent(bytes, forKey: .bytes)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        if let facts { try container.encode(facts) }
        try container.encodeIfPresent(members, forKey: .members)
    }
}

extension SourceReport.Member {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SourceKey.self)
        try container.encode(path)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(facts)
    }
}

extension KeyedEncodingContainer<SourceKey> {
    fileprivate mutating func encode(_ path: BytePath) throws {
        try encode(path.text, forKey: .path)
        try encodeIfPresent(path.percentEncodedIfNotText, forKey: .pathBytes)
    }

    fileprivate mutating func encode(_ facts: SourceFacts) throws {
        try encode(facts.format, forKey: .format)
        try encode(facts.size.width, forKey: .width)
        try encode(facts.size.height, forKey: .height)
        try encode(facts.orientation, forKey: .orientation)
        try encode(facts.frames, forKey: .frames)
        try encode(facts.hasAlpha, forKey: .alpha)
    }
}

extension SourceReport.RenditionEntry {
    private enum Key: String, CodingKey {
        case name, scale, path, format, width, height, frames, bytes, sha256, cached
        case pathBytes = "path-bytes"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(scale, forKey: .scale)
        try container.encode(path.text, forKey: .path)
        try container.encodeIfPresent(path.percentEncodedIfNotText, forKey: .pathBytes)
        try container.encode(format, forKey: .format)
        try container.encode(size.width, forKey: .width)
        try container.encode(size.height, forKey: .height)
        try container.encode(frames, forKey: .frames)
        try container.encodeIfPresent(bytes, forKey: .bytes)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        try container.encode(cached, forKey: .cached)
    }
}

/// A failure as reports write it.
private struct FailureEntry: Encodable {
    let code: FailureCode
    let stage: String
    let message: String
    let retryable: Bool
    let detail: String?
    let remedy: String

    init(_ failure: Failure, in place: RemedyPlace) {
        code = failure.code
        stage = failure.stage
        message = failure.message
        retryable = failure.code.isRetryable
        detail = failure.detail
        remedy = failure.remedy(in: place)
    }
}
