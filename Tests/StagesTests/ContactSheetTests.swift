import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips) struct ContactSheetTests {
    private let stage =
        "contact-sheet: { columns: 2, cell: { width: 20, height: 10 }, spacing: 4, label: none, background: white }"

    @Test(arguments: 1...3)
    func `pictures are in a grid, fitted into their cells and centred, at each scale`(scale: Int) throws {
        let wide = try TestPicture.solid([250, 0, 0], width: 400, height: 100)
        let small = try TestPicture.solid([0, 250, 0], width: 4, height: 4)
        let high = try TestPicture.solid([0, 0, 250], width: 50, height: 100)
        let joined = try join(stage, [wide, small, high], scale: scale)
        #expect((joined.image.width, joined.image.height) == (52 * scale, 32 * scale))
        let pixels = try joined.pixels
        // 20×5 in 20×10, from 2.5: half a point up if there is no half pixel.
        let top = 4 * scale + (10 * scale - 5 * scale) / 2
        #expect(pixels[4 * scale, top] == [250, 0, 0] && pixels[4 * scale, top - 1] == [255, 255, 255])
        #expect(
            pixels[24 * scale - 1, top + 5 * scale - 1] == [250, 0, 0] && pixels[24 * scale, top] == [255, 255, 255])
        // A small one keeps its own pixels.
        let (x, y) = (28 * scale + (20 * scale - 4) / 2, 4 * scale + (10 * scale - 4) / 2)
        #expect(
            pixels[x, y] == [0, 250, 0] && pixels[x - 1, y] == [255, 255, 255] && pixels[x + 3, y + 3] == [0, 250, 0])
        #expect(pixels[x + 4, y] == [255, 255, 255])
        // The second row.
        let left = 4 * scale + (20 * scale - 5 * scale) / 2
        #expect(pixels[left, 18 * scale] == [0, 0, 250] && pixels[left - 1, 18 * scale] == [255, 255, 255])
        // The cell that is left over.
        #expect(pixels[40 * scale, 24 * scale] == [255, 255, 255])
    }

    @Test func `a label is below its picture, and one that is too long is shortened in the middle`() throws {
        let picture = try TestPicture.solid([200, 200, 200], width: 80, height: 40)
        let long = String(repeating: "long <name> & ", count: 20) + "1.png"
        let joined = try join(
            "contact-sheet: { columns: 3, cell: { width: 80, height: 40 }, spacing: 6, label-color: \"#c00000\" }",
            [picture, picture, picture],
            names: ["one.png", long, " .png"])
        // 12 points of type make a line of 21.
        #expect((joined.image.width, joined.image.height) == (264, 73))
        let pixels = try joined.pixels
        func ink(_ cell: Int) -> [Int] {
            let left = 6 + cell * 86
            return (0..<86).filter { x in (46..<67).contains { y in pixels[left + x, y][1] < 128 } }
        }
        #expect(!ink(0).isEmpty && ink(0).first! > 10 && ink(0).last! < 70)
        // It fills its cell and stays in it.
        #expect(ink(1).count > 40 && ink(1).last! < 80)
        // A name of blanks has nothing to show.
        #expect(ink(2).isEmpty)
    }

    @Test(arguments: [1, 3])
    func `all labels are on one line, whatever letters they have`(scale: Int) throws {
        let pictures = try (0..<4).map { _ in try TestPicture.solid([200, 200, 200], width: 60, height: 20) }
        let stage = "contact-sheet: { columns: 4, cell: { width: 60, height: 20 }, spacing: 0 }"
        let pixels = try join(stage, pictures, scale: scale, names: ["nnn", "hhh", "ggg", "nhn"]).pixels
        let rows = (0..<4).map { cell in
            (20 * scale..<pixels.height).filter { y in
                (cell * 60 * scale..<(cell + 1) * 60 * scale).contains { pixels[$0, y][0] < 128 }
            }
        }
        #expect(rows[0].last == rows[1].last && rows[0].last == rows[3].last)
        #expect(rows[0].first == rows[2].first && rows[1].first == rows[3].first)
        #expect(
            try #require(rows[1].first) < (try #require(rows[0].first))
                && (try #require(rows[2].last)) > (try #require(rows[0].last)))
    }

    @Test func `transparent and 16 bit pictures are drawn on the background`() throws {
        let clear = try TestPicture.solid([255, 0, 0, 0], width: 20, height: 10)
        let deep = try TestPicture.solid([0, 100, 0], width: 20, height: 10).linear([257, 257, 257], [0, 0, 0]).cast(
            .ushort
        )
        .copy(interpretation: .rgb16).inMemory()
        let joined = try join(stage, [clear, deep])
        #expect(try joined.image.getpoint(x: 10, y: 8) == [65535, 65535, 65535])
        #expect(try joined.image.getpoint(x: 30, y: 8) == [0, 25700, 0])
        #expect(!joined.image.hasAlpha)
    }

    @Test func `a large picture is decoded no larger than its cell asks for`() throws {
        let text = "source: set\nrenditions: { a: { stages: [ { contact-sheet: {} } ], save: { format: jpeg } } }"
        let planner = Planner(
            pipeline: try PipelineFile(text: text, file: "t.yaml", catalogue: .all), assets: [:], limits: Limits())
        let facts = SourceFacts(format: .jpeg, size: PixelSize(4000, 3200))
        let plan = try planner.plan(set: (1...200).map { MemberFacts(name: BytePath("\($0).jpg"), facts: facts) })
        #expect(plan.members[0].load.shrink == 8)
        // Two hundred photos of 38 MB each, and yet.
        #expect(plan.memory < 300 << 20)
    }
}
