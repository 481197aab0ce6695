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
            ("{ format: png }", false), ("{ format: tiff, compression: jpeg }", false), ("{ format: gif }", false),
        ])
    func `only the losses of an encoder hide those of a reduced decode`(save: String, hides: Bool) throws {
        #expect(try pipeline(onePipeline([], save: save)).renditions.first?.save.hidesFineErrors == hides)
    }

    @Test(arguments: OutputFormat.allCases)
    func `every format can be named alone`(format: OutputFormat) throws {
        let save = try #require(
            try pipeline(onePipeline([], save: "{ format: \(format.rawValue) }")).renditions.first?.save)
        #expect(save.format == format)
        #expect(save.written == "{ format: \(format.rawValue) }")
    }

    @Test
    func `colours of PNG count only with a palette`() throws {
        func colours(_ save: String) throws -> Int? {
            guard case .png(let options)? = try pipeline(onePipeline([], save: save)).renditions.first?.save.encoding
            else { return -1 }
            return options.paletteColors
        }
        #expect(try colours("{ format: png }") == nil)
        #expect(try colours("{ format: png, palette: true }") == 256)
        #expect(try colours("{ format: png, palette: true, colors: 16 }") == 16)
    }
}
