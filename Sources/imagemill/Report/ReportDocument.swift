// Reports as they are read again, for a page: those of runs, of single sources, and journals.
import Engine
import FoundationEssentials
import Pipeline
import System

/// Entries from a report's file. All of it comes from a file that others may have written to, and that another version
/// may have written.
struct ReportDocument {
    private(set) var entries: [Entry] = []
    private(set) var summary: Summary?
    /// Entries that cannot be read.
    private(set) var unreadable = 0
    /// The notices about the whole that a reader must know, a sentence each.
    private(set) var notices: [String] = []
    /// The totals of all sources, if the entries are only some of them.
    private(set) var totals: Totals?

    struct Totals: Encodable {
        let sources, done, failed, renditions, bytes: Int
        /// How many have failed for each reason.
        let codes: [String: Int]
    }

    struct Summary: Codable {
        let milliseconds: Int
        let interrupted: Bool
        let passedOver: Int?

        private enum CodingKeys: String, CodingKey {
            case milliseconds, interrupted
            case passedOver = "passed-over"
        }
    }

    /// One source.
    struct Entry: Decodable {
        struct Source: Decodable {
            let path: String
            let pathBytes: String?
            let location: String?
            let locationBytes: String?
            let bytes, width, height, orientation: Int?
            let format: String?
            let members: [Member]?

            private enum CodingKeys: String, CodingKey {
                case path, location, bytes, width, height, orientation, format, members
                case pathBytes = "path-bytes"
                case locationBytes = "location-bytes"
            }
        }

        struct Member: Decodable { let bytes: Int }

        struct Rendition: Decodable {
            let name: String
            let scale: Int
            let path: String
            let pathBytes: String?
            let format: String
            let width, height: Int
            let bytes: Int?
            let cached: Bool?

            private enum CodingKeys: String, CodingKey {
                case name, scale, path, format, width, height, bytes, cached
                case pathBytes = "path-bytes"
            }
        }

        struct Problem: Codable {
            let code: String
            let stage: String?
            let message: String
            let detail: String?
            let retryable: Bool?
        }

        struct Times: Decodable { let wait, render, publish: Int }

        let status: String
        let pipeline: String
        let inbox: String?
        let source: Source
        let renditions: [Rendition]
        let warnings: [Problem]
        let error: Problem?
        let parameters: [ParameterSetting]?
        let attempt: Int?
        let started: String
        let milliseconds: Times
        let engine: [String: String]?
        /// Set for the sources of a batch in shards.
        var place = Place()

        /// Where its files are.
        struct Place {
            /// The folder that paths begin at, below that of all renditions.
            var folder = BytePath([])
            /// The tar that its renditions are in; nil if they are files.
            var archive: BytePath?
        }

        private enum CodingKeys: String, CodingKey {
            case status, pipeline, inbox, source, renditions, warnings, error, parameters, attempt, started,
                milliseconds, engine
        }
    }

    /// An entry, or what is in its place.
    private struct Lenient: Decodable {
        let entry: Entry?

        init(from decoder: any Decoder) throws { entry = try? Entry(from: decoder) }
    }

    private struct Batch: Decodable {
        let sources: [Lenient]
        let summary: Summary?
    }

    private struct LastLine: Decodable { let summary: Summary }

    private struct Schema: Decodable { let schema: String }

    init(entries: [Entry], unreadable: Int, notices: [String], totals: Totals?) {
        (self.entries, self.unreadable, self.notices, self.totals) = (entries, unreadable, notices, totals)
    }

    /// - Parameter bytes: a document, or a line for each entry.
    /// - Throws: `NoReport` if it is something else.
    init(_ bytes: [UInt8]) throws(NoReport) {
        if let schema = Self.decoded(Schema.self, bytes)?.schema {
            try read(bytes, schema)
        } else {
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                guard let schema = Self.decoded(Schema.self, line)?.schema, (try? read(line, schema)) != nil else {
                    unreadable += 1
                    continue
                }
            }
        }
        guard !entries.isEmpty || summary != nil else { throw NoReport(found: nil) }
    }

    private mutating func read(_ bytes: some Collection<UInt8>, _ schema: String) throws(NoReport) {
        switch schema {
        case "imagemill.batch/1":
            guard let batch = Self.decoded(Batch.self, bytes) else { throw NoReport(found: schema) }
            entries = batch.sources.compactMap(\.entry)
            unreadable = batch.sources.count - entries.count
            summary = batch.summary
        case "imagemill.report/1":
            guard let entry = Self.decoded(Entry.self, bytes) else { throw NoReport(found: schema) }
            entries.append(entry)
        case "imagemill.summary/1": summary = Self.decoded(LastLine.self, bytes)?.summary
        default: throw NoReport(found: schema)
        }
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type, _ bytes: some Collection<UInt8>) -> Value? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }

    /// A file that is no report.
    struct NoReport: Error {
        /// The schema of what it is; nil if that is not known.
        let found: String?
    }
}
