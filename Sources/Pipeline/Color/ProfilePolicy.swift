// `profile` of a pipeline: the colors that stages work in, and that renditions are in.

/// The colors that the stages work in.
package enum ProfilePolicy: ParameterValue, Hashable {
    /// Renditions have no profile, which is how all programs take them for sRGB.
    case srgb
    /// Display P3, whose profile the renditions carry.
    case displayP3
    /// The source's own profile, which the renditions then carry.
    case keep
    /// The profile in a file, whose path is relative to the pipeline file.
    case file(String)

    private static let words: [(word: String, policy: ProfilePolicy)] = [
        ("srgb", .srgb), ("display-p3", .displayP3), ("keep", .keep),
    ]
    private static let endings = [".icc", ".icm"]

    package static var expectation: String {
        "one of \(words.map(\.word).joined(separator: ", ")), or the path of an .icc file, relative to the pipeline file"
    }
    package static var schema: JSONValue {
        [
            "anyOf": [
                ["enum": .array(words.map { .string($0.word) })],
                ["type": "string", "pattern": "\\.[iI][cC][cCmM]$"],
            ]
        ]
    }
    package static var placeholder: ProfilePolicy { .srgb }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> ProfilePolicy? {
        guard let text = node.text, !node.isNull, !text.utf8.contains(0) else { return nil }
        if let known = words.first(where: { $0.word == text }) { return known.policy }
        if endings.contains(where: text.lowercased().hasSuffix) {
            log.asset(AssetReference(path: text, kind: .profile, position: node.position))
            return .file(text)
        }
        log.problem(
            node.position,
            "expected \(expectation), found '\(text)'\(suggestion(for: text, among: words.map(\.word)))")
        return nil
    }

    package var written: String {
        if case .file(let path) = self { return path }
        return Self.words.first { $0.policy == self }?.word ?? ""
    }

    /// Whether renditions carry a profile.
    package var isCarried: Bool { self != .srgb }

    /// Whether sources are converted to colors that are not sRGB.
    var hasTarget: Bool {
        switch self {
        case .displayP3, .file: true
        case .srgb, .keep: false
        }
    }
}
