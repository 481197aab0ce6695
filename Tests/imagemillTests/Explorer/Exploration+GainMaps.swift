// A gain map that is the picture in gray is still so when both have been through the stages.
import Foundation
import Pipeline
import TestSupport
import Vips

extension Exploration {
    /// Stages that put nothing else beside or over the picture.
    private static let moving: Set = ["resize", "crop", "flip", "trim", "sharpen"]
    /// Decibels. A map that is a few pixels off has less.
    private static let leastLikeness = 25.0

    func checkGainMaps(_ outputs: [Output]) async throws -> [Finding] {
        guard source.hasGainMap else { return [] }
        let report = try runner.report("out/.imagemill/report.json")
        let entry = report.sources.first { $0.source.path.hasPrefix("s/") }
        let dropped = (entry?.warnings ?? []).filter { $0.code == "hdr-dropped" }.map(\.message)
        var findings: [Finding] = []
        func find(_ words: String) { findings.append(Finding(property: .gainMap, detail: words)) }
        for output in outputs {
            let file = try runner.bytes("out/s/" + output.path)
            let (name, format) = (output.entry.name, output.entry.format)
            guard format == "jpeg", let map = UltraHDR.map(of: file) else {
                if file.firstRange(of: Array("hdrgm:".utf8)) != nil { find("\(output.path) speaks of a map") }
                let isWanted = isDroppedOnPurpose(name) || output.entry.original == true
                if !isWanted, !dropped.contains(where: { $0.hasPrefix("'\(name)") }) {
                    find("\(output.path) has lost its map without a word: \(dropped)")
                }
                continue
            }
            try await inVipsTurn {
                let path = runner.folder.path("map.jpg")
                try Data(map).write(to: URL(fileURLWithPath: path))
                let gray = try DrawnSource.decoded(path, as: .jpeg)
                let wide = Double(output.entry.width) / 4, high = Double(output.entry.height) / 4
                // The source's map has whole pixels, which may be less than a quarter of its sides.
                if abs(Double(gray.width) - wide) > 1 + wide / 8 || abs(Double(gray.height) - high) > 1 + high / 8 {
                    find(
                        "\(output.path) of \(output.entry.width)×\(output.entry.height) has a map of \(gray.width)×\(gray.height)"
                    )
                }
                guard isMoved(name), source.pattern == .photo, min(gray.width, gray.height) >= 8 else { return }
                let picture = try DrawnSource.decoded(runner.folder.path("out/s/" + output.path), as: .jpeg)
                let small = try Operation("colourspace", [("in", .image(picture)), ("space", "b-w")]).image()
                    .resize(width: gray.width, height: gray.height)
                guard let likeness = try Likeness(small, gray), likeness.decibels >= Self.leastLikeness else {
                    find(
                        "\(output.path) has a map that lies elsewhere: \(String(describing: try Likeness(small, gray)))"
                    )
                    return
                }
            }
        }
        return findings
    }

    /// Whether the pipeline wants no map in a rendition, or no word about it.
    private func isDroppedOnPurpose(_ rendition: String) -> Bool {
        let written = drawn.pipeline.written
        let saves = written["renditions"]?[rendition]?["save"]?.items ?? []
        return saves.contains { $0["hdr"]?.word == "drop" } || written["policy"]?["hdr-dropped"] != nil
    }

    /// Whether the picture and nothing else is in a rendition.
    private func isMoved(_ rendition: String) -> Bool {
        let written = drawn.pipeline.written
        let stages = (written["stages"]?.items ?? []) + (written["renditions"]?[rendition]?["stages"]?.items ?? [])
        return stages.allSatisfy { Self.moving.contains($0.word ?? $0.entries.first?.key ?? "") }
    }
}
