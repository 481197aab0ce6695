// A report as a page for a browser: one file that loads nothing but the pictures it compares.
import Engine
import FoundationEssentials
import Pipeline
import System

/// The page of a report.
struct ReportPage {
    private let document: ReportDocument
    private let places: PicturePlaces
    private let addresses: Addresses?

    /// - Parameter page: the page's file.
    init(_ document: ReportDocument, _ places: PicturePlaces, page: BytePath) {
        (self.document, self.places) = (document, places)
        addresses = Addresses(from: page)
    }

    /// A page without links to pictures.
    init(_ document: ReportDocument) { (self.document, places, addresses) = (document, .unknown, nil) }

    /// The warnings that almost every picture has, which deserve no look.
    static let usualWarnings: Set = [WarningCode.metadataRemoved.rawValue]

    /// The file's bytes.
    var html: [UInt8] {
        let policy = [
            "default-src 'none'", "script-src '\(Self.digest(PageFiles.script))'",
            "style-src '\(Self.digest(PageFiles.style))'",
            "img-src 'self' file: data:", "base-uri 'none'", "form-action 'none'",
        ].joined(separator: "; ")
        var page: [UInt8] = []
        // Each place to fill in is there once, in this order.
        var rest = PageFiles.page[...]
        let parts = [
            ("@policy@", Array(policy.utf8)), ("@style@", PageFiles.style), ("@data@", data),
            ("@script@", PageFiles.script),
        ]
        for (place, bytes) in parts {
            guard let range = rest.firstRange(of: Array(place.utf8)) else { continue }
            page += rest[..<range.lowerBound] + bytes
            rest = rest[range.upperBound...]
        }
        return page + rest
    }

    /// The digest of a text, by which a policy allows that text.
    private static func digest(_ text: [UInt8]) -> String { "sha256-" + Digest.base64(of: text) }

    /// JSON in which no character can end the element that it is in.
    private var data: [UInt8] {
        let content = Content(
            pipelines: document.entries.map(\.pipeline).reduce(into: []) { if !$0.contains($1) { $0.append($1) } },
            started: document.entries.map(\.started).min(),
            engine: document.entries.last?.engine.map {
                "Imagemill \($0["imagemill"] ?? "") with libvips \($0["libvips"] ?? "")"
            },
            summary: document.summary, unreadable: document.unreadable, notices: document.notices,
            totals: document.totals,
            usual: Self.usualWarnings.sorted(), codes: Self.codes, remedies: Self.remedies,
            rows: document.entries.map(row))
        let text = Array(json(content).utf8)
        var safe: [UInt8] = []
        safe.reserveCapacity(text.count)
        for byte in text {
            if byte == UInt8(ascii: "<") { safe += #"\u003c"#.utf8 } else { safe.append(byte) }
        }
        return safe
    }

    private static var codes: [String: String] {
        let failures = FailureCode.allCases.map { ($0.rawValue, $0.explanation) }
        let all = failures + WarningCode.allCases.map { ($0.rawValue, $0.explanation) }
        return Dictionary(all.map { ($0.0, $0.1.filter { $0 != "`" }) }) { first, _ in first }
    }

    private static let remedies = Dictionary(
        uniqueKeysWithValues: FailureCode.allCases.map { ($0.rawValue, $0.remedy(in: .anywhere)) })

    private func row(_ entry: ReportDocument.Entry) -> Row {
        let source = entry.source
        let place = entry.place
        return Row(
            status: entry.status, path: source.path,
            url: places.source(entry).flatMap { addresses?.address($0.path, in: $0.folder) },
            bytes: source.bytes ?? source.members.map { $0.map(\.bytes).reduce(0, saturating) }, width: source.width,
            height: source.height,
            orientation: source.orientation ?? 1,
            format: source.format ?? source.members.map { "a set of \($0.count)" }, inbox: entry.inbox,
            started: entry.started, attempt: entry.attempt ?? 1,
            times: [entry.milliseconds.wait, entry.milliseconds.render, entry.milliseconds.publish], error: entry.error,
            warnings: entry.warnings,
            parameters: (entry.parameters ?? []).filter { $0.origin != .pipeline },
            archive: place.archive?.text,
            renditions: entry.renditions.map { rendition in
                Rendition(
                    name: rendition.name, scale: rendition.scale, path: rendition.path,
                    url: places.rendition(rendition, of: entry).flatMap { addresses?.address($0.path, in: $0.folder) },
                    format: rendition.format,
                    width: rendition.width, height: rendition.height, bytes: rendition.bytes,
                    cached: rendition.cached ?? false)
            })
    }

    private struct Content: Encodable {
        let pipelines: [String]
        let started: String?
        let engine: String?
        let summary: ReportDocument.Summary?
        let unreadable: Int
        let notices: [String]
        let totals: ReportDocument.Totals?
        let usual: [String]
        let codes: [String: String]
        let remedies: [String: String]
        let rows: [Row]
    }

    private struct Row: Encodable {
        let status, path: String
        let url: String?
        let bytes, width, height: Int?
        let orientation: Int
        let format, inbox: String?
        let started: String
        let attempt: Int
        let times: [Int]
        let error: ReportDocument.Entry.Problem?
        let warnings: [ReportDocument.Entry.Problem]
        /// Those whose values are not the pipeline's own.
        let parameters: [ParameterSetting]
        let archive: String?
        let renditions: [Rendition]
    }

    private struct Rendition: Encodable {
        let name: String
        let scale: Int
        let path: String
        let url: String?
        let format: String
        let width, height: Int
        let bytes: Int?
        let cached: Bool
    }
}

/// The parts of the page, which are files of their own beside this one and are compiled into the program.
private enum PageFiles {
    static let page = PackageResources.report_html
    static let style = PackageResources.report_css
    static let script = PackageResources.report_js
}
