// A TIFF may have samples that are neither colours nor alpha: saved selections, masks, depth.
import TestSupport
import Testing

@testable import Render

/// A TIFF of one colour, and what is done with its pixels.
private struct ChannelCase: Sendable, CustomTestStringConvertible {
    let photometric: Int
    let pixel: [Int]
    let extra: [Int]
    let expected: [Int]
    var dropped = 0

    var testDescription: String { "\(pixel) with \(extra)" }

    static let all: [ChannelCase] = [
        ChannelCase(photometric: 2, pixel: [200, 100, 50, 0], extra: [0], expected: [200, 100, 50], dropped: 1),
        ChannelCase(
            photometric: 2, pixel: [200, 100, 50, 0, 9], extra: [0, 0], expected: [200, 100, 50], dropped: 2),
        ChannelCase(
            photometric: 2, pixel: [200, 100, 50, 0, 128], extra: [0, 2], expected: [200, 100, 50, 128], dropped: 1),
        ChannelCase(
            photometric: 2, pixel: [200, 100, 50, 128, 0], extra: [2, 0], expected: [200, 100, 50, 128], dropped: 1),
        ChannelCase(
            photometric: 2, pixel: [100, 50, 25, 0, 128], extra: [0, 1], expected: [200, 100, 50, 128], dropped: 1),
        ChannelCase(
            photometric: 2, pixel: [100, 50, 25, 128, 0], extra: [1, 0], expected: [200, 100, 50, 128], dropped: 1),
        ChannelCase(photometric: 2, pixel: [100, 50, 25, 128], extra: [1], expected: [200, 100, 50, 128]),
        ChannelCase(photometric: 2, pixel: [200, 100, 50, 128], extra: [2], expected: [200, 100, 50, 128]),
        ChannelCase(photometric: 2, pixel: [200, 100, 50, 128], extra: [], expected: [200, 100, 50, 128]),
        ChannelCase(photometric: 2, pixel: [200, 100, 50], extra: [], expected: [200, 100, 50]),
        ChannelCase(photometric: 1, pixel: [200, 0], extra: [0], expected: [200], dropped: 1),
        ChannelCase(photometric: 1, pixel: [200, 0, 0], extra: [0, 0], expected: [200], dropped: 2),
        ChannelCase(photometric: 1, pixel: [100, 128], extra: [1], expected: [200, 128]),
        ChannelCase(photometric: 5, pixel: [0, 0, 0, 0, 0], extra: [0], expected: [255, 255, 255], dropped: 1),
        ChannelCase(photometric: 5, pixel: [0, 0, 0, 0, 128], extra: [2], expected: [255, 255, 255, 128]),
    ]
}

@Suite struct TIFFChannelTests {
    @Test(arguments: ChannelCase.all, [8, 16])
    private func `samples that are neither colours nor alpha are left out`(channels: ChannelCase, bits: Int)
        async throws
    {
        let runner = try CommandRunner()
        let factor = bits == 16 ? 257 : 1
        let file = SmallTIFF.file(
            pixel: channels.pixel.map { $0 * factor }, bits: bits, photometric: channels.photometric,
            extra: channels.extra)
        try runner.folder.write(file, to: "in/a.tif")
        let result = try await runner.render(save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        let found = try await runner.inspect("out/a.png", by: "pngload_source") { try PixelGrid($0)[8, 6] }
        #expect(found.count == channels.expected.count)
        // Values that were multiplied by alpha were rounded.
        for (value, expected) in zip(found, channels.expected) {
            #expect(abs(value - expected * factor) <= 2 * factor, "\(found)")
        }
        let warnings = try runner.report()["a.tif"]?.warnings.filter { $0.code == "channels-dropped" } ?? []
        let count = channels.dropped == 1 ? "1 channel" : "\(channels.dropped) channels"
        #expect(
            warnings.map(\.message)
                == (channels.dropped == 0 ? [] : ["the file has \(count) besides colors and alpha; not used"]))
    }

    /// Before 8.15, libvips takes the alpha of floating point for one up to 255 when it divides the colors by it.
    @Test(arguments: [([100, 50, 25, 128], [1]), ([100, 50, 25, 0, 128], [0, 1]), ([200, 100, 50, 128], [2])])
    func `colors in floating point are divided by their alpha if it is multiplied in`(pixel: [Int], extra: [Int])
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(SmallTIFF.file(pixel: pixel, bits: 32, photometric: 2, extra: extra), to: "in/a.tif")
        #expect(try await runner.render(save: "{ format: png }").exit == 0)
        let found = try await runner.inspect("out/a.png", by: "pngload_source") { try PixelGrid($0)[8, 6] }
        // Light of 200, 100 and 50 of 255, as sRGB writes it.
        for (value, expected) in zip(found, [229, 168, 122, 128]) {
            #expect(abs(value - expected * 257) < 300, "\(found)")
        }
        #expect(found.count == 4)
    }

    @Test
    func `a member of a set and an asset lose them too`() async throws {
        let runner = try CommandRunner()
        let file = SmallTIFF.file(pixel: [200, 100, 50, 0], photometric: 2, extra: [0])
        try runner.folder.write(file, to: "badge.tif")
        for name in ["a.tif", "b.tif"] { try runner.folder.write(file, to: "in/set/\(name)") }
        try runner.folder.write(
            """
            source: set
            renditions:
              a:
                stages: [ contact-sheet: { columns: 2, cell: { width: 16, height: 12 }, spacing: 0 }, overlay: { image: badge.tif, anchor: top-left } ]
                save: { format: png }
            """, to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let grid = try await runner.inspect("out/set.png", by: "pngload_source") { try PixelGrid($0) }
        for x in [3, 20] { #expect(Array(grid[x, 6].prefix(3)) == [200, 100, 50], "\(grid[x, 6])") }
        #expect(
            try runner.report().sources.first?.warnings.map(\.message).contains(
                "of 'a.tif', 'b.tif' only colors and alpha are used") == true)
    }

    @Test
    func `more bands than the limit are refused, whether they are used or not`() async throws {
        let runner = try CommandRunner()
        let file = SmallTIFF.file(pixel: [200, 100, 50, 0, 0, 0], photometric: 2, extra: [0, 0, 0])
        try runner.folder.write(file, to: "in/a.tif")
        #expect(try await runner.render(save: "{ format: png }").exit == 2)
        #expect(
            try runner.report()["a.tif"]?.error?.message == "the picture has 6 bands; the limit is 5 (max-bands)")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--max-bands", "6").exit == 0)
    }
}
