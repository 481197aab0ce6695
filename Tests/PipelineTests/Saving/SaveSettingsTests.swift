import Testing

@testable import Pipeline

struct SaveSettingsTests {
    @Test(
        arguments: [
            ("{ format: jpeg, quality: 90 }", true), ("{ format: jpeg, quality: 91 }", false),
            ("{ format: jpeg }", true),
            ("{ format: webp, quality: 90 }", true), ("{ format: webp, quality: 91 }", false),
            ("{ format: webp, lossless: true }", false),
            ("{ format: avif, quality: 75 }", true), ("{ format: avif, quality: 76 }", false),
            ("{ format: avif, lossless: true }", false),
            ("{ format: jxl }", true), ("{ format: jxl, quality: 76 }", false),
            ("{ format: jxl, lossless: true }", false),
            ("{ format: png }", false), ("{ format: tiff, compression: jpeg }", false), ("{ format: gif }", false),
        ])
    func `only the losses of an encoder hide those of a reduced decode`(save: String, hides: Bool) throws {
        #expect(try pipeline(onePipeline([], save: save)).renditions.first?.save.encoding.hidesFineErrors == hides)
    }

    @Test(arguments: OutputFormat.allCases)
    func `every format can be named alone`(format: OutputFormat) throws {
        let save = try #require(
            try pipeline(onePipeline([], save: "{ format: \(format.rawValue) }")).renditions.first?.save)
        #expect(save.format == format)
        #expect(save.written == "{ format: \(format.rawValue) }")
    }

    @Test(
        arguments: [
            ("png", .eight, .eight), ("png", .sixteen, .sixteen), ("jpeg", .sixteen, .eight),
            ("webp", .sixteen, .eight), ("gif", .sixteen, .eight), ("tiff", .sixteen, .sixteen),
            ("tiff", .float, .float), ("tiff, compression: jpeg", .sixteen, .eight), ("avif", .eight, .eight),
            ("avif", .sixteen, .sixteen), ("avif, bit-depth: 8", .sixteen, .eight),
            ("avif, bit-depth: 12", .eight, .sixteen), ("jxl", .eight, .eight), ("jxl", .sixteen, .sixteen),
        ] as [(String, BitDepth, BitDepth)])
    func `a format keeps the depth that it has bits for, or that which is named`(
        save: String, drawn: BitDepth, expected: BitDepth
    ) throws {
        let settings = try #require(
            try pipeline(onePipeline([], save: "{ format: \(save) }")).renditions.first?.save)
        #expect(settings.encoding.depth(of: drawn) == expected)
    }

    @Test(arguments: [
        ("9", "'bit-depth' takes one of 8, 12, found 9"), ("10", "'bit-depth' takes one of 8, 12, found 10"),
    ])
    func `only depths that encoders have can be named`(depth: String, words: String) throws {
        let error = #expect(throws: Diagnostics.self) {
            try pipeline(onePipeline([], save: "{ format: avif, bit-depth: \(depth) }"))
        }
        #expect(error?.items.map(\.message) == [words])
    }

    @Test(arguments: ["webp", "avif", "jxl"])
    func `quality and lossless together are a mistake`(format: String) throws {
        let error = #expect(throws: Diagnostics.self) {
            try pipeline(onePipeline([], save: "{ format: \(format), lossless: true, quality: 80 }"))
        }
        #expect(
            error?.items.map(\.message) == ["'quality' has no meaning with 'lossless: true'; remove one of them"])
    }

    @Test
    func `colours of PNG count only with a palette`() throws {
        func colours(_ save: String) throws -> Int? {
            let png = try #require(
                try pipeline(onePipeline([], save: save)).renditions.first?.save.encoding as? PNGOutput)
            return png.paletteColors
        }
        #expect(try colours("{ format: png }") == nil)
        #expect(try colours("{ format: png, palette: true }") == 256)
        #expect(try colours("{ format: png, palette: true, colors: 16 }") == 16)
    }
}
