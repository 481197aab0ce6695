// Renditions of one picture look alike however they are made.
import Pipeline
import Synchronization
import TestSupport
import Vips

extension Exploration {
    /// How much two renditions may differ.
    private struct Bound {
        let property: Property
        /// Steps of 255 that are no difference.
        let steps: Double
        /// The least decibels; nil if the steps alone count.
        let decibels: Double?
    }

    /// To the same rendition made otherwise from the same file.
    private func siblingLikeness(of rendition: String) -> Double {
        // A picture that a decoder has not shrunk by a whole number of blocks is shrunk by another filter.
        let hard = source.endsWithinBlock ? 34.0 : 54
        return (source.pattern.isHard && !source.isVector ? hard : 45) - amplification(of: rendition)
    }

    /// To the same rendition of pixels that no decoder has shrunk. The decoder takes means, which leave something else
    /// of details as fine as a pixel than the filter that shrinks the rest, and which are those of values that were not
    /// cut to the range yet; photos hardly have such. Sharpening makes such differences larger too: up to 6 dB of that is
    /// allowed.
    private func twinLikeness(of rendition: String) -> Double {
        (source.pattern == .photo ? 45 : 27) - amplification(of: rendition)
    }

    /// Decibels that are allowed to stages which make differences larger.
    private func amplification(of rendition: String) -> Double { drawn.pipeline.amplifies(rendition) ? 6 : 0 }

    func compareTwins(_ outcome: Outcome, _ results: [String: Outcome]) async throws -> [Finding] {
        let property = source.frames == 1 ? Property.twin : .frames
        var findings: [Finding] = []
        for (frame, twin) in twins.enumerated() {
            guard let other = results[twin] else { continue }
            switch (outcome, other) {
            case (.refused(let one), .refused(let other)):
                if one != other {
                    findings.append(Finding(property: property, detail: "\(one), but \(other) in \(twin)"))
                }
            case (.rendered, .refused(let code)), (.refused(let code), .rendered):
                // Fewer frames have fewer pixels.
                if code != FailureCode.tooManyPixels.rawValue {
                    findings.append(Finding(property: property, detail: "\(code) in one of the source and \(twin)"))
                }
            case (.rendered(let outputs), .rendered(let others)):
                for output in outputs where frame == 0 || output.entry.isAnimation {
                    // Where all frames together decide what is cut, one alone is cut otherwise.
                    if source.frames > 1 && drawn.pipeline.measures { continue }
                    // A rendition that is saved in the source's own format is another file for a TIFF.
                    guard let match = others.first(where: { $0.path == output.path }) else { continue }
                    // LittleCMS, which converts the twin's profile, rounds one step otherwise; scaling makes two of it.
                    let isConvertedOtherwise = source.stated == .p3
                    let decibels =
                        source.mayShrink ? twinLikeness(of: output.entry.name) : isConvertedOtherwise ? 48 : nil
                    let bound = Bound(property: property, steps: 1, decibels: decibels)
                    let finding = try await compare(
                        output, frame: source.frames > 1 ? frame : nil, "out/s/" + output.path,
                        "out/\(twin)/" + match.path, bound, "out of \(twin)")
                    findings += finding.map { [$0] } ?? []
                }
            }
        }
        return findings
    }

    func compareAlone(_ outputs: [Output], sample: Int) async throws -> [Finding] {
        let all = drawn.pipeline.alone
        guard all.count > 1 else { return [] }
        var random = SeededGenerator(seed: sample)
        var findings: [Finding] = []
        for (index, alone) in all.shuffled(using: &random).prefix(2).enumerated() {
            try runner.folder.write(alone.text, to: "alone.yaml")
            let results = try await run("alone.yaml", "in/s", to: "alone\(index)", &findings)
            guard case .rendered(let made)? = results.values.first else {
                let what = results.values.first.map { "\($0)" } ?? "nothing"
                findings.append(Finding(property: .alone, detail: "\(what) alone: \(alone.text)"))
                continue
            }
            for one in made {
                guard let output = outputs.first(where: { $0.path == one.path }) else {
                    let made = outputs.map(\.path)
                    findings.append(Finding(property: .alone, detail: "\(one.path) alone, beside others \(made)"))
                    continue
                }
                let bound = Bound(property: .alone, steps: 1, decibels: siblingLikeness(of: output.entry.name))
                let finding = try await compare(
                    output, frame: nil, "out/s/" + output.path, "alone\(index)/" + one.path, bound, "alone")
                findings += finding.map { [$0] } ?? []
            }
        }
        return findings
    }

