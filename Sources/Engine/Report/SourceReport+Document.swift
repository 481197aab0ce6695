// A source's report as JSON, and back. Its schema is in docs/schema/.
import FoundationEssentials
import Messages
import Pipeline
import System

extension SourceReport {
    /// The report in one line.
    package var document: [UInt8] { Array(json(self).utf8) }

    /// - Parameter document: as this program, or an older one, has written it.
    /// - Returns: nil for any other text.
    package init?(document: [UInt8]) {
        guard let report = try? JSONDecoder().decode(Self.self, from: Data(document)) else { return nil }
        self = report
    }
}

// The keys, in one place for each object.

extension SourceReport {
    private enum Key: String, CodingKey {
        case schema, status, pipeline, inbox, source, renditions, warnings, error, attempt, started, milliseconds,
            engine
        case peakMemory = "peak-memory-bytes"
        case predictedMemory = "predicted-memory-bytes"
        case failedBefore = "failed-before"
        case parameters, documents
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("imagemill.report/1", forKey: .schema)
        try container.encode(status, forKey: .status)
        try container.encode(pipeline, forKey: .pipeline)
        try container.encodeIfPresent(inbox, forKey: .inbox)
        try container.encode(source, forKey: .source)
        try container.encode(renditions, forKey: .renditions)
        if !documents.isEmpty { try container.encode(documents, forKey: .documents) }
        try container.encode(warnings, forKey: .warnings)
        try container.encode(error.map { FailureEntry($0, in: inbox == nil ? .command : .millFile) }, forKey: .error)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(started, forKey: .started)
        try container.encode(milliseconds, forKey: .milliseconds)
        try container.encodeIfPresent(peakMemory, forKey: .peakMemory)
        try container.encodeIfPresent(predictedMemory, forKey: .predictedMemory)
        try container.encodeIfPresent(failedBefore, forKey: .failedBefore)
        try container.encodeIfPresent(parameters, forKey: .parameters)
        try container.encode(engine, forKey: .engine)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        status = try container.decode(Status.self, forKey: .status)
        pipeline = try container.decode(String.self, forKey: .pipeline)
        inbox = try container.decodeIfPresent(String.self, forKey: .inbox)
        source = try container.decode(Source.self, forKey: .source)
        renditions = try container.decode([RenditionEntry].self, forKey: .renditions)
        documents = try container.decodeIfPresent([DocumentEntry].self, forKey: .documents) ?? []
        warnings = try container.decode([Warning].self, forKey: .warnings)
        error = try container.decodeIfPresent(FailureEntry.self, forKey: .error)?.failure
        attempt = try container.decode(Int.self, forKey: .attempt)
        started = try container.decode(String.self, forKey: .started)
        milliseconds = try container.decode(Times.self, forKey: .milliseconds)
        peakMemory = try container.decodeIfPresent(Int.self, forKey: .peakMemory)
        predictedMemory = try container.decodeIfPresent(Int.self, forKey: .predictedMemory)
        failedBefore = try container.decodeIfPresent(String.self, forKey: .failedBefore)
        parameters = try container.decodeIfPresent([ParameterSetting].self, forKey: .parameters)
        engine = try container.decode(EngineVersions.self, forKey: .engine)
    }
}

private enum SourceKey: String, CodingKey {
    case path, bytes, sha256, format, width, height, orientation, frames, alpha, color, members
    case gainMap = "gain-map"
    case location
    case pathBytes = "path-bytes"
    case locationBytes = "location-bytes"
}

extension SourceReport.Source {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SourceKey.self)
        try container.encode(path, .path, .pathBytes)
        if let location { try container.encode(location, .location, .locationBytes) }
        try container.encodeIfPresent(bytes, forKey: .bytes)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        if let facts { try container.encode(facts) }
        try container.encodeIfPresent(members, forKey: .members)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SourceKey.self)
        path = try container.path(.path, .pathBytes)
        location = container.contains(.location) ? try container.path(.location, .locationBytes) : nil
        bytes = try container.decodeIfPresent(Int.self, forKey: .bytes)
        sha256 = try container.decodeIfPresent(String.self, forKey: .sha256)
        facts = container.contains(.format) ? try container.facts() : nil
        members = try container.decodeIfPresent([SourceReport.Member].self, forKey: .members)
    }
}

extension SourceReport.Member {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SourceKey.self)
        try container.encode(path, .path, .pathBytes)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(facts)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SourceKey.self)
        path = try container.path(.path, .pathBytes)
        bytes = try container.decode(Int.self, forKey: .bytes)
        facts = try container.facts()
    }
}

extension KeyedEncodingContainer {
    /// Writes a path as text, and as bytes if the text does not say it all.
    fileprivate mutating func encode(_ path: BytePath, _ text: Key, _ bytes: Key) throws {
        try encode(path.text, forKey: text)
        try encodeIfPresent(path.percentEncodedIfNotText, forKey: bytes)
    }
}

