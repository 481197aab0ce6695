import Stages
import Testing

@testable import Pipeline

struct CostModelTests {
    private static let formats: [SourceFormat] = [.jpeg, .png, .webp, .gif, .tiff, .heic, .avif]
    private static let saves = [
        "{ format: jpeg }", "{ format: jpeg, progressive: true }", "{ format: png }", "{ format: png, palette: true }",
        "{ format: png, progressive: true }", "{ format: webp }", "{ format: webp, lossless: true }",
        "{ format: avif }", "{ format: jxl }", "{ format: jxl, lossless: true, effort: 9 }",
        "{ format: tiff }",
        "{ format: gif }",
    ]

    @Test(arguments: formats)
    func `a larger picture never needs less memory or time`(format: SourceFormat) throws {
        for save in Self.saves {
            for stages in [[], ["rotate: { angle: 90 }"], ["inset: { all: 5% }"]] {
                let plans = try [100, 101, 500, 1000, 2000, 4000, 8000].map { side in
                    try plan(
                        onePipeline(stages, save: save),
                        SourceFacts(format: format, size: PixelSize(side, side), isInterlaced: true))
                }
                // From some size on PNG is packed row by row, which needs less.
                let memory = Array(plans.map(\.memory).dropLast(save == "{ format: png }" ? 2 : 0))
                #expect(memory == memory.sorted(), "\(save) \(stages)")
                #expect(plans.map(\.deadline) == plans.map(\.deadline).sorted(), "\(save) \(stages)")
            }
        }
    }

    /// A picture whose decoder holds some rows.
    private func tiff(_ width: Int, _ height: Int, hasAlpha: Bool = false, depth: BitDepth = .eight) -> SourceFacts {
        var source = SourceFacts(
            format: .tiff, size: PixelSize(width, height), hasAlpha: hasAlpha, depth: depth)
        source.parts = StoredParts(size: PixelSize(width, 8))
        return source
    }

    @Test
    func `what is held counts in full`() throws {
        let source = tiff(4000, 3000)
        let pixels = 4000 * 3000
        let streaming = try plan(onePipeline(["resize: { size: 100 }"]), source).memory
        let held = try plan(onePipeline(["flip: { axis: vertical }", "resize: { size: 100 }"]), source).memory
        #expect(streaming >= CostModel.base)
        // But for the rows that pass, which are counted either way.
        #expect(100 * (held - streaming) >= 99 * 3 * pixels)
        let sixteen = tiff(4000, 3000, hasAlpha: true, depth: .sixteen)
        let streamingSixteen = try plan(onePipeline(["resize: { size: 100 }"]), sixteen).memory
        let heldSixteen = try plan(onePipeline(["flip: { axis: vertical }", "resize: { size: 100 }"]), sixteen).memory
        #expect(100 * (heldSixteen - streamingSixteen) >= 99 * 8 * pixels)
    }

