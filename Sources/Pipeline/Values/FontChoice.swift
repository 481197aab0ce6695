/// The font of a text: a family that is installed, or a file beside the pipeline.
package enum FontChoice: ParameterValue, Hashable {
    case family(String)
    case file(AssetPath)

    /// The ends of the names of files that hold fonts.
    private static let endings = [".ttf", ".otf", ".ttc", ".otc", ".woff", ".woff2", ".pfb"]

    package static var expectation: String {
        "a font family, or the path of a font file, relative to the pipeline file"
    }
    package static var schema: JSONValue { ["type": "string", "minLength": 1] }
    package static var placeholder: FontChoice { .family("sans-serif") }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> FontChoice? {
        guard let text = node.text, !node.isNull, !text.isEmpty, !text.utf8.contains(0) else { return nil }
        let name = text.lowercased()
        guard endings.contains(where: name.hasSuffix) else { return .family(text) }
        log.asset(AssetReference(path: text, kind: .font, position: node.position))
        return .file(AssetPath(text))
    }

    package var written: String {
        switch self {
        case .family(let family): family
        case .file(let file): file.path
        }
    }
}

/// How heavy a font is: `bold`, or a number from 100 to 1000.
package struct FontWeight: ParameterValue, Hashable {
    package let number: Int

    private static let names: [(name: String, number: Int)] = [
        ("thin", 100), ("extra-light", 200), ("light", 300), ("regular", 400), ("medium", 500), ("semi-bold", 600),
        ("bold", 700), ("extra-bold", 800), ("black", 900),
    ]
    private static let range = 100...1000

    package static var expectation: String {
        "one of \(names.map(\.name).joined(separator: ", ")), or a number from \(range.lowerBound) to \(range.upperBound)"
    }
    package static var schema: JSONValue {
        [
            "anyOf": [
                ["enum": .array(names.map { .string($0.name) })],
                ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)],
            ]
        ]
    }
    package static var placeholder: FontWeight { FontWeight(number: 400) }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> FontWeight? {
        guard let text = node.text else { return nil }
        if let known = names.first(where: { $0.name == text }) { return FontWeight(number: known.number) }
        return Int(text).flatMap { range.contains($0) ? FontWeight(number: $0) : nil }
    }

    package var written: String { Self.names.first { $0.number == number }?.name ?? String(number) }
}

extension AssetFacts {
    /// A file that is no picture, such as a font, as plans count it: a picture of one pixel that takes the file's bytes.
    package static func file(bytes: Int) -> AssetFacts {
        AssetFacts(size: PixelSize(1, 1), pixelsPerPoint: 1, isGrey: true, decoding: bytes)
    }
}