extension KeyedDecodingContainer {
    fileprivate func path(_ text: Key, _ bytes: Key) throws -> BytePath {
        guard let encoded = try decodeIfPresent(String.self, forKey: bytes) else {
            return BytePath(try decode(String.self, forKey: text))
        }
        guard let path = BytePath(percentEncoded: encoded) else {
            throw DecodingError.dataCorruptedError(forKey: bytes, in: self, debugDescription: "no percent encoding")
        }
        return path
    }
}

extension KeyedEncodingContainer<SourceKey> {
    fileprivate mutating func encode(_ facts: SourceReport.Facts) throws {
        try encode(facts.format, forKey: .format)
        try encode(facts.size.width, forKey: .width)
        try encode(facts.size.height, forKey: .height)
        try encode(facts.orientation, forKey: .orientation)
        try encode(facts.frames, forKey: .frames)
        try encode(facts.hasAlpha, forKey: .alpha)
        try encodeIfPresent(facts.color, forKey: .color)
        try encodeIfPresent(facts.gainMap, forKey: .gainMap)
    }
}

extension KeyedDecodingContainer<SourceKey> {
    fileprivate func facts() throws -> SourceReport.Facts {
        let size = PixelSize(try decode(Int.self, forKey: .width), try decode(Int.self, forKey: .height))
        return SourceReport.Facts(
            format: try decode(SourceFormat.self, forKey: .format), size: size,
            orientation: try decode(Int.self, forKey: .orientation), frames: try decode(Int.self, forKey: .frames),
            hasAlpha: try decode(Bool.self, forKey: .alpha),
            color: try decodeIfPresent(SourceReport.Color.self, forKey: .color),
            gainMap: try decodeIfPresent(String.self, forKey: .gainMap))
    }
}

extension SourceReport.RenditionEntry {
    private enum Key: String, CodingKey {
        case name, scale, path, format, width, height, frames, bytes, sha256, quality, ssim, trials, cached,
            color, thumbhash, original, preview
        case pathBytes = "path-bytes"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(scale, forKey: .scale)
        try container.encode(path, .path, .pathBytes)
        try container.encode(format, forKey: .format)
        try container.encode(size.width, forKey: .width)
        try container.encode(size.height, forKey: .height)
        try container.encode(frames, forKey: .frames)
        try container.encodeIfPresent(bytes, forKey: .bytes)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        try container.encodeIfPresent(reached?.quality, forKey: .quality)
        try container.encodeIfPresent(reached?.similarity, forKey: .ssim)
        try container.encodeIfPresent(reached?.trials, forKey: .trials)
        try container.encode(cached, forKey: .cached)
        try container.encodeIfPresent(look?.cssColor, forKey: .color)
        try container.encodeIfPresent(look?.base64, forKey: .thumbhash)
        if isOriginal { try container.encode(true, forKey: .original) }
        if isOfPreview { try container.encode(true, forKey: .preview) }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        scale = try container.decode(Int.self, forKey: .scale)
        path = try container.path(.path, .pathBytes)
        format = try container.decode(OutputFormat.self, forKey: .format)
        size = PixelSize(
            try container.decode(Int.self, forKey: .width), try container.decode(Int.self, forKey: .height))
        frames = try container.decode(Int.self, forKey: .frames)
        bytes = try container.decodeIfPresent(Int.self, forKey: .bytes)
        sha256 = try container.decodeIfPresent(String.self, forKey: .sha256)
        reached = try container.decodeIfPresent(Int.self, forKey: .quality).map {
            ReachedQuality(
                quality: $0, similarity: try container.decodeIfPresent(Double.self, forKey: .ssim),
                trials: try container.decode(Int.self, forKey: .trials))
        }
        cached = try container.decode(Bool.self, forKey: .cached)
        let color = try container.decodeIfPresent(String.self, forKey: .color).flatMap {
            Int($0.dropFirst(), radix: 16)
        }
        let hash = try container.decodeIfPresent(String.self, forKey: .thumbhash).flatMap { Data(base64Encoded: $0) }
        look = color == nil && hash == nil ? nil : PictureLook(color: color, thumbHash: hash.map { [UInt8]($0) })
        isOriginal = try container.decodeIfPresent(Bool.self, forKey: .original) ?? false
        isOfPreview = try container.decodeIfPresent(Bool.self, forKey: .preview) ?? false
    }
}

extension SourceReport.DocumentEntry: Codable {
    private enum Key: String, CodingKey {
        case name, path, bytes
        case pathBytes = "path-bytes"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(path, .path, .pathBytes)
        try container.encodeIfPresent(bytes, forKey: .bytes)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        path = try container.path(.path, .pathBytes)
        bytes = try container.decodeIfPresent(Int.self, forKey: .bytes)
    }
}

extension PictureLook {
    /// The hash as reports and pages have it.
    var base64: String? { thumbHash.map { Data($0).base64EncodedString() } }
}

/// A failure as reports write it.
private struct FailureEntry: Codable {
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

    var failure: Failure { Failure(code, stage: stage, message, detail: detail) }
}