    /// - Parameter frame: the frame of the first file that the second one is; nil for all of both.
    private func compare(
        _ output: Output, frame: Int?, _ one: String, _ other: String, _ bound: Bound, _ what: String
    ) async throws -> Finding? {
        comparisons.withLock { $0.all += 1 }
        if try runner.bytes(one) == runner.bytes(other) { return nil }
        guard SourceFormat(rawValue: output.entry.format) != nil else {
            comparisons.withLock { $0.undecided += 1 }
            return nil
        }
        guard let likeness = try await likeness(one, other, frame: frame, output.entry.format) else {
            return Finding(
                property: bound.property, detail: "\(output.path) is not of the size or bands that it has \(what)")
        }
        var limit = bound.decibels.map(Likeness.deviation) ?? 0
        if likeness.largest <= bound.steps || likeness.deviation <= limit { return nil }
        // A few pixels are all edge, where half a pixel of the source counts.
        let isTiny = min(output.entry.width, output.entry.height) < 8
        // Less than a block of an encoder is hardly more than one number, whose steps are large.
        let isPartOfBlock = max(output.entry.width, output.entry.height) < 8
        if isTiny, bound.decibels != nil, likeness.largest <= (isPartOfBlock ? 32 : 16) { return nil }
        // The encoder's loss of two pictures that are nearly the same may be twice its loss of one.
        let loss = try await loss(of: output)
        guard let loss else {
            comparisons.withLock { $0.undecided += 1 }
            return nil
        }
        limit = max(limit, Likeness.deviation(decibels: 48)) + 2 * loss
        if loss != 0 && likeness.deviation <= limit { return nil }
        let encoder = loss == 0 ? "" : "; the encoder loses \(loss)"
        return Finding(property: bound.property, detail: "\(output.path): \(likeness) to itself \(what)\(encoder)")
    }

    private func likeness(_ one: String, _ other: String, frame: Int?, _ format: String) async throws -> Likeness? {
        let (one, other) = (runner.folder.path(one), runner.folder.path(other))
        return try await inVipsTurn {
            guard let format = SourceFormat(rawValue: format) else { return nil }
            let first = try DrawnSource.decoded(one, as: format)
            let second = try DrawnSource.decoded(other, as: format)
            guard let frame, first.pages > 1 else {
                // Frames that have become equal are written once, which the losses of a source decide.
                guard first.pages != second.pages else { return try Likeness(first, second) }
                return try Likeness(first.frame(0), second.frame(0))
            }
            // Savers write frames that are equal once, so that later ones have another place.
            let places = first.pages == source.frames ? frame...frame : 0...min(frame, first.pages - 1)
            return try places.compactMap { try Likeness(first.frame($0), second) }.min { $0.deviation < $1.deviation }
        }
    }

    /// The encoder's loss of a rendition, as the deviation from the same one without losses, both made of the
    /// uncompressed pixels: 0 for encoders that lose nothing, nil if it cannot be found out.
    private func loss(of output: Output) async throws -> Double? {
        for alone in drawn.pipeline.alone {
            guard let rendition = alone.written["renditions"]?.entries.first, rendition.key == output.entry.name,
                let save = alone.saves.first, save["format"]?.word == output.entry.format,
                rendition.value["scale"]?.word.map({ $0 == "\(output.entry.scale)" }) ?? true
            else { continue }
            if save.losesNothing { return 0 }
            let place = source.frames == 1 && !source.isVector ? "in/t" : "in/s"
            // The source's metadata, where it is kept, leaves other bytes for the pixels, and so another quality.
            let isSearched = save["max-bytes"] != nil
            var losses: [Double] = []
            for place in Set(isSearched ? [place, "in/s"] : [place]).sorted() {
                if let loss = try await loss(of: output, alone, from: place) { losses.append(loss) }
            }
            if let most = losses.max() { return most }
        }
        return nil
    }

    /// - Parameter alone: the pipeline of the rendition alone.
    private func loss(of output: Output, _ alone: DrawnPipeline, from place: String) async throws -> Double? {
        let lossless =
            output.entry.isAnimation ? "{ format: webp, lossless: true }" : "{ format: tiff, compression: none }"
        try runner.folder.write(alone.text, to: "lossy.yaml")
        try runner.folder.write(alone.lossless(as: lossless).text, to: "lossless.yaml")
        var unused: [Finding] = []
        guard case .rendered(let one)? = try await run("lossy.yaml", place, to: "lossy", &unused).values.first,
            case .rendered(let other)? = try await run("lossless.yaml", place, to: "lossless", &unused).values.first,
            let lossy = one.first, let whole = other.first, lossy.path == output.path
        else { return nil }
        let paths = (runner.folder.path("lossy/" + lossy.path), runner.folder.path("lossless/" + whole.path))
        return try await inVipsTurn { () -> Double? in
            guard let format = SourceFormat(rawValue: lossy.entry.format),
                let wholeFormat = SourceFormat(rawValue: whole.entry.format)
            else { return nil }
            let images = (
                try DrawnSource.decoded(paths.0, as: format), try DrawnSource.decoded(paths.1, as: wholeFormat)
            )
            return try Likeness(images.0, images.1)?.deviation
        }
    }
}

extension Image {
    /// One frame of those that are below each other.
    fileprivate func frame(_ index: Int) throws -> Image {
        try extractArea(left: 0, top: index * pageHeight, width: width, height: pageHeight)
    }
}

extension BatchDocument.Entry.Rendition {
    /// It is saved with all frames of the source.
    var isAnimation: Bool { OutputFormat(rawValue: format)?.supportsAnimation ?? false }
}

extension Written {
    /// A saver's settings keep every pixel as it is.
    fileprivate var losesNothing: Bool {
        switch self["format"]?.word.flatMap({ OutputFormat(rawValue: $0) }) {
        case .png: self["palette"]?.word != "true"
        case .tiff: self["compression"]?.word != TIFFOutput.Compression.jpeg.rawValue
        case .webp, .jxl: self["lossless"]?.word == "true"
        default: false
        }
    }
}
