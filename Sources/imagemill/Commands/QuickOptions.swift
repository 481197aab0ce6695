import ArgumentParser
import Engine
import Pipeline

extension SaveFormat: ExpressibleByArgument {
    package init?(argument: String) { self.init(word: argument.lowercased()) }
}

extension MetadataPolicy: ExpressibleByArgument {
    package init?(argument: String) { self.init(word: argument) }

    package static var allValueStrings: [String] { words.map(\.word) }
}

/// A pipeline with one rendition, described by options instead of a file.
struct QuickOptions: ParsableArguments {
    @Option(help: "Scales to this size, such as '1600x1600>' (only shrink), 800x, 50%, or 300x300^ (cover).")
    var resize: String?

    @Option(help: "Cuts this size from the middle, after --resize, such as 300x300.")
    var crop: String?

    @Option(help: "Draws this picture into the lower right corner, a fifth as wide as the result.", completion: .file())
    var watermark: String?

    @Option(help: "The format of the result; 'same' is that of the source. Default: webp.")
    var format: SaveFormat?

    @Option(help: "How good the result is, 1 to 100. Default: the format's own.")
    var quality: Int?

    @Option(help: "Which metadata stay: copyright, all-but-location, keep (all) or strip (none). Default: copyright.")
    var metadata: MetadataPolicy?

    @Flag(
        help:
            "Prints these options as a pipeline file, which does exactly the same, or the pipeline that is named, and runs nothing."
    )
    var printPipeline = false

    /// Any of the options that make a pipeline.
    var isAny: Bool {
        resize != nil || crop != nil || watermark != nil || format != nil || quality != nil || metadata != nil
    }

    func validate() throws {
        if quality != nil, let format,
            format != .same, !OutputFormat.ratedByQuality.map(SaveFormat.format).contains(format)
        {
            throw ValidationError(
                "--quality means nothing for \(format.rawValue); leave it out, or choose \(alternatives(OutputFormat.ratedByQuality.map(\.rawValue))) with --format"
            )
        }
        if let crop, cutSides(crop) == nil {
            throw ValidationError("--crop takes a width and a height, such as 300x300, found '\(crop)'")
        }
    }

    private func cutSides(_ text: String) -> (width: String, height: String)? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2,
            sides.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && ($0.isNumber || $0 == "." || $0 == "%") } })
        else { return nil }
        return (String(sides[0]), String(sides[1]))
    }

    /// The pipeline as a file would have it.
    var text: String {
        var stages: [String] = []
        if let resize { stages.append("resize: { size: \(quoted(resize)) }") }
        if let (width, height) = crop.flatMap(cutSides) {
            stages.append("crop: { width: \(width), height: \(height) }")
        }
        if let watermark {
            stages.append(
                "overlay: { image: \(quoted(watermark)), anchor: bottom-trailing, offset: { x: 2%, y: 2% }, width: 20% }"
            )
        }
        let list = stages.isEmpty ? "" : "    stages:\n" + stages.map { "      - \($0)\n" }.joined()
        let save =
            ["format: \((format ?? .format(.webp)).rawValue)"]
            + [quality.map { "quality: \($0)" }, metadata.map { "metadata: \($0.written)" }].compactMap(\.self)
        return "renditions:\n  picture:\n\(list)    save: { \(save.joined(separator: ", ")) }\n"
    }

    /// The pipeline, ready to run. The paths of assets are relative to the working folder.
    /// - Throws: `ExitCode`, after it has said what is wrong.
    func pipeline() throws -> LoadedPipeline {
        do {
            return try LoadedPipeline(path: "options", text: text)
        } catch let diagnostics as Diagnostics {
            for item in diagnostics.items { printError("imagemill: " + words(of: item)) }
            throw ExitStatus.usage
        }
    }

    /// A mistake in the words of the options: the keys of `save` are named like theirs.
    private func words(of mistake: Diagnostic) -> String {
        guard let key = ["quality", "metadata", "format"].first(where: { mistake.message.hasPrefix("'\($0)'") }) else {
            return option(at: mistake.position) + mistake.message
        }
        return "--" + key + mistake.message.dropFirst(key.count + 2)
    }

    /// `--resize: `, for the option whose stage is in a line of the text.
    private func option(at position: Position) -> String {
        let lines = text.split(separator: "\n")
        guard lines.indices.contains(position.line - 1) else { return "" }
        let line = lines[position.line - 1].drop { " -".contains($0) }
        let options = [("resize:", "--resize"), ("crop:", "--crop"), ("overlay:", "--watermark")]
        return options.first { line.hasPrefix($0.0) }.map { "\($0.1): " } ?? ""
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case let scalar where scalar.value < 0x20:
                "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}
