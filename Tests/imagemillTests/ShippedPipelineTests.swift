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
        // No loader reads an ICO; IconTests does.
        for rendition in report.sources.flatMap(\.renditions) where rendition.format != "ico" {
            let size = try await runner.size(of: "out/" + rendition.path)
            #expect(size == [rendition.width, rendition.height])
            #expect(size.allSatisfy { (16...2048).contains($0) })
        }
        let written = report.sources.flatMap { $0.renditions.map(\.path) + ($0.documents ?? []).map(\.path) }
        #expect(runner.files() == written.sorted())
    }

    @Test func `the promised pipelines are there`() {
        let simple = [
            "web-photos", "product-shots", "press", "thumbnails", "app-assets", "watermark", "corner-badge", "buttons",
        ]
        let others = [
            "full-page-capture", "animation", "contact-sheet", "desktop-thumbnails", "asset-catalog", "android",
            "favicon",
        ]
        let names = (simple + others).map { "pipelines/\($0).yaml" }
        #expect(Set(names).isSubset(of: Checkout.files(below: "pipelines", extension: "yaml")))
    }

    @Test(arguments: [[1280, 960], [160, 120], [300, 1280], [1280, 300]])
    func `the watermark is in the corner of a picture of any size, and as large as its share`(size: [Int]) async throws
    {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.solid([200, 200, 200], width: size[0], height: size[1])
        }
        #expect(try await runner.run("run", Checkout.path + "/pipelines/watermark.yaml", "in", "-o", "out").exit == 0)
        let mark = try #require(
            try await runner.inspect("out/a.jpg", by: "jpegload_source") {
                try PixelGrid($0).boundingBox { abs($0[0] - 200) > 40 }
            })
        let gaps = [size[0] - mark[0] - mark[2], size[1] - mark[1] - mark[3]]
        for axis in [0, 1] {
            let share = Double(size[axis])
            #expect(gaps[axis] >= 1 && Double(gaps[axis]) <= 0.03 * share + 1, "\(mark)")
            #expect(Double(mark[2 + axis]) <= 0.25 * share + 1, "\(mark)")
        }
        // The mark is 720 × 200.
        let width = min(0.25 * Double(size[0]), 0.25 * Double(size[1]) * 3.6)
        #expect(abs(Double(mark[2]) - width) <= 3, "\(mark)")
    }

    @Test func `an icon that is not square is rounded at its own corners`() async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.solid([20, 120, 220], width: 360, height: 180)
        }
        #expect(try await runner.run("run", Checkout.path + "/pipelines/app-assets.yaml", "in", "-o", "out").exit == 0)
        let alphas = try await runner.inspect("out/a.png", by: "pngload_source") { image in
            let grid = try PixelGrid(image)
            #expect(grid.sides == [60, 60])
            // The picture is in rows 15 to 44: its corners, and the middle of its edges.
            return [(0, 15), (59, 15), (0, 44), (59, 44), (0, 30), (59, 30), (30, 15), (30, 44)].map { grid[$0, $1, 3] }
        }
        #expect(alphas == [0, 0, 0, 0, 255, 255, 255, 255])
    }

    @Test(arguments: [[255, 255, 255], [0, 0, 0], [215, 0, 21]] as [[UInt8]])
    func `the badge shows on any color`(color: [UInt8]) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.solid(color, width: 240, height: 240)
        }
        #expect(
            try await runner.run("run", Checkout.path + "/pipelines/corner-badge.yaml", "in", "-o", "out").exit == 0)
        let (red, rim, hasNumber) = try await runner.inspect("out/a-badged.png", by: "pngload_source") { image in
            // The badge is 20 points wide, in the top trailing corner of 140.
            let grid = try PixelGrid(image)
            let middle = (126..<134).flatMap { x in (5..<15).map { grid[x, $0] } }
            return (grid[130, 2], grid[130, 0], middle.contains([255, 255, 255, 255]))
        }
        #expect(red[0] > 180 && red[1] < 60, "\(red)")
        #expect(rim.dropLast().allSatisfy { $0 > 180 }, "\(rim)")
        #expect(hasNumber)
    }

    @Test func `every pipeline shown in the documentation is accepted`() async throws {
        let pages = ["README.md"] + Checkout.files(below: "docs/guide", extension: "md")
        let runner = try CommandRunner()
        for page in pages {
            guard let text = try? Checkout.text(page) else { continue }
            var pipelines: [String] = []
            for (index, block) in yamlBlocks(in: text).enumerated() where !block.contains("inboxes:") {
                guard block.contains("renditions:") else {
                    // A sidecar is for one of the pipelines before it.
                    try runner.folder.write(block, to: "a.jpg.yaml")
                    var errors: [String] = []
                    for pipeline in pipelines {
                        let result = try await runner.run("check", pipeline, "a.jpg.yaml")
                        if result.exit != 0 { errors.append(result.errors) }
                    }
                    #expect(errors.count < pipelines.count, "block \(index + 1) of \(page): \(errors)")
                    continue
                }
                try await runner.assets(of: block)
                let name = "block\(index).yaml"
                pipelines.append(name)
                try runner.folder.write(block, to: name)
                let result = try await runner.run("check", name)
                #expect(result.exit == 0, "block \(index + 1) of \(page): \(result.errors)")
            }
        }
    }

    private func yamlBlocks(in text: String) -> [String] {
        text.components(separatedBy: "```yaml\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }
}
