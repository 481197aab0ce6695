import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips)
struct CompositeTests {
    private func layers(_ list: String, canvas: String = "") -> String {
        "composite: { \(canvas) layers: [ \(list) ] }"
    }

    @Test(arguments: PictureKind.all)
    func `the picture alone on its canvas is the picture`(kind: PictureKind) throws {
        let picture = try TestPicture.coded(width: 20, height: 14, kind: kind)
        let result = try render(layers("{ source: true }"), picture)
        let opaque = try PixelGrid(Picture(decoded: picture).addingAlpha().image)
        let difference = try #require(result.pixels.largestDifference(to: opaque))
        // Where there is no alpha there is no colour either.
        if !kind.hasAlpha { #expect(difference == 0) }
        #expect(result.pixels.alpha == opaque.alpha)
    }

    @Test func `layers are drawn in order, each at its place`() throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 20, height: 10)
        let result = try render(
            layers(
                "{ source: true }, { color: red, width: 10, height: 10, anchor: leading }, { color: lime, width: 4, height: 4, offset: { x: 1, y: 2 } }",
                canvas: "background: white,"), picture
        ).pixels
        #expect(result.bands == 3)
        #expect(result.boundingBox { $0 == [255, 0, 0] } == [0, 0, 10, 10])
        #expect(result.boundingBox { $0 == [0, 255, 0] } == [9, 5, 4, 4])
        #expect(result[15, 0] == [0, 0, 255])
    }

    @Test func `a canvas larger than the picture shows its background`() throws {
        let picture = try TestPicture.solid([9, 8, 7], width: 4, height: 4)
        let result = try render(
            layers("{ source: true, anchor: bottom-trailing }", canvas: "width: 10, height: 8, background: '#102030',"),
            picture
        )
        .pixels
        #expect(result.sides == [10, 8])
        #expect(result[0, 0] == [16, 32, 48] && result[9, 7] == [9, 8, 7] && result[5, 7] == [16, 32, 48])
    }

    @Test func `alpha of a layer and of its colour multiply`() throws {
        let picture = try TestPicture.solid([0, 0, 0], width: 4, height: 4)
        let result = try render(
            layers("{ source: true }, { color: '#ffffff80', alpha: 0.5 }", canvas: "background: black,"), picture
        ).pixels
        // 128/255 × 0.5 of white over black.
        #expect(abs(result[1, 1][0] - 64) <= 1)
    }

    @Test func `layers nest, and a nested canvas is blended as one`() throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 20, height: 20)
        // Two overlapping half transparent squares would show their overlap; as one layer at half alpha they do not.
        let nested =
            "{ layers: [ { color: red, width: 10, height: 10, anchor: top-leading }, { color: red, width: 10, height: 10 } ], alpha: 0.5 }"
        let result = try render(layers("{ source: true }, \(nested)", canvas: "background: black,"), picture).pixels
        #expect(result[7, 7] == result[2, 2] && result[7, 7] == result[13, 13])
        #expect(abs(result[7, 7][0] - 128) <= 1 && result[18, 2] == [0, 0, 255])
    }

    @Test func `a layer is pushed off what it must not cover, by the overlap and the spacing`() throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 40, height: 40)
        let bar = "color: red, width: 40, height: 10, anchor: bottom, avoid: { x: 0, y: 34, width: 40, height: 6 }"
        let result = try render(
            layers("{ source: true }, { \(bar), spacing: 4 }", canvas: "background: black,"), picture
        ).pixels
        #expect(result.boundingBox { $0 == [255, 0, 0] } == [0, 20, 40, 10])
        let error = #expect(throws: PlanFailure.self) {
            try render(layers("{ source: true }, { \(bar), spacing: 31 }", canvas: "background: black,"), picture)
        }
        #expect(error?.failure.code == .overlayDoesNotFit && error?.failure.stage == "composite")
        #expect(error?.failure.message.hasPrefix("the layer of 40×10 at (0, 30) covers 40×6 at (0, 34)") == true)
    }

    @Test(
        arguments: ContentMode.allCases,
        ["", ", background: '#336699'", ", alpha: 0.4", ", background: '#33669980', alpha: 0.4", ", opaque: true"])
    func `a frame in a layer or an overlay shows what a frame alone shows`(mode: ContentMode, how: String) throws {
        for kind in [PictureKind(), PictureKind(hasAlpha: true), PictureKind(hasAlpha: true, isDeep: true)] {
            let picture = try TestPicture.coded(width: 26, height: 18, kind: kind)
            let frame = "frame: { width: 31, height: 13, mode: \(mode.rawValue)\(how) }"
            let alone = try PixelGrid(Picture(decoded: render(frame, picture).image).addingAlpha().image)
            let layered = try render(
                "composite: { width: 31, height: 13, layers: [ { source: true, stages: [ { \(frame) } ] } ] }", picture
            ).pixels
            #expect(BlendReference.difference(layered, alone) == 0, "\(kind)")
            guard !kind.isDeep else { continue }
            // Assets have alpha from the beginning.
            let asset = try Picture(decoded: TestPicture.coded(width: 26, height: 18, kind: kind)).addingAlpha().image
            let expected = try PixelGrid(Picture(decoded: render(frame, asset).image).addingAlpha().image)
            let canvas = try TestPicture.solid([0, 0, 0, 0], width: 31, height: 13)
            let overlaid = try render(
                "overlay: { image: a, stages: [ { \(frame) } ] }", canvas, assets: TestAssets(images: ["a": asset])
            ).pixels
            #expect(BlendReference.difference(overlaid, expected) == 0, "\(kind) overlaid")
        }
    }

    @Test func `a nested canvas of its own size sits at its place and has its own background`() throws {
        let picture = try TestPicture.solid([0, 0, 0], width: 20, height: 20)
        let nested =
            "{ layers: [ { color: lime, width: 2, height: 2 } ], width: 6, height: 6, background: red, anchor: top-trailing, offset: { x: 1, y: 1 } }"
        let result = try render(layers("{ source: true }, \(nested)", canvas: "background: black,"), picture).pixels
        #expect(result.boundingBox { $0[0] == 255 || $0[1] == 255 } == [13, 1, 6, 6])
        #expect(result.boundingBox { $0 == [0, 255, 0] } == [15, 3, 2, 2])
    }

    @Test(arguments: [1, 2, 3])
    func `points count at every scale, the picture as many as it has`(scale: Int) throws {
        let picture = try TestPicture.solid([0, 0, 255], width: 10 * scale, height: 10 * scale)
        let list =
            "{ source: true }, { color: red, width: 4, height: 2, anchor: bottom-trailing, offset: { x: 1, y: 1 } }"
        let result = try render(
            layers(list, canvas: "background: white,"), picture, scale: scale, pixelsPerPoint: scale
        ).pixels
        #expect(result.sides == [10 * scale, 10 * scale])
        #expect(result.boundingBox { $0 == [255, 0, 0] } == [5 * scale, 7 * scale, 4 * scale, 2 * scale])
    }

    @Test func `a layer's stages are its own`() throws {
        let picture = try TestPicture.solid([200, 100, 0], width: 12, height: 12)
        let stages = "stages: [ { resize: { size: 6x6 } }, { mask: { shape: circle } } ]"
        let result = try render(layers("{ color: white }, { source: true, \(stages) }"), picture).pixels
        #expect(result[6, 6] == [200, 100, 0, 255] && result[0, 0] == [255, 255, 255, 255])
        // A corner of which the circle covers a thirtieth.
        #expect(zip(result[3, 3], [253, 250, 247, 255]).allSatisfy { abs($0 - $1) <= 3 }, "\(result[3, 3])")
    }

    @Test func `sixteen bits stay sixteen bits in every layer`() throws {
        let kind = PictureKind(isDeep: true)
        let picture = try TestPicture.make(width: 6, height: 6, kind: kind) { _, _ in [1000, 30_000, 65_535] }
        let result = try render(
            layers("{ source: true }, { color: '#80000080', width: 2, height: 2 }", canvas: "background: white,"),
            picture
        ).pixels
        #expect(result[0, 0] == [1000, 30_000, 65_535])
        // Source over with an alpha of 128/255, in 16 bits.
        let share = 128.0 / 255
        let expected = [128 * 257 * share + 1000 * (1 - share), 30_000 * (1 - share), 65_535 * (1 - share)]
        for band in 0..<3 { #expect(abs(Double(result[2, 2, band]) - expected[band]) <= 2) }
    }

    @Test func `grey stays grey while only greys are drawn`() throws {
        let picture = try TestPicture.solid([77], width: 6, height: 6)
        #expect(
            try render(
                layers("{ source: true }, { color: '#808080', width: 2, height: 2 }", canvas: "background: white,"),
                picture
            ).pixels.bands == 1
        )
        #expect(
            try render(
                layers("{ source: true }, { color: red, width: 2, height: 2 }", canvas: "background: white,"), picture
            ).pixels[0, 0] == [
                77, 77, 77,
            ])
    }
}
