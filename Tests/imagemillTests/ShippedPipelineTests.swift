// Pipelines that are shipped or shown in documents must work unchanged.
import Foundation
import TestSupport
import Testing

@Suite struct ShippedPipelineTests {
    @Test(arguments: Checkout.files(below: "pipelines", extension: "yaml"))
    func `a shipped pipeline runs on a picture, and its renditions are what it planned`(name: String) async throws {
        let runner = try CommandRunner()
        let bytes = try await SamplePicture.png.encode(
            TestPicture.make(width: 400, height: 300, bands: 4) { x, y in
                [UInt8(x % 256), UInt8(y % 256), 99, UInt8((x + y) % 256)]
            })
        // For sets, two folders; else two files.
        let isForSets = try Checkout.text(name).contains("source: set")
        for path in isForSets ? ["in/one/1.png", "in/two/1.png", "in/two/2.png"] : ["in/picture.png"] {
            try runner.folder.write(bytes, to: path)
        }
        try await runner.picture(isForSets ? "in/one/2.jpg" : "in/small.jpg")
        let result = try await runner.run("run", Checkout.path + "/" + name, "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let report = try runner.report()
        #expect(report.summary.done == 2)
        #expect(!report.sources.flatMap(\.renditions).isEmpty)
        for rendition in report.sources.flatMap(\.renditions) {
            let size = try await runner.size(of: "out/" + rendition.path)
            #expect(size == [rendition.width, rendition.height])
            #expect(size.allSatisfy { (16...2048).contains($0) })
        }
        #expect(runner.files() == report.sources.flatMap { $0.renditions.map(\.path) }.sorted())
    }

    @Test func `the promised pipelines are there`() {
        let simple = [
            "web-photos", "product-shots", "thumbnails", "app-assets", "watermark", "corner-badge", "buttons",
        ]
        let others = ["full-page-capture", "animation", "contact-sheet", "desktop-thumbnails"]
        let names = (simple + others).map { "pipelines/\($0).yaml" }
        #expect(Set(names).isSubset(of: Checkout.files(below: "pipelines", extension: "yaml")))
    }

    @Test func `every pipeline shown in the documentation is accepted`() async throws {
        let pages = ["README.md"] + Checkout.files(below: "docs/guide", extension: "md")
        let runner = try CommandRunner()
        for page in pages {
            guard let text = try? Checkout.text(page) else { continue }
            for (index, block) in yamlBlocks(in: text).enumerated() where !block.contains("inboxes:") {
                for asset in assets(in: block) { try runner.folder.write(try await SamplePicture.png.bytes, to: asset) }
                try runner.folder.write(block, to: "block.yaml")
                let result = try await runner.run("check", "block.yaml")
                #expect(result.exit == 0, "block \(index + 1) of \(page): \(result.errors)")
            }
        }
    }

    private func yamlBlocks(in text: String) -> [String] {
        text.components(separatedBy: "```yaml\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    private func assets(in block: String) -> [String] {
        block.split { " ,{}\n\"'".contains($0) }.map(String.init).filter { $0.hasSuffix(".png") && !$0.contains("@") }
    }
}
