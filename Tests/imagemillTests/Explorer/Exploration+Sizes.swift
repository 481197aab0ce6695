// Planned sizes are the sizes.
import Foundation
import Pipeline
import TestSupport
import Vips

extension Exploration {
    func checkSizes(_ outputs: [Output]) async throws -> [Finding] {
        var findings: [Finding] = []
        for output in outputs {
            let (entry, path) = (output.entry, runner.folder.path("out/s/" + output.path))
            // Nothing here reads an ICO, or an archive.
            guard let format = SourceFormat(rawValue: entry.format) else { continue }
            let found = try await inVipsTurn { () -> [Int] in
                let image = try DrawnSource.decoded(path, as: format)
                return [image.width, image.pages > 1 ? image.pageHeight : image.height]
            }
            if found != [entry.width, entry.height] {
                let words = "\(output.path): the report says \(entry.width)×\(entry.height), the file is \(found)"
                findings.append(Finding(property: .sizes, detail: words))
            }
            if let expected = expectedSize(of: entry), expected != [entry.width, entry.height] {
                let words = "\(output.path): \(expected) by its frame, the file is \(entry.width)×\(entry.height)"
                findings.append(Finding(property: .sizes, detail: words))
            }
        }
        let place = "in/s/" + source.place
        let result = try await runner.run(["plan", "p.yaml", place, "--json"] + allowed)
        guard let plan = try? JSONDecoder().decode(PicturePlan.self, from: Data(result.output.utf8)) else {
            return findings + [Finding(property: .sizes, detail: "no plan: \(result.errors)")]
        }
        for planned in plan.renditions where planned.exact {
            guard let output = outputs.first(where: { $0.path == planned.path }) else { continue }
            let (entry, size) = (output.entry, "\(planned.width)×\(planned.height)")
            if planned.width != entry.width || planned.height != entry.height {
                let words = "\(output.path): planned \(size), the file is \(entry.width)×\(entry.height)"
                findings.append(Finding(property: .sizes, detail: words))
            }
        }
        return findings
    }

    private func expectedSize(of entry: BatchDocument.Entry.Rendition) -> [Int]? {
        let written = drawn.pipeline.written
        guard let rendition = written["renditions"]?[entry.name], rendition["widths"] == nil else { return nil }
        let shared = ExpectedSize.after(written["stages"]?.items ?? [], from: nil, scale: 1)
        return ExpectedSize.after(rendition["stages"]?.items ?? [], from: shared, scale: entry.scale)?.sides
    }

    /// The output of `imagemill plan --json`.
    private struct PicturePlan: Decodable {
        struct Rendition: Decodable {
            let path: String
            let width, height: Int
            let exact: Bool
        }

        let renditions: [Rendition]
    }
}
