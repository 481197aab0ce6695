// Raw files of cameras, which LibRaw reads: the finished picture in them, and what is made of the sensor's data.
import Foundation
import Glibc
import TestSupport
import Testing
import Vips

private enum LibRaw {
    static let isThere = ["20", "22", "23", "24", "25"].contains { dlopen("libraw.so.\($0)", RTLD_NOW) != nil }
}

@Suite(.enabled(if: LibRaw.isThere, "LibRaw is not on this system")) struct CameraRawTests {
    private let runner: CommandRunner

    init() throws { runner = try CommandRunner() }

    private static let (red, blue) = ([UInt8(200), 40, 40], [UInt8(40), 40, 200])

    private func jpeg(_ values: [UInt8], _ width: Int, _ height: Int) async throws -> [UInt8] {
        try await SamplePicture.jpeg.encode(TestPicture.solid(values, width: width, height: height))
    }

    /// A raw file that is red to the left of its middle and green to the right, with a blue preview of so much of its
    /// size.
    private func raw(
        preview: Double?, colorSpace: Int? = nil, values: [UInt8] = blue
    ) async throws -> [UInt8] {
        var raw = CameraDNG(width: 600, height: 400)
        raw.colorSpace = colorSpace
        if let preview {
            let (width, height) = (Int(600 * preview), Int(400 * preview))
            raw.preview = (try await jpeg(values, width, height), width, height)
        }
        return raw.file { x, _ in x < 300 ? Self.red : [40, 200, 40] }
    }

    private func run(
        _ stages: [String], head: String = "", options: [String] = ["--allow", "raw"]
    ) async throws -> CommandResult {
        let renditions = stages.enumerated().map { index, stages in
            "r\(index): { stages: \(stages), save: { format: png }, file: \"r\(index).png\" }"
        }
        try runner.folder.write("\(head)\nrenditions: { \(renditions.joined(separator: ", ")) }\n", to: "p.yaml")
        return try await runner.run(["run", "p.yaml", "in", "-o", "out", "--force"] + options)
    }

    private func pixel(_ name: String, x: Int, y: Int) async throws -> [Int] {
        try await runner.inspect("out/" + name, by: "pngload_source") { image in
            let bands = image.bands
            return try image.pixels()[(y * image.width + x) * bands..<(y * image.width + x) * bands + 3].map { Int($0) }
        }
    }

    private func size(_ name: String) async throws -> [Int] {
        try await runner.inspect("out/" + name, by: "pngload_source") { [$0.width, $0.height] }
    }

    private let small = "[{ resize: { width: 60 } }]"
    private let large = "[{ resize: { width: 500 } }]"

    @Test func `raw files are passed over, and a word says how they are read`() async throws {
        try runner.folder.write(try await raw(preview: 1), to: "in/a.dng")
        let folder = try await run([small], options: [])
        #expect(
            folder.exit == 0 && folder.errors.contains("1 other file passed over; --allow raw reads it"), "\(folder)")
        let file = try await runner.run(["run", "p.yaml", "in/a.dng", "-o", "out"])
        #expect(file.exit == 2 && file.errors.contains("found RAW: DNG; it is read only with --allow raw"), "\(file)")
    }

    @Test func `a preview is used for renditions that are not larger, and the report says so`() async throws {
        try runner.folder.write(try await raw(preview: 0.5), to: "in/a.dng")
        let result = try await run([small, large])
        #expect(result.exit == 0, "\(result)")
        let renditions = try #require(try runner.report().sources.first).renditions
        #expect(renditions.map { $0.preview == true } == [true, false])
        #expect(try await pixel("r0.png", x: 10, y: 10)[2] > 150)
        let developed = try await pixel("r1.png", x: 50, y: 50)
        #expect(developed[0] > 150 && developed[2] < 100, "\(developed)")
    }

    @Test func `a preview that is as large as the photo is the photo, unless it is to be developed`() async throws {
        try runner.folder.write(try await raw(preview: 0.98), to: "in/a.dng")
        #expect(try await run([small, "[]"]).exit == 0)
        #expect(try runner.report().sources[0].renditions.map { $0.preview == true } == [true, true])
        #expect(try await size("r1.png") == [588, 392])
        #expect(try await run([small, "[]"], head: "raw: develop").exit == 0)
        #expect(try runner.report().sources[0].renditions.map { $0.preview == true } == [false, false])
        #expect(try await size("r1.png") == [600, 400])
        #expect(try await pixel("r0.png", x: 10, y: 10)[0] > 150)
    }

    @Test(arguments: ["preview", "prefer", "develop"])
    func `one of a raw file and its JPEG is taken, and the other is counted`(use: String) async throws {
        let file = try await raw(preview: 1)
        for name in ["a.DNG", "b.dng", "sub/a.dng"] { try runner.folder.write(file, to: "in/" + name) }
        let photo = try await jpeg(Self.red, 300, 200)
        for name in ["a.JPG", "c.jpg", "sub/c.jpg"] { try runner.folder.write(photo, to: "in/" + name) }
        try runner.folder.write(
            "raw: \(use)\nrenditions: { r: { stages: \(small), save: { format: png } } }\n", to: "p.yaml")
        let options = ["p.yaml", "in", "-o", "out", "--keep-tree", "--allow", "raw"]
        let result = try await runner.run(["run", "-v"] + options)
        #expect(result.exit == 0 && result.errors.contains("1 other file passed over"), "\(result)")
        #expect(result.errors.contains("passed over: in/a.\(use == "preview" ? "DNG" : "JPG")"), "\(result)")
        let taken = try runner.report().sources.map(\.source.path).sorted()
        #expect(taken == ["a.\(use == "preview" ? "JPG" : "DNG")", "b.dng", "c.jpg", "sub/a.dng", "sub/c.jpg"])
        // Whoever leaves out the JPEG means the raw file.
        let other = try await runner.run(["run"] + options + ["--exclude", "*.JPG", "--force"])
        #expect(other.exit == 0 && !other.errors.contains("passed over"), "\(other)")
    }

    @Test func `in a drop folder a raw file follows its JPEG, and one that comes later is a source of its own`()
        async throws
    {
        let inbox = "path: in, outbox: out, pipeline: p.yaml, settle: 1s, incomplete-after: 2s, allow: [raw]"
        let drop = try WatchedFolder(mill: "state: state\ninboxes:\n  - { \(inbox) }\n")
        try drop.runner.folder.write(
            "renditions: { r: { stages: \(small), save: { format: png } } }\n", to: "p.yaml")
        let watch = try await drop.start()
        let (file, photo) = (try await raw(preview: 1), try await jpeg(Self.red, 300, 200))
        try drop.drop("a.CR3", file)
        try drop.drop("a.JPG", photo)
        try drop.drop("b.jpg", photo)
        try drop.drop("b.nef", file)
        try drop.drop("c.dng", file)
        try drop.drop("d.jpg", Array(photo.prefix(300)))
        try drop.drop("d.dng", file)
        try await drop.until(
            "out/a.JPG.json", "out/b.jpg.json", "out/c.dng.json", "state/done/in/a.CR3", "state/done/in/b.nef",
            "state/failed/in/d.jpg.error.json", "state/failed/in/d.dng")
        try drop.drop("a.CR3", file)
        try await drop.until("out/a.CR3-2.json", "state/done/in/a~2.CR3")
        let names = try drop.runner.folder.entries()
        #expect(names.filter { $0.hasPrefix("in/") } == [], "\(names)")
        #expect(
            names.filter { $0.hasPrefix("out/") && $0.hasSuffix(".json") }
                == ["a.CR3-2", "a.JPG", "b.jpg", "c.dng"].map { "out/\($0).json" }, "\(names)")
        // A better one is put in its place.
        try drop.runner.folder.write(photo, to: "state/failed/in/d.jpg")
        let retry = try await drop.runner.run("retry", "mill.yaml", "--all")
        #expect(retry.exit == 0 && retry.output == "1 source moved back\n", "\(retry)")
        try await drop.until("out/d.jpg.json", "state/done/in/d.dng")
        try await drop.stop(watch)
    }

    @Test func `a name alone makes no pair`() async throws {
        let file = try await raw(preview: 1)
        try runner.folder.write(file, to: "in/a.dng")
        try runner.folder.write(file, to: "in/a.jpg/b.dng")
        try runner.folder.write(file, to: "in/c.dng")
        try runner.folder.write([], to: "in/c.jpg")
        #expect(symlink("nowhere", runner.folder.path("in/a.jpeg")) == 0)
        try runner.folder.write("raw: preview\nrenditions: { r: { save: { format: png } } }\n", to: "p.yaml")
        _ = try await runner.run(["run", "p.yaml", "in", "-o", "out", "--keep-tree", "--allow", "raw"])
        let done = try runner.report().sources.filter { $0.status == "done" }.map(\.source.path).sorted()
        #expect(done == ["a.dng", "a.jpg/b.dng", "c.dng"])
    }

    @Test(arguments: [0.6, 0.8, 0.9])
    func `a preview that is nearly as large as the photo is used where it is enough`(part: Double) async throws {
        try runner.folder.write(try await raw(preview: part), to: "in/a.dng")
        #expect(try await run(["[{ resize: { width: 350 } }]", "[{ resize: { width: 580 } }]"]).exit == 0)
        #expect(try runner.report().sources[0].renditions.map { $0.preview == true } == [true, false])
    }

    @Test func `the plan says which picture of a raw file it is`() async throws {
        try runner.folder.write("renditions: { r: { save: { format: png } } }\n", to: "p.yaml")
        for (preview, words) in [(1, "the finished picture in the raw file"), (0.5, "developed of what the sensor")] {
            try runner.folder.write(try await raw(preview: preview), to: "a.dng")
            let plan = try await runner.run("plan", "p.yaml", "a.dng", "--allow", "raw")
            #expect(plan.exit == 0 && plan.output.contains(words), "\(plan)")
        }
    }

    /// The sensor's data, halved or not, and both kinds of previews.
    @Test(arguments: [nil, 0.5, 1], [1, 3, 6, 8])
    func `what is drawn is upright`(preview: Double?, orientation: Int) async throws {
        var file = CameraDNG(width: 600, height: 400)
        file.orientation = orientation
        if let preview {
            let picture = try TestPicture.make(width: Int(600 * preview), height: Int(400 * preview)) { x, _ in
                x < Int(300 * preview) ? Self.red : [40, 200, 40]
            }
            let jpeg = CameraJPEG.bare(try await SamplePicture.jpeg.encode(picture))
            file.preview = (jpeg, Int(600 * preview), Int(400 * preview))
        }
        try runner.folder.write(file.file { x, _ in x < 300 ? Self.red : [40, 200, 40] }, to: "in/a.dng")
        let stages = ["[{ resize: { width: 90 } }]", "[{ resize: { width: 250 } }]", "[]"]
        #expect(try await run(stages).exit == 0)
        for index in stages.indices {
            let size = try await size("r\(index).png")
            #expect((size[0] < size[1]) == (orientation > 4), "\(size)")
            // The stored left side, as a person sees it.
            let places: [Int: (Double, Double)] = [1: (0.1, 0.5), 3: (0.9, 0.5), 6: (0.5, 0.1), 8: (0.5, 0.9)]
            let place = try #require(places[orientation])
            let (x, y) = (Int(Double(size[0]) * place.0), Int(Double(size[1]) * place.1))
            #expect(try await pixel("r\(index).png", x: x, y: y)[0] > 150, "rendition \(index)")
            let other = try await pixel("r\(index).png", x: size[0] - 1 - x, y: size[1] - 1 - y)
            #expect(other[1] > 150 && other[0] < 100, "rendition \(index): \(other)")
        }
    }

    @Test func `a preview in Adobe RGB is converted, as far as the raw file says that it is one`() async throws {
        let values: [UInt8] = [60, 200, 60]
        try runner.folder.write(try await raw(preview: 1, values: values), to: "in/a.dng")
        #expect(try await run([small]).exit == 0)
        let plain = try await pixel("r0.png", x: 10, y: 10)
        try runner.folder.write(try await raw(preview: 1, colorSpace: 2, values: values), to: "in/a.dng")
        #expect(try await run([small]).exit == 0)
        let converted = try await pixel("r0.png", x: 10, y: 10)
        // Its green is more than sRGB has.
        #expect(abs(plain[0] - 60) < 6 && converted[0] < 20 && converted[1] >= 199, "\(plain) \(converted)")
    }

    @Test func `a preview that is cut off is none, whatever its size`() async throws {
        for (name, part) in [("whole.dng", 1.0), ("small.dng", 0.5)] {
            var file = CameraDNG(width: 600, height: 400)
            let (width, height) = (Int(600 * part), Int(400 * part))
            file.preview = (Array(try await jpeg(Self.blue, width, height).dropLast(200)), width, height)
            try runner.folder.write(file.file { _, _ in Self.red }, to: "in/" + name)
        }
        #expect(try await run(["[{ resize: { width: 60 } }]"], options: ["--allow", "raw", "--quiet"]).exit == 0)
        #expect(try runner.report().sources.map { $0.renditions[0].preview } == [nil, nil])
    }

    @Test func `EXIF of a preview's own wins over that which LibRaw makes up`() async throws {
        // The camera has turned the pixels, and put JFIF first.
        let plain = CameraJPEG.bare(try await jpeg(Self.blue, 300, 200))
        let exif: [UInt8] =
            Array("Exif\0\0II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        let jfif = Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
        let own = CameraJPEG.withSegment(0xE0, jfif, CameraJPEG.withSegment(0xE1, exif, plain))
        var file = CameraDNG(width: 600, height: 400)
        (file.orientation, file.preview) = (6, (own, 300, 200))
        try runner.folder.write(file.file { _, _ in Self.red }, to: "in/a.dng")
        #expect(try await run([small]).exit == 0)
        // It does not have the shape of the photo, which is upright: so it is no preview of it.
        #expect(try runner.report().sources[0].renditions[0].preview == nil)
        #expect(try await size("r0.png") == [60, 90])
    }

    @Test func `a raw file that is cut off or damaged fails, and is never half black`() async throws {
        let whole = try await raw(preview: 0.5)
        try runner.folder.write(Array(whole.dropLast(2000)), to: "in/cut.dng")
        try runner.folder.write(Array(whole.prefix(300)), to: "in/head.dng")
        // LibRaw does not know the compression.
        let place = try #require(whole.firstRange(of: [3, 1, 3, 0, 1, 0, 0, 0, 1, 0])).upperBound - 2
        try runner.folder.write(Array(whole[..<place] + [77, 0] + whole[(place + 2)...]), to: "in/packed.dng")
        let result = try await run([large], options: ["--allow", "raw"])
        #expect(result.exit == 2)
        let codes = try runner.report().sources.map { ($0.source.path, $0.error?.code) }
        let found = Dictionary(codes) { first, _ in first }
        #expect(found["cut.dng"] == "truncated" && found["head.dng"] == "truncated", "\(found)")
        #expect(["unsupported-format", "corrupt"].contains(found["packed.dng"] ?? ""), "\(found)")
    }

    @Test func `mutants of a raw file take nothing down`() async throws {
        let whole = try await raw(preview: 0.5)
        var random = SeededGenerator(seed: 37)
        let head = whole.count - 600 * 400 * 2
        for number in 0..<60 {
            var mutant = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                mutant[Int.random(in: 0..<(number % 3 == 0 ? whole.count : head), using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            try runner.folder.write(mutant, to: "in/\(number).dng")
        }
        let result = try await run([small, large])
        #expect((0...2).contains(result.exit), "\(result)")
        for source in try runner.report().sources {
            #expect(source.error?.code != "internal", "\(source.source.path): \(String(describing: source.error))")
            // A trap of Swift's: then it is this program that a file has taken down.
            #expect(source.error?.message.contains("Illegal instruction") != true, "\(source.source.path)")
        }
    }
}
