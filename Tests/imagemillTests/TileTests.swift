// Tiled TIFF, pyramids, and archives of tiles.
import Foundation
import TestSupport
import Testing
import Vips

@testable import System

@Suite struct TileTests {
    private func made(_ save: String, width: Int = 700, height: Int = 500, alpha: Bool = false) async throws
        -> CommandRunner
    {
        let runner = try CommandRunner()
        let bands = alpha ? 4 : 3
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: width, height: height, bands: bands) { x, y in
                [UInt8((x * 3 + y) % 256), UInt8(y % 256), UInt8((x / 40 + y / 40) % 2 * 200)]
                    + (alpha ? [UInt8(min(255, x))] : [])
            }
        }
        try runner.folder.write("renditions: { a: { save: \(save), file: \"a.{ext}\" } }\n", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        return runner
    }

    private func pages(_ runner: CommandRunner) async throws -> [[Int]] {
        try await inVipsTurn {
            let path = runner.folder.path("out/a.tif")
            let first = try Operation("tiffload", [("filename", .string(path))]).image()
            return try (0..<first.pages).map { page in
                let image = try Operation("tiffload", [("filename", .string(path)), ("page", .int(page))]).image()
                return [image.width, image.height]
            }
        }
    }

    @Test(arguments: ["lzw", "jpeg", "none"])
    func `a pyramid has the picture at half its size, a quarter and so on, in tiles`(compression: String) async throws {
        let runner = try await made("{ format: tiff, pyramid: true, tile: 128, compression: \(compression) }")
        #expect(try await pages(runner) == [[700, 500], [350, 250], [175, 125], [87, 62]])
        let info = try await runner.shell("tiffinfo out/a.tif 2>/dev/null || true")
        if !info.output.isEmpty {
            #expect(info.output.matches(of: /Tile Width: 128 Tile Length: 128/).count == 4, "\(info.output)")
        }
        let again = try await runner.run("run", "--resize", "100x", "--format", "png", "out/a.tif", "-o", "small")
        #expect(again.exit == 0, "\(again.errors)")
    }

    @Test func `tiles without a pyramid, and what they cannot be`() async throws {
        #expect(try await pages(made("{ format: tiff, tile: 64 }")) == [[700, 500]])
        let runner = try CommandRunner()
        for (save, words) in [
            ("{ format: tiff, tile: 100 }", "'tile' takes a multiple of 16, found 100"),
            ("{ format: tiles, layout: iiif }", "'layout: iiif' needs 'id'"),
            ("{ format: tiles, overlap: 1, layout: xyz }", "'overlap' needs 'layout: deepzoom'"),
            ("{ format: tiles, id: \"https://example.org/a\" }", "'id' needs 'layout: iiif'"),
            ("{ format: tiles, layout: iiif, id: here }", "expected an address such as"),
        ] {
            try runner.folder.write("renditions: { a: { save: \(save) } }\n", to: "p.yaml")
            let result = try await runner.run("check", "p.yaml")
            #expect(result.exit != 0 && result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `a picture that is too wide for JPEG in strips is refused by its plan, and is made in tiles`()
        async throws
    {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.solid([9, 9, 9], width: 65_600, height: 3)
        }
        try runner.folder.write("renditions: { a: { save: { format: tiff, compression: jpeg } } }\n", to: "p.yaml")
        let plan = try await runner.run("plan", "in/a.png", "p.yaml")
        #expect(
            plan.exit != 0
                && (plan.output + plan.errors).contains(
                    "'a' would be 65600×3 pixels; tiff with 'compression: jpeg' holds up to 65500 across; add 'tile: 256'"
                ),
            "\(plan.output + plan.errors)")
        // A part that is found by a look at it may fit.
        try await runner.save("small/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 65_600, height: 12) { x, y in
                Array(repeating: x < 40 && y > 2 && y < 9 ? 0 : 255, count: 3)
            }
        }
        try runner.folder.write(
            "renditions: { a: { stages: [ trim ], save: { format: tiff, compression: jpeg } } }\n", to: "p.yaml")
        let trimmed = try await runner.run("run", "p.yaml", "small", "-o", "trimmed")
        #expect(trimmed.exit == 0, "\(trimmed.errors)")
        try runner.folder.write(
            "renditions: { a: { save: { format: tiff, compression: jpeg, tile: 256 } } }\n", to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
    }

    /// An archive's files by somebody else's program.
    private func unpacked(_ runner: CommandRunner) async throws -> [String] {
        let script =
            "import zipfile; archive = zipfile.ZipFile('out/a.zip'); assert archive.testzip() is None; archive.extractall('tiles')"
        let result = try await runner.shell("python3 -c \"\(script)\"")
        #expect(result.exit == 0, "\(result.errors)")
        return runner.files(in: "tiles")
    }

    private func pixels(_ path: String, _ runner: CommandRunner, area: [Int]? = nil) throws -> [UInt8] {
        let image = try Operation("pngload", [("filename", .string(runner.folder.path(path)))]).image()
        guard let area else { return try image.pixels() }
        return try image.extractArea(left: area[0], top: area[1], width: area[2], height: area[3]).pixels()
    }

    @Test(arguments: [0, 2], [false, true])
    func `the tiles of Deep Zoom are cuts of the picture`(overlap: Int, alpha: Bool) async throws {
        let runner = try await made(
            "{ format: tiles, container: zip, tile-format: png, overlap: \(overlap) }", alpha: alpha)
        let files = try await unpacked(runner)
        let description = String(decoding: try runner.bytes("tiles/image.dzi"), as: UTF8.self)
        #expect(
            description.contains("Overlap=\"\(overlap)\" TileSize=\"256\"")
                && description.contains("Width=\"700\" Height=\"500\""))
        // Levels 0 to 10, of 1 to 700 pixels.
        #expect(files.count(where: { $0.hasPrefix("image_files/10/") }) == 6)
        #expect(files.filter { $0.hasPrefix("image_files/0/") } == ["image_files/0/0_0.png"])
        try await inVipsTurn {
            for column in 0..<3 {
                for row in 0..<2 {
                    let (left, top) = (max(0, column * 256 - overlap), max(0, row * 256 - overlap))
                    let (right, bottom) = (min(700, (column + 1) * 256 + overlap), min(500, (row + 1) * 256 + overlap))
                    let tile = try pixels("tiles/image_files/10/\(column)_\(row).png", runner)
                    #expect(try tile == pixels("in/a.png", runner, area: [left, top, right - left, bottom - top]))
                }
            }
            // Half the size, by an independent way of scaling: libvips', in floating point, since it would cut what is
            // beyond white after each direction.
            let whole = try Operation("pngload", [("filename", .string(runner.folder.path("in/a.png")))]).image()
            let covered = alpha ? try whole.premultiply() : try whole.cast(.float)
            let half = try covered.resize(width: 350, height: 250)
            let small = try (alpha ? half.unpremultiply(maximumAlpha: 255) : half).rint().cast(.uchar)
                .extractArea(left: 0, top: 0, width: 200, height: 200)
            let tile = try Operation(
                "pngload", [("filename", .string(runner.folder.path("tiles/image_files/9/0_0.png")))]
            ).image().extractArea(left: 0, top: 0, width: 200, height: 200)
            let differences = zip(try small.pixels(), try tile.pixels()).map { abs(Int($0) - Int($1)) }
            let mean = Double(differences.reduce(0, +)) / Double(differences.count)
            #expect((differences.max() ?? 255) <= (alpha ? 40 : 8) && mean < 0.5, "\(differences.max() ?? 0), \(mean)")
        }
    }

    @Test(arguments: ["tiles, container: zip, tile-format: png", "ico, sizes: [16, 32]"])
    func `an even color stays what it is at every size, and what is opaque stays opaque`(format: String) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.png", as: "pngsave_target") {
            try TestPicture.make(width: 256, height: 256, bands: 4) { x, y in
                [201, 100, 33, x == 255 && y == 255 ? 0 : 255]
            }
        }
        try runner.folder.write("renditions: { a: { save: { format: \(format) }, file: \"a.{ext}\" } }\n", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let names =
            format.hasPrefix("ico") ? try icons(runner) : try await unpacked(runner).filter { $0.hasSuffix("png") }
        #expect(names.count >= 3)
        for name in names {
            // The smallest picture has the clear pixel in all of it.
            if name.hasPrefix("image_files/0/") { continue }
            let size = try await runner.size(of: "tiles/" + name)
            let half = [0, 0, size[0], size[1] / 2]
            let upper = try await inVipsTurn { try pixels("tiles/" + name, runner, area: half) }
            let even = Array(repeating: [201, 100, 33, 255] as [UInt8], count: half[2] * half[3]).flatMap(\.self)
            #expect(upper == even, "\(name)")
        }
    }

    /// Writes the pictures of an icon into files.
    private func icons(_ runner: CommandRunner) throws -> [String] {
        let icon = try runner.bytes("out/a.ico")
        func little(_ start: Int) -> Int { icon[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) } }
        return try (0..<Int(icon[4])).map { index in
            let (count, start) = (little(6 + 16 * index + 8), little(6 + 16 * index + 12))
            try runner.folder.write(Array(icon[start..<start + count]), to: "tiles/\(index).png")
            return "\(index).png"
        }
    }

    @Test func `the tiles of IIIF have the names that viewers ask for, and its information is complete`() async throws {
        let runner = try await made(
            "{ format: tiles, container: zip, layout: iiif, id: \"https://example.org/iiif/{stem}\", tile-format: png, tile: 256 }"
        )
        let files = try await unpacked(runner)
        let information = try #require(
            try JSONSerialization.jsonObject(with: Data(runner.bytes("tiles/info.json"))) as? [String: Any])
        #expect(
            information["id"] as? String == "https://example.org/iiif/a"
                && information["profile"] as? String == "level0")
        #expect(information["width"] as? Int == 700 && information["height"] as? Int == 500)
        let tiles = try #require((information["tiles"] as? [[String: Any]])?.first)
        let factors = try #require(tiles["scaleFactors"] as? [Int])
        #expect(factors == [1, 2, 4])
        // As the specification counts them: https://iiif.io/api/image/3.0/implementation/
        var expected: Set<String> = ["info.json", "full/max/0/default.png"]
        // No more is given at once: the second smallest size.
        #expect(information["maxWidth"] as? Int == 350 && information["maxHeight"] as? Int == 350)
        #expect(try await runner.size(of: "tiles/full/max/0/default.png") == [350, 250])
        for factor in factors {
            for y in stride(from: 0, to: 500, by: 256 * factor) {
                for x in stride(from: 0, to: 700, by: 256 * factor) {
                    let (width, height) = (min(256 * factor, 700 - x), min(256 * factor, 500 - y))
                    let isWhole = width == 700 && height == 500
                    let region = isWhole ? "full" : "\(x),\(y),\(width),\(height)"
                    let size = "\((width + factor - 1) / factor),\((height + factor - 1) / factor)"
                    expected.insert("\(region)/\(size)/0/default.png")
                }
            }
        }
        #expect(Set(files) == expected)
        let (tile, cut) = try await inVipsTurn {
            (
                try pixels("tiles/256,256,256,244/256,244/0/default.png", runner),
                try pixels("in/a.png", runner, area: [256, 256, 256, 244])
            )
        }
        #expect(tile == cut)
    }

    @Test(arguments: [(700, 500, "jpeg"), (100, 80, "png"), (3000, 20, "webp")])
    func `the information of IIIF is as its specification says, whatever the source is called`(
        width: Int, height: Int, format: String
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/my pic ü#?%.png", as: "pngsave_target") {
            try TestPicture.coded(width: width, height: height)
        }
        try runner.folder.write(
            "renditions: { a: { save: { format: tiles, layout: iiif, tile-format: \(format), id: \"https://example.org/iiif/{stem}\" }, file: tiles } }\n",
            to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        let schema = try Checkout.text("Tests/Fixtures/iiif-image-3-info.schema.json")
        let validation = try await runner.validate(["out/tiles/info.json"], schema: schema, named: "info")
        #expect(validation.exit == 0, "\(validation.output)\(validation.errors)")
    }

    @Test func `the tiles of a map are whole, and the same archive is made each time`() async throws {
        let runner = try await made("{ format: tiles, container: zip, layout: xyz, tile-format: webp, tile: 128 }")
        let archive = try runner.bytes("out/a.zip")
        let files = try await unpacked(runner)
        // 700 → 350 → 175 → 88 pixels.
        #expect(files.count(where: { $0.hasPrefix("3/") }) == 6 * 4 && files.contains("0/0/0.webp"))
        for name in files { #expect(try await runner.size(of: "tiles/" + name) == [128, 128]) }
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--force").exit == 0)
        #expect(try runner.bytes("out/a.zip") == archive)
    }

    // MARK: - A folder

    private static let tiles = "{ format: tiles, tile-format: png, tile: 256 }"

    @Test(arguments: [[], ["--cache", "cache"]])
    func `a folder has the tiles, is replaced as a whole, skipped if nothing changed, and removed by --prune`(
        options: [String]
    ) async throws {
        let runner = try await made(Self.tiles)
        let command = ["run", "p.yaml", "in", "-o", "out"] + options
        let files = runner.files()
        #expect(files.contains("a.tiles/image.dzi") && files.contains("a.tiles/image_files/10/2_1.png"))
        #expect(files.allSatisfy { $0.hasPrefix("a.tiles/") })
        #expect(try await runner.run(command).errors.contains("1 source unchanged"))
        try FileManager.default.removeItem(atPath: runner.folder.path("out/a.tiles/image_files/10/0_1.png"))
        #expect(try await runner.run(command).exit == 0)
        #expect(runner.files() == files)
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: 300, height: 200) }
        #expect(try await runner.run(command).exit == 0)
        #expect(!runner.exists("out/a.tiles/image_files/10") && runner.exists("out/a.tiles/image_files/9/1_0.png"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("out")).sorted() == [
                ".imagemill", "a.tiles",
            ])
        try await runner.picture("in/b.png")
        try FileManager.default.removeItem(atPath: runner.folder.path("in/a.png"))
        // One name for all: the other source takes a version.
        #expect(try await runner.run(command + ["--prune"]).exit == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("out"))
        #expect(left.count { $0.contains("tiles") } == 1, "\(left)")
    }

    @Test func `a folder that is somebody else's stays, and the tiles get another name`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.png")
        try runner.folder.write("mine", to: "out/a.tiles/notes.txt")
        try runner.folder.write("renditions: { a: { save: \(Self.tiles) } }\n", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(runner.files().contains("a.tiles/notes.txt") && runner.files().contains("a-2.tiles/image.dzi"))
    }

    @Test(arguments: ["version", "overwrite"])
    func `a folder with files of somebody else is never removed`(collision: String) async throws {
        let runner = try await made(Self.tiles)
        try runner.folder.write("mine", to: "out/a.tiles/image_files/notes.txt")
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: 300, height: 200) }
        let again = try await runner.run("run", "p.yaml", "in", "-o", "out", "--collision", collision)
        #expect(runner.exists("out/a.tiles/image_files/notes.txt"), "\(again.errors)")
        #expect(
            (again.exit == 0) == (collision == "version") && runner.exists("out/a-2.tiles") == (collision == "version"))
        try runner.folder.write("theirs", to: "out/b.tiles/deep/diary.txt")
        try await runner.picture("in/b.png")
        _ = try await runner.run("run", "p.yaml", "in/b.png", "-o", "out", "--collision", collision)
        #expect(runner.exists("out/b.tiles/deep/diary.txt"))
        try FileManager.default.removeItem(atPath: runner.folder.path("in/a.png"))
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out", "--prune").exit != 64)
        #expect(runner.exists("out/a.tiles/image_files/notes.txt"))
    }

    @Test(arguments: ["version", "overwrite", "fail"])
    func `the tiles of another drop folder are replaced by 'overwrite', if nothing else is among them`(
        collision: String
    ) async throws {
        let runner = try await made(Self.tiles)
        func note() async throws {
            let script = "import os; os.setxattr('out/a.tiles', 'user.imagemill', b'another 0 inbox/a.png')"
            #expect(try await runner.shell("python3 -c \"\(script)\"").exit == 0)
        }
        try await note()
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: 300, height: 200) }
        let command = ["run", "p.yaml", "in", "-o", "out", "--collision", collision]
        let result = try await runner.run(command)
        #expect((result.exit == 0) == (collision != "fail"), "\(result.errors)")
        #expect(runner.exists("out/a.tiles/image_files/10") == (collision != "overwrite"))
        #expect(runner.exists("out/a-2.tiles") == (collision == "version"))
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: 600, height: 500) }
        try await note()
        try runner.folder.write("mine", to: "out/a.tiles/notes.txt")
        _ = try await runner.run(command)
        #expect(runner.exists("out/a.tiles/notes.txt"))
    }

    @Test func `the tiles of another source are replaced by 'overwrite' at the first attempt`() async throws {
        let runner = try await made(Self.tiles)
        let command = ["run", "p.yaml", "in", "-o", "out", "--collision", "overwrite"]
        try await runner.save("in/a.webp", as: "webpsave_target") { try TestPicture.coded(width: 300, height: 200) }
        let both = try await runner.run(command)
        #expect(both.exit == 0 && both.errors.contains("name-overwritten"), "\(both.errors)")
        try FileManager.default.removeItem(atPath: runner.folder.path("out"))
        for source in ["in/a.png", "in/a.webp", "in/a.png"] {
            let result = try await runner.run(["run", "p.yaml", source, "-o", "out", "--collision", "overwrite"])
            #expect(result.exit == 0, "\(source): \(result.errors)")
            #expect(runner.exists("out/a.tiles/image_files/10") == (source == "in/a.png"))
        }
        try runner.folder.write("mine", to: "out/a.tiles/notes.txt")
        let refused = try await runner.run(["run", "p.yaml", "in/a.webp", "-o", "out", "--collision", "overwrite"])
        #expect(refused.exit != 0 && refused.errors.contains("name-taken"), "\(refused.errors)")
        #expect(runner.exists("out/a.tiles/notes.txt"))
    }

    @Test func `a run that was killed leaves nothing for good`() async throws {
        let runner = try await made(Self.tiles)
        try await runner.save("in/a.png", as: "pngsave_target") { try TestPicture.coded(width: 300, height: 200) }
        for point in ["after-unpack", "between-renames"] {
            _ = try await runner.shell(
                "IMAGEMILL_FAULT=\(point):1:kill \(CommandRunner.executable) run p.yaml in -o out")
        }
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: runner.folder.path("out"))
        #expect(left.sorted() == [".imagemill", "a.tiles"], "\(left)")
    }

    @Test func `a folder becomes a file of the same name, and a file in it is refused`() async throws {
        let runner = try await made("{ format: tiles, tile-format: png }")
        for (container, isFolder) in [("folder", true), ("zip", false), ("folder", true)] {
            try runner.folder.write(
                "renditions: { a: { save: { format: tiles, container: \(container) }, file: \"{stem}.pyramid\" } }\n",
                to: "p.yaml")
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
            #expect(result.exit == 0, "\(result.errors)")
            #expect(runner.exists("out/a.pyramid/image.dzi") == isFolder && runner.exists("out/a.pyramid"))
        }
        try runner.folder.write(
            "renditions: { a: { save: { format: tiles }, file: \"{stem}\" }, b: { save: { format: png }, file: \"{stem}/big.png\" } }\n",
            to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "other")
        #expect(
            result.exit == 2 && result.errors.contains("would be in 'a', which is a file of this source"),
            "\(result.errors)")
    }

    @Test func `tiles in a tree with the sources are not taken for sources`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("site/a.png")
        try runner.folder.write("renditions: { a: { save: \(Self.tiles) } }\n", to: "p.yaml")
        for words in ["1 of 1 source done", "1 source unchanged"] {
            let result = try await runner.run("run", "p.yaml", "site", "-o", "site/out")
            #expect(result.exit == 0 && result.errors.contains(words), "\(result.errors)")
        }
        let above = try await runner.run("run", "--resize", "8x", "--format", "webp", "site", "-o", "thumbs")
        #expect(above.exit == 0)
    }

    @Test func `a folder goes neither to standard output nor into shards`() async throws {
        let runner = try CommandRunner()
        try await runner.picture("in/a.png")
        try runner.folder.write("renditions: { a: { save: \(Self.tiles) } }\n", to: "p.yaml")
        let output = try await runner.shell("\(CommandRunner.executable) run p.yaml in/a.png -o - | cat")
        #expect(output.errors.contains("this pipeline makes a folder; add 'container: zip'"), "\(output.errors)")
        let shards = try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan")
        #expect(shards.exit != 0 && shards.errors.contains("a shard has files only"), "\(shards.errors)")
        try runner.folder.write("renditions: { a: { save: { format: ico } } }\n", to: "ico.yaml")
        let icon = try await runner.shell("\(CommandRunner.executable) run ico.yaml in/a.png -o - > a.ico")
        #expect(try icon.exit == 0 && Array(runner.bytes("a.ico").prefix(4)) == [0, 0, 1, 0], "\(icon.errors)")
    }

    /// Wherever it is killed, the folder is the old one, the new one, or not there.
    @Test(arguments: [
        "after-unpack", "after-target-sync", "after-contents-record", "between-renames", "after-last-rename",
        "after-report-rename", "after-outcome-record",
    ])
    func `a drop folder that is killed on the way publishes whole folders alone`(point: String) async throws {
        let drop = try WatchedFolder(inbox: "originals: keep")
        try drop.runner.folder.write(
            "renditions: { a: { save: \(Self.tiles), file: \"{stem}.tiles\" } }\n", to: "p.yaml")
        func picture(_ width: Int) async throws -> [UInt8] {
            try await SamplePicture.png.encode(TestPicture.coded(width: width, height: 100))
        }
        func levels() -> Set<String> {
            let files = drop.runner.files(in: "out/a.tiles").filter { $0.hasPrefix("image_files/") }
            return Set(files.map { $0.split(separator: "/")[1].description })
        }
        var watch = try await drop.start()
        try drop.drop("a.png", try await picture(300))
        try await drop.until("out/a.tiles/image.dzi")
        try await drop.stop(watch)
        let old = levels()
        #expect(old.count == 10)
        try drop.drop("a.png", try await picture(1100))
        _ = try await drop.runner.shell("IMAGEMILL_FAULT=\(point):1:kill \"$IMAGEMILL\" watch mill.yaml")
        #expect([0, 10, 12].contains(levels().count), "\(levels())")
        watch = try await drop.start()
        try await drop.until("the new folder is there") { levels().count == 12 }
        try await drop.stop(watch)
        let left = try FileManager.default.contentsOfDirectory(atPath: drop.runner.folder.path("out"))
        #expect(left.filter { $0.hasPrefix(".") && $0 != ".imagemill" }.isEmpty, "\(left)")
    }
}
