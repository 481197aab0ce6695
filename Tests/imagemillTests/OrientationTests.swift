// Every picture comes out as the photographer saw it.
import TestSupport
import Testing
import Vips

@Suite struct OrientationTests {
    /// Four quadrants, each of its own colour: red, green above; blue, yellow below.
    private func upright() throws -> Image {
        try TestPicture.make(width: 96, height: 64) { x, y in
            switch (x < 48, y < 32) {
            case (true, true): [200, 0, 0]
            case (false, true): [0, 200, 0]
            case (true, false): [0, 0, 200]
            case (false, false): [200, 200, 0]
            }
        }
    }

    /// The picture as a camera stores it that was held so.
    private func stored(_ orientation: Int) throws -> Image {
        let picture = try upright()
        let turned: Image =
            switch orientation {
            case 2: try picture.flip(.horizontal)
            case 3: try picture.rot(.d180)
            case 4: try picture.flip(.vertical)
            case 5: try picture.rot(.d90).flip(.horizontal)
            case 6: try picture.rot(.d270)
            case 7: try picture.rot(.d270).flip(.horizontal)
            case 8: try picture.rot(.d90)
            default: picture
            }
        return try turned.editingMetadata { $0.set("orientation", int: orientation) }
    }

    @Test(arguments: ["[]", "[resize: { size: \"48x32\" }]", "[resize: { size: \"12x8\" }]"])
    func `all eight orientations come out upright, shrunk on load or not`(stages: String) async throws {
        let runner = try CommandRunner()
        for orientation in 1...8 {
            try await runner.save("in/\(orientation).jpg", as: "jpegsave_target", [("Q", 95)]) {
                try stored(orientation)
            }
        }
        let result = try await runner.render(stages: stages, save: "{ format: png }")
        #expect(result.exit == 0, "\(result.errors)")
        for orientation in 1...8 {
            let corners = try await runner.inspect("out/\(orientation).png", by: "pngload_source") { image in
                #expect(image.width * 64 == image.height * 96)
                let (right, bottom) = (image.width * 7 / 8, image.height * 7 / 8)
                return try [(1, 1), (right, 1), (1, bottom), (right, bottom)].map {
                    try image.getpoint(x: $0.0, y: $0.1)
                }
            }
            let expected: [[Double]] = [[200, 0, 0], [0, 200, 0], [0, 0, 200], [200, 200, 0]]
            for (corner, colour) in zip(corners, expected) {
                #expect(zip(corner, colour).allSatisfy { abs($0 - $1) <= 12 }, "orientation \(orientation): \(corners)")
            }
        }
    }

    /// Readers turn what still says that it is to be turned.
    @Test(
        arguments: [
            "[]", "[resize: { size: \"48x32\" }]", "[resize: { size: \"12x8\" }]", "[flip: { axis: horizontal }]",
            "[crop: { width: 90, height: 60 }, resize: { size: \"48x32\" }]",
            "[rotate: { angle: 90 }, resize: { size: \"32x48\" }, sharpen]",
        ])
    func `nothing says any more how the picture was stored, and its looks are the same, in any format`(
        stages: String
    ) async throws {
        let runner = try CommandRunner()
        for orientation in 1...8 {
            try await runner.save("in/\(orientation).jpg", as: "jpegsave_target", [("Q", 95)]) {
                try stored(orientation)
            }
        }
        let formats = ["tiff": "tif", "jpeg": "jpg", "png": "png", "webp": "webp", "avif": "avif"]
        let renditions = formats.map { format, name in
            "\(format): { stages: \(stages), save: { format: \(format), metadata: keep, placeholder: [color, thumbhash] }, file: \"{stem}.\(name)\" }"
        }
        try runner.folder.write("renditions: { \(renditions.joined(separator: ", ")) }\n", to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        for (format, name) in formats {
            let loader = format == "avif" ? "heifload_source" : "\(format)load_source"
            for orientation in 1...8 {
                let said = try await runner.inspect("out/\(orientation).\(name)", by: loader) { $0.int("orientation") }
                #expect((said ?? 1) == 1, "\(format), orientation \(orientation)")
            }
        }
        let looks = try runner.report().sources.flatMap(\.renditions).map { "\($0.color ?? "")" }
        #expect(Set(looks).count == 1, "\(Set(looks))")
        let sources = try runner.report().sources
        let upright = try #require(sources.first?.renditions.first?.thumbhash)
        for rendition in try runner.report().sources.flatMap(\.renditions) where rendition.format == "tiff" {
            #expect(rendition.thumbhash?.prefix(6) == upright.prefix(6), "\(rendition.path)")
        }
    }

    @Test(arguments: ["[]", "[resize: { size: \"48x32\" }]", "[trim, resize: { size: \"48x32\" }]"], ["webp", "gif"])
    func `each frame of an animation comes out upright, at its own time`(stages: String, format: String) async throws {
        let runner = try CommandRunner()
        for orientation in 1...8 {
            try await runner.save("in/\(orientation).webp", as: "webpsave_target", [("lossless", true)]) {
                // The second frame is darker, the third one darker still.
                let frames = try (1...3).map { try stored(orientation).linear([1 / Double($0)], [0]).cast(.uchar) }
                return try Image.arrayjoin(frames).copy(interpretation: .srgb).editingMetadata { editor in
                    editor.set("page-height", int: frames[0].height)
                    editor.set("delay", ints: [100, 200, 300])
                    editor.set("orientation", int: orientation)
                }
            }
        }
        let options = format == "webp" ? ", lossless: true" : ""
        let result = try await runner.render(stages: stages, save: "{ format: \(format)\(options) }")
        #expect(result.exit == 0, "\(result.errors)")
        for orientation in 1...8 {
            let name = "out/\(orientation).\(format)"
            let (delays, corners) = try await runner.inspect(name, by: "\(format)load_source", [("n", -1)]) { image in
                let height = try #require(image.int("page-height"))
                #expect(image.width * 64 == height * 96 && image.height == 3 * height)
                let places = [(1, 1), (image.width - 2, 1), (1, height - 2), (image.width - 2, height - 2)]
                return (
                    image.ints("delay"),
                    try (0..<3).map { frame in
                        try places.map { try image.getpoint(x: $0.0, y: frame * height + $0.1) }
                    }
                )
            }
            #expect(delays == [100, 200, 300], "orientation \(orientation)")
            let expected: [[Double]] = [[200, 0, 0], [0, 200, 0], [0, 0, 200], [200, 200, 0]]
            for (frame, found) in corners.enumerated() {
                for (corner, colour) in zip(found, expected) {
                    let isRight = zip(corner, colour).allSatisfy { abs($0 - $1 / Double(frame + 1)) <= 12 }
                    #expect(isRight, "orientation \(orientation), frame \(frame): \(found)")
                }
            }
        }
    }

    @Test(.enabled(if: Checkout.hasCorpus))
    func `the sixteen pictures of the corpus have one size in each group`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions: { a: { stages: [resize: { size: \"300x300\" }], save: { format: jpeg } } }", to: "p.yaml")
        let result = try await runner.run("run", "p.yaml", Checkout.corpus + "/orientation", "-o", "out")
        #expect(result.exit == 0)
        for entry in try runner.report().sources {
            let size = entry.renditions.map { [$0.width, $0.height] }
            #expect(size == [entry.source.path.hasPrefix("Landscape") ? [300, 225] : [225, 300]])
        }
    }
}
