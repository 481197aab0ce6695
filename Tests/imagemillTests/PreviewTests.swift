// `preview: allow`: renditions that are made of the preview in a source's file.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct PreviewTests {
    private let runner: CommandRunner

    init() throws { runner = try CommandRunner() }

    private static let (red, blue) = ([UInt8(200), 40, 40], [UInt8(40), 40, 200])

    private func jpeg(_ values: [UInt8], _ width: Int, _ height: Int) async throws -> [UInt8] {
        try await SamplePicture.jpeg.encode(TestPicture.solid(values, width: width, height: height))
    }

    /// A red photo with a blue preview, as if it had been edited since.
    private func stale(_ preview: (Int, Int) = (480, 320)) async throws -> [UInt8] {
        CameraJPEG.file(
            try await jpeg(Self.red, 1200, 800), preview: try await jpeg(Self.blue, preview.0, preview.1))
    }

    /// Whether the renditions of `in/a.jpg` are blue; the report must say the same.
    private func usesPreview(
        _ stages: String, head: String = "preview: allow", options: [String] = []
    ) async throws -> Bool {
        try await usePreviews([stages], head: head, options: options) == [true]
    }

    /// The same for each of several renditions.
    private func usePreviews(
        _ stages: [String], head: String = "preview: allow", options: [String] = []
    ) async throws -> [Bool] {
        let renditions = stages.enumerated().map { index, stages in
            "r\(index): { stages: \(stages), save: { format: png }, file: \"r\(index).png\" }"
        }
        try runner.folder.write("\(head)\nrenditions: { \(renditions.joined(separator: ", ")) }\n", to: "p.yaml")
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out", "--force"] + options)
        #expect(result.exit == 0, "\(result.errors)")
        var answers: [Bool] = []
        for rendition in try #require(try runner.report().sources.first).renditions {
            let pixel = try await runner.inspect("out/" + rendition.path, by: "pngload_source") { image in
                try image.pixels()[0..<3].map { Int($0) }
            }
            let isBlue = pixel[2] > pixel[0]
            #expect(isBlue == (rendition.preview == true), "\(rendition.path)")
            answers.append(isBlue)
        }
        return answers
    }

    private let small = "[{ resize: { size: 300x300 } }]"

    @Test func `a preview is used only if the pipeline allows it, and the plan says so`() async throws {
        try runner.folder.write(try await stale(), to: "in/a.jpg")
        #expect(try await !usesPreview(small, head: ""))
        #expect(try await !usesPreview(small, head: "preview: never"))
        #expect(try await usesPreview(small))
        let plan = try await runner.run("plan", "p.yaml", "in/a.jpg")
        #expect(plan.output.contains("jpeg 1200×800"))
        #expect(plan.output.contains("of the preview in the file, 480×320, if it is sound"))
    }

    @Test
    func
        `it is used for each rendition that is not larger, whatever comes after the scaling and whatever the others are`()
        async throws
    {
        try runner.folder.write(try await stale(), to: "in/a.jpg")
        let others = [
            "[{ resize: { size: 480x320 } }]", "[{ resize: { width: 100 } }, { crop: { width: 40, height: 40 } }]",
            "[{ resize: { size: 200x200^ } }]", "[{ resize: { size: \"25%\" } }]",
        ]
        for stages in others { #expect(try await usesPreview(stages), "\(stages)") }
        #expect(try await usePreviews([small] + others) == [true, true, true, true, true])
        for stages in [
            "[{ resize: { size: 481x321 } }]", "[{ crop: { width: 300, height: 200 } }]", "[]",
            "[{ crop: { width: 600, height: 400 } }, { resize: { width: 100 } }]",
            "[{ blur: { sigma: 2 } }, { resize: { width: 100 } }]",
        ] {
            #expect(try await !usesPreview(stages), "\(stages)")
            #expect(try await usePreviews([small, stages, small]) == [true, false, true], "\(stages)")
        }
    }

    @Test func `of several the smallest that is enough is taken, from the list of pictures or from EXIF`() async throws
    {
        let photo = try await jpeg(Self.red, 1200, 800)
        let thumbnail = try await jpeg([40, 200, 200], 150, 100)
        try runner.folder.write(
            CameraJPEG.file(
                CameraJPEG.file(photo, thumbnail: thumbnail), preview: try await jpeg(Self.blue, 480, 320)),
            to: "in/a.jpg")
        #expect(try await usesPreview("[{ resize: { width: 100 } }]"))
        let colors = try await runner.inspect("out/r0.png", by: "pngload_source") { try $0.pixels()[1] > 150 }
        #expect(colors, "the smaller one is enough")
        #expect(try await usesPreview(small))
    }

    @Test func `a preview of another shape, or nearly as large, or in other colors is not used`() async throws {
        // Black bars fill up what is missing at 4:3.
        for size in [(160, 120), (480, 310), (1000, 667)] {
            try runner.folder.write(try await stale(size), to: "in/a.jpg")
            #expect(try await !usesPreview("[{ resize: { width: 100 } }]"), "\(size)")
        }
        // A pixel is lost at the edge.
        try runner.folder.write(try await stale((479, 320)), to: "in/a.jpg")
        #expect(try await usesPreview("[{ resize: { width: 100 } }]"))
        try await runner.save("p3.jpg", as: "jpegsave_target", [("profile", "p3")]) {
            try TestPicture.solid(Self.red, width: 1200, height: 800)
        }
        try runner.folder.write(
            CameraJPEG.file(try runner.bytes("p3.jpg"), preview: try await jpeg(Self.blue, 480, 320)), to: "in/a.jpg")
        #expect(try await !usesPreview(small))
    }

    @Test(arguments: [false, true])
    func `the thumbnail of an AVIF is one, with its color profile`(hasProfile: Bool) async throws {
        let profile = try await inVipsTurn {
            try hasProfile
                ? TestPicture.solid(Self.red, width: 8, height: 8).iccTransform(to: .p3, input: .srgb)
                    .blob("icc-profile-data") ?? [] : []
        }
        let file = BuiltAVIF.file(
            try await SamplePicture.avif.encode(TestPicture.solid(Self.red, width: 600, height: 400)),
            thumbnail: try await SamplePicture.avif.encode(TestPicture.solid(Self.blue, width: 240, height: 160)),
            profile: profile)
        #expect(profile.isEmpty != hasProfile)
        try runner.folder.write(file, to: "in/a.avif")
        for head in ["preview: allow", "preview: allow\nprofile: keep", "preview: allow\nprofile: display-p3"] {
            #expect(try await usesPreview("[{ resize: { width: 200 } }]", head: head), "\(head)")
            let kept = try await runner.inspect("out/r0.png", by: "pngload_source") { $0.blob("icc-profile-data") }
            if head.hasSuffix("keep") { #expect(kept == (hasProfile ? profile : nil)) }
        }
        #expect(try await !usesPreview("[{ resize: { width: 200 } }]", head: ""))
        #expect(try await !usesPreview("[{ resize: { width: 241 } }]"))
    }

    @Test func `a gain map is no preview`() async throws {
        let file = UltraHDR.file(
            try await jpeg(Self.red, 1200, 800), map: try await jpeg(Self.blue, 300, 200), packet: UltraHDR.packet())
        try runner.folder.write(file, to: "in/a.jpg")
        #expect(try await !usesPreview("[{ resize: { width: 100 } }]"))
    }

    @Test func `a preview that is damaged, cut off or not what it says is as if it were not there`() async throws {
        let photo = try await jpeg(Self.red, 1200, 800)
        let preview = try await SamplePicture.jpeg.encode(
            TestPicture.make(width: 480, height: 320) { x, y in [UInt8((x * y) % 256), UInt8(x % 256), 200] })
        var broken = preview
        for index in broken.count / 2..<broken.count - 100 { broken[index] = 0xFF }
        for damaged in [broken, Array(preview.prefix(700)), Array(preview.dropLast(preview.count / 2))] {
            try runner.folder.write(CameraJPEG.file(photo, preview: damaged), to: "in/a.jpg")
            #expect(try await !usesPreview(small))
            #expect(try runner.report().sources.first?.warnings.isEmpty == true)
        }
    }

    @Test func `the cache knows what was made of a preview`() async throws {
        try runner.folder.write(try await stale(), to: "in/a.jpg")
        for _ in 0..<2 { #expect(try await usesPreview(small, options: ["--cache", "cache"])) }
        #expect(try await !usesPreview(small, head: "", options: ["--cache", "cache"]))
        // Whatever another rendition needs.
        let both = try await usePreviews([small, "[]"], options: ["--cache", "cache"])
        #expect(both == [true, false])
    }

    @Test func `a truncated photo that is tolerated is not made of its preview`() async throws {
        let photo = try await jpeg(Self.red, 1200, 800)
        let file = CameraJPEG.file(photo, thumbnail: try await jpeg(Self.blue, 300, 200))
        try runner.folder.write(Array(file.dropLast(photo.count / 3)), to: "in/a.jpg")
        #expect(try await !usesPreview("[{ resize: { width: 100 } }]", head: "preview: allow\ntolerate: truncated"))
    }

    @Test func `a photo whose end is missing fails, also if its preview is whole`() async throws {
        let photo = try await jpeg(Self.red, 1200, 800)
        let file = CameraJPEG.file(photo, thumbnail: try await jpeg(Self.blue, 300, 200))
        try runner.folder.write(Array(file.dropLast(photo.count / 3)), to: "in/a.jpg")
        try runner.folder.write(
            "preview: allow\nrenditions: { a: { stages: [{ resize: { width: 100 } }], save: { format: png } } }\n",
            to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 2 && result.errors.contains("truncated"))
    }

    @Test func `members of sets have none`() async throws {
        try runner.folder.write(
            "source: set\npreview: allow\nstages: [{ stitch: {} }]\nrenditions: { a: { save: { format: png } } }\n",
            to: "p.yaml")
        try runner.folder.write(try await stale(), to: "in/a/1.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(
            result.exit == 78 && result.errors.contains("members of sets are never their previews; remove 'preview'"))
    }

    @Test func `parameters do not say for each picture whether previews are used`() async throws {
        try runner.folder.write(
            "parameters: { use: { type: text, default: allow } }\npreview: \"${use}\"\nrenditions: { a: { save: { format: png } } }\n",
            to: "p.yaml")
        try runner.folder.write(try await stale(), to: "in/a.jpg")
        try runner.folder.write("use: never\n", to: "in/a.jpg.yaml")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 2 && result.errors.contains("'preview' uses 'use' and is the same for all pictures"))
    }

    /// Photos with faithful previews, drawn by a seed: renditions are the same as without them, but for what is lost by a
    /// smaller JPEG. A picture that is moved by half a pixel, mirrored or turned is far from that.
    @Test(arguments: 1...12)
    func `renditions of a faithful preview lie as those of the photo do`(seed: Int) async throws {
        var random = SeededGenerator(seed: seed)
        let (width, height) = (Int.random(in: 500...900, using: &random), Int.random(in: 500...900, using: &random))
        let part = Double.random(in: 0.3...0.6, using: &random)
        let orientation = Int.random(in: 1...8, using: &random)
        let shrunk = { (size: Int) in Int((Double(size) * part).rounded()) }
        func picture(_ width: Int, _ height: Int) throws -> Image {
            try TestPicture.make(width: width, height: height) { x, y in
                let (u, v) = ((Double(x) + 0.5) / Double(width), (Double(y) + 0.5) / Double(height))
                return [
                    UInt8(127 + 120 * sin(6 * u + 3 * v * v)), UInt8(127 + 120 * cos(7 * v)), UInt8(255 * u * v),
                ]
            }
        }
        let photo = try await SamplePicture.jpeg.encode(picture(width, height))
        // EXIF of its own would say another orientation.
        try await runner.save("preview.jpg", as: "jpegsave_target", [("strip", .bool(true))]) {
            try picture(shrunk(width), shrunk(height))
        }
        let preview = try runner.bytes("preview.jpg")
        try runner.folder.write(
            CameraJPEG.file(
                CameraJPEG.file(photo, thumbnail: [], orientation: orientation), preview: preview), to: "in/a.jpg")
        let side = Int.random(in: 40...min(shrunk(width), shrunk(height)), using: &random)
        let stages = [
            "[{ resize: { size: \(side)x\(side) } }]", "[{ resize: { size: \(side)x\(side / 2 + 1)^ } }]",
            "[{ resize: { width: \(side) } }, { rotate: { angle: 90 } }]",
        ].randomElement(using: &random)!
        var found: [[Int]] = []
        for use in ["never", "allow"] {
            try runner.folder.write(
                "preview: \(use)\nrenditions: { a: { stages: \(stages), save: { format: png }, file: \"\(use).png\" } }\n",
                to: "p.yaml")
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out-\(use)")
            #expect(result.exit == 0, "\(result.errors)")
            found.append(
                try await runner.inspect("out-\(use)/\(use).png", by: "pngload_source") {
                    [$0.width, $0.height] + (try $0.pixels().map { Int($0) })
                })
        }
        #expect(found[0][0..<2] == found[1][0..<2])
        let differences = zip(found[0], found[1]).map { abs($0 - $1) }
        let mean = Double(differences.reduce(0, +)) / Double(differences.count)
        #expect(mean < 2.5, "seed \(seed): \(width)×\(height), \(part), orientation \(orientation), \(stages)")
        let report = try BatchDocument(file: runner.folder.path("out-allow/.imagemill/report.json"))
        #expect(report.sources.first?.renditions.map(\.preview) == [true])
    }
}