    @Test func `a joined set is counted if its only rendition needs it in memory`() throws {
        func memory(_ stages: [String]) throws -> (memory: Int, joined: Int) {
            let text = onePipeline(stages, shared: ["stitch"], head: "source: set")
            let planner = Planner(pipeline: try pipeline(text), assets: [:], limits: Limits())
            let members = (1...4).map { MemberFacts(name: BytePath("\($0).png"), facts: .png(2000, 2000)) }
            let plan = try planner.plan(set: members)
            return (plan.memory, try #require(plan.shared.last).output.bytes)
        }
        let (held, joined) = try memory(["flip: { axis: vertical }", "resize: { size: 100 }"])
        // The members, and what they are joined to.
        #expect(held >= CostModel.base + 2 * joined)
        #expect(try memory(["resize: { size: 100 }"]).memory < CostModel.base + 2 * joined)
    }

    @Test func `what the first stage scales to is held until the last one has its result`() throws {
        let picture = tiff(4000, 3000)
        let once = try plan(onePipeline(["resize: { size: 3900 }"], save: "{ format: tiff }"), picture).memory
        // Then 7800 × 5850 pixels beside it, and 5000 × 3750 made of them.
        let stages = ["resize: { size: 3900 }", "resize: { size: 7800 }", "resize: { size: 5000 }"]
        let thrice = try plan(onePipeline(stages, save: "{ format: tiff }"), picture).memory
        #expect(thrice - once >= 3 * (7800 * 5850 + 5000 * 3750))
    }

    @Test
    func `a decoder that is gone does not count beside the encoder`() throws {
        // The file, its rows and its pixels; then the pixels, those that are turned, and what they are packed to.
        var picture = SourceFacts.png(4000, 3000)
        picture.bytes = 4000 * 3000
        let bytes = 3 * 4000 * 3000
        let small = try plan(onePipeline(["resize: { size: 10 }"], save: "{ format: tiff }"), picture).memory
        #expect(small - CostModel.base >= picture.bytes + 2 * bytes)
        let turned = try plan(onePipeline(["flip: { axis: vertical }"], save: "{ format: png }"), picture).memory
        #expect(turned - CostModel.base >= 5 * bytes && turned - CostModel.base < 6 * bytes)
    }

    @Test(arguments: [
        // Strips of 8 rows; one, as it is packed; tiles, of which two rows are held.
        (StoredParts(size: PixelSize(6000, 8)), 0, 1), (StoredParts(size: PixelSize(6000, 4000)), 0, 1),
        (StoredParts(size: PixelSize(6000, 4000), arePacked: true), 30_000_000, 31_000_000),
        (StoredParts(size: PixelSize(4096, 1024), areTiles: true), 4 * 4096 * 1024 * 3, 4 * 4096 * 1024 * 3),
    ])
    func `a TIFF's decoder holds the parts that it is stored in`(parts: StoredParts, least: Int, most: Int) throws {
        var source = tiff(6000, 4000)
        source.bytes = 30_000_000
        let text = onePipeline(["resize: { size: 100 }"])
        let rows = try plan(text, source).memory
        source.parts = parts
        let difference = try plan(text, source).memory - rows
        #expect(difference + 8 * 6000 * 3 >= least && difference <= most)
    }

    @Test
    func `a WebP's decoder holds planes if there are losses and it is shrunk, else all bands`() throws {
        func memory(isLossless: Bool) throws -> Int {
            var source = SourceFacts(format: .webp, size: PixelSize(6000, 4000))
            source.coded = CodedPicture(source.size)
            source.coded?.hasFullChroma = isLossless
            return try plan(onePipeline(["resize: { size: 500 }"], save: "{ format: jpeg }"), source).memory
        }
        #expect(try memory(isLossless: true) - memory(isLossless: false) >= 9 * 6000 * 4000)
        #expect(try memory(isLossless: false) < CostModel.base + 3 * 6000 * 4000)
    }

    @Test
    func `an asset counts with its own decoder, and a small one keeps little`() throws {
        let text = onePipeline(["overlay: { image: a.png, width: 10 }"], save: "{ format: jpeg }")
        func memory(_ asset: AssetFacts?) throws -> Int {
            try plan(text, .jpeg(400, 300), assets: asset.map { ["a.png": $0] } ?? [:]).memory
        }
        func asset(_ side: Int, decoding: Int) -> AssetFacts {
            AssetFacts(size: PixelSize(side, side), pixelsPerPoint: 1, isGrey: false, decoding: decoding)
        }
        let small = try memory(asset(64, decoding: 0))
        #expect((4 << 20...6 << 20).contains(small - CostModel.base))
        #expect(try memory(asset(4000, decoding: 200_000_000)) - CostModel.base == 200_000_000)
    }

    @Test
    func `a picture is looked at before it is rendered, not meanwhile`() throws {
        let text = onePipeline(["trim"], save: "{ format: tiff }")
        let looking = try plan(text, tiff(6000, 4000)).memory - CostModel.base
        // All pixels once, in the colors of stages; what is turned is held in its own colors too.
        #expect((72_000_000..<86_000_000).contains(looking))
        var turned = tiff(6000, 4000)
        turned.orientation = 6
        #expect((144_000_000..<158_000_000).contains(try plan(text, turned).memory - CostModel.base))
    }

    @Test
    func `a decode at reduced size needs less memory`() throws {
        let text = onePipeline(["rotate: { angle: 90 }", "resize: { size: 300 }"], save: "{ format: jpeg }")
        #expect(try plan(text, .jpeg(6000, 4000)).memory < plan(text, .png(6000, 4000)).memory)
    }

    @Test
    func `wide samples and full chroma count in the decoder's memory`() throws {
        let text = onePipeline(["resize: { size: 100 }"])
        func memory(_ depth: BitDepth, full: Bool) throws -> Int {
            var source = SourceFacts(format: .avif, size: PixelSize(6000, 4000), depth: depth)
            var coded = CodedPicture(source.size)
            (coded.depth, coded.hasFullChroma) = (depth, full)
            source.coded = coded
            return try plan(text, source).memory
        }
        let pixels = 6000 * 4000
        #expect(try memory(.sixteen, full: false) - memory(.eight, full: false) >= 9 * pixels)
        #expect(try memory(.eight, full: true) - memory(.eight, full: false) >= 3 * pixels)
        // Measured: 541 MiB.
        #expect(try memory(.sixteen, full: true) >= 541 << 20)
    }

    @Test
    func `every frame of an animation counts`() throws {
        // Scaled while they are loaded, the frames are held as small as they become; else as large as they are.
        for (stage, side) in [("resize: { size: 200 }", 200), ("crop: { width: 200, height: 200 }", 400)] {
            let text = onePipeline([stage], save: "{ format: gif }")
            let memory = try [2, 10, 100].map { try plan(text, .gif(400, 400, frames: $0)).memory }
            let frame = side * side * 3
            #expect(memory[1] - memory[0] >= 8 * frame)
            #expect(memory[2] - memory[1] >= 90 * frame)
        }
    }

    @Test
    func `the deadline grows with the effort of AVIF, with pixels and with renditions`() throws {
        func deadline(effort: Int, scale: String = "1", side: Int = 1000) throws -> Double {
            let text = onePipeline(
                ["resize: { size: \(side) }"], save: "{ format: avif, effort: \(effort) }", scale: scale)
            return try plan(text, .jpeg(2000, 2000)).deadline
        }
        let efforts = try (0...9).map { try deadline(effort: $0) }
        #expect(zip(efforts, efforts.dropFirst()).allSatisfy(<))
        #expect(efforts[0] >= 60)
        #expect(try deadline(effort: 4, side: 2000) > deadline(effort: 4))
        #expect(try deadline(effort: 4, scale: "[1, 2]") > deadline(effort: 4, side: 2000))
    }

    @Test
    func `the largest picture that the limits let pass has a cost that is a number`() throws {
        var limits = Limits()
        limits.maximumPixels = .max
        limits.maximumFrames = .max
        let source = SourceFacts(format: .gif, size: PixelSize(60_000, 60_000), frames: 1_000_000)
        let plan = try plan(onePipeline(["rotate: { angle: 90 }"], save: "{ format: gif }"), source, limits: limits)
        #expect(plan.memory > 1 << 40)
        #expect(plan.deadline.isFinite)
    }
}
