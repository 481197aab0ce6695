// The formats that the user allows beyond those that are always read.

/// A list of formats on request, such as `[svg, pdf]`, or `svg,pdf` in an option.
package struct AllowedFormats: Hashable, Sendable {
    package let formats: Set<SourceFormat>

    package init(_ formats: Set<SourceFormat> = []) { self.formats = formats }

    /// Reads `svg,pdf`.
    package init?(_ text: String) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
        let formats = words.compactMap(Self.format)
        guard formats.count == words.count else { return nil }
        self.init(Set(formats))
    }

    /// How they are read, for the reference.
    package static let explanation =
        "\(words.joined(separator: ", ")), each by workers that read nothing else. A PDF shows its first page, or `page` in the pipeline."

    package static let words = SourceFormat.onRequest.map(\.rawValue)

    private static func format(_ word: String) -> SourceFormat? { SourceFormat.onRequest.first { $0.rawValue == word } }
}

extension AllowedFormats: ParameterValue {
    package static var expectation: String {
        "a list of formats such as [svg, pdf], out of \(words.joined(separator: ", "))"
    }
    package static var schema: JSONValue { ["type": "array", "items": ["enum": .array(words.map { .string($0) })]] }
    package static var placeholder: AllowedFormats { AllowedFormats() }
    package var written: String { "[" + formats.map(\.rawValue).sorted().joined(separator: ", ") + "]" }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> AllowedFormats? {
        guard case .list(let items) = node.content else { return nil }
        return AllowedFormats(Set(items.compactMap { read(item: $0, &log) }))
    }

    private static func read(item: YAMLNode, _ log: inout ReadingLog) -> SourceFormat? {
        if let format = item.text.flatMap(format) { return format }
        let isAlwaysRead = item.text.flatMap(SourceFormat.init) != nil
        let problem =
            isAlwaysRead
            ? "\(item.found) is always read; remove it"
            : "expected one of \(words.joined(separator: ", ")), found \(item.found)"
        log.problem(item.position, problem)
        return nil
    }
}
