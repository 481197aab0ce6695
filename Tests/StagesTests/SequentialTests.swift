// Stages that say that they stream read each row of a file once, from top to bottom.
import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// Each streaming stage alone, then chains; each stage of a chain is on a line of its own.
private let streams = [
    "resize: { size: 37% }", "resize: { size: 40x30! }", "resize: { size: 180x1300! }",
    "resize: { size: 50%, linear: true }",
    "resize: { size: 50x50, kernel: nearest }", "frame: { width: 200, height: 150, background: white }",
    "frame: { width: 200, height: 150, mode: aspect-fill }",
    "frame: { width: 180, height: 1400, mode: center, background: '#ff000080' }",
    "frame: { width: 300, height: 200, mode: bottom-right, background: '#ff000080', alpha: 0.5 }",
    "frame: { width: 30, height: 20, background: '#ff000080' }",
    "frame: { width: 300, height: 1200, background: '#00ff0040' }",
    "crop: { width: 50%, height: 40%, anchor: bottom }", "inset: { all: 20, background: red }",
    "inset: { top: -300, leading: 10 }",
    "flip: { axis: horizontal }", "flatten: { background: '#123456' }", "opacity: { alpha: 0.5 }",
    "mask: { corner-radius: 60 }",
    "mask: { shape: circle }", "overlay: { image: badge, anchor: bottom-trailing, offset: { x: 5, y: 5 } }",
    "overlay: { image: badge, anchor: top-leading }", "overlay: { image: badge, blend: multiply, width: 80% }",
    "overlay: { image: badge, blend: xor }",
    "sharpen: { sigma: 2 }", "sharpen: { sigma: 10 }", "blur: { sigma: 3 }", "blur: { sigma: 30 }",
    "grayscale", "tint: { color: '#0a84ff80' }", "border: { width: 20, color: '#ff000080', corner-radius: 40 }",
    "border: { width: 3%, grow: true }", "adjust: { exposure: 1 }", "adjust: { saturation: 2, brightness: 0.8 }",
    "adjust: { temperature: 3000, saturation: 1.2 }", "adjust: { levels: { black: 20, white: 200 } }",
    "shadow: { blur: 6, offset: { y: -30 } }", "shadow: { blur: 60, color: red }",
    "lut: { file: look }", "duotone: { dark: '#102040', light: white }",
    "gradient: { stops: [ transparent, black ] }",
    "gradient: { kind: radial, fade: true, stops: [ black, transparent ] }",
    "frame: { width: 200, height: 300, background: blur }", "frame: { ratio: 1:1, background: edge }",
    "frame: { ratio: 3:1, background: average }", "crop: { ratio: 1:2, anchor: bottom }",
    "frame: { width: 900, height: 4000, enlarge: false, background: white }",
    "mask: { corner-radius: { all: 60, top-leading: 0 } }",
    "text: { text: Hi, anchor: bottom-right }", "text: { text: Hi, size: 50%, color: '#ff0000' }",
    "text: { text: Hi, tile: true }", "caption: { text: Hi }", "caption: { text: Hi, edge: top }",
    "trim", "mask: { image: badge }", "overlay: { image: badge, tile: true }",
    "viewport: { width: 100, height: 1900, offset: { x: 9, y: 300 } }",
    "frame: { width: 200, height: 300, mode: aspect-fill }\nmask: { corner-radius: 20 }",
    "frame: { width: 20, height: 30, mode: aspect-fill }\nmask: { shape: circle }",
    "frame: { width: 200, height: 1200, background: '#ff000080' }\nmask: { shape: circle }",
    "resize: { size: 300x300 }\noverlay: { image: badge, anchor: bottom-trailing }",
    "resize: { size: 30% }\nsharpen\nmask: { corner-radius: 9 }\noverlay: { image: badge, width: 9, alpha: 0.5 }\nopacity: { alpha: 0.9 }",
    "resize: { size: 12x12, linear: true }\nmask: { corner-radius: 3 }",
    "inset: { all: 10, background: '#ff000080' }\nblur: { sigma: 5 }\nframe: { width: 100, height: 100, background: '#0000ff20' }",
    "opacity: { alpha: 0.5 }\ntint: { color: red }\nframe: { width: 333, height: 444, background: '#00ff0080' }",
    "mask: { shape: circle }\nframe: { width: 90, height: 90, background: white }\nsharpen",
]

@Suite(.quietVips)
struct SequentialTests {
    private struct SourceKind: CustomTestStringConvertible {
        let name: String
        let saver: String
        let loader: String
        let kind: PictureKind
        var testDescription: String { name }

        static let all = [
            SourceKind(
                name: "PNG with alpha", saver: "pngsave_target", loader: "pngload_source",
                kind: PictureKind(hasAlpha: true)),
            SourceKind(
                name: "PNG 16 bit", saver: "pngsave_target", loader: "pngload_source",
                kind: PictureKind(hasAlpha: true, isDeep: true)),
            SourceKind(name: "JPEG", saver: "jpegsave_target", loader: "jpegload_source", kind: PictureKind()),
            SourceKind(
                name: "grey JPEG", saver: "jpegsave_target", loader: "jpegload_source", kind: PictureKind(isGrey: true)),
        ]
    }

    /// Taller than what libvips keeps of a sequential source, and than the 1024 rows after which it lets go of what was
    /// drawn on it.
    private static let size = PixelSize(130, 2500)

    @Test func `every stage that streams is among them`() throws {
        let picture = try TestPicture.coded(width: Self.size.width, height: Self.size.height)
        let assets = try TestAssets.small()
        let streaming = try everyStage.filter { use in
            try steps(use, for: [picture], assets: assets).allSatisfy { $0.plan.isStreaming }
        }
        let missing = Set(streaming.map(stageName)).subtracting(
            streams.flatMap { $0.split(separator: "\n").map { stageName(String($0)) } })
        #expect(missing.isEmpty, "\(missing.sorted())")
    }

    @Test(arguments: SourceKind.all)
    private func `a streaming stage gives the same from a file read once as from memory`(source: SourceKind) throws {
        let folder = try TemporaryFolder()
        let picture = try TestPicture.coded(width: Self.size.width, height: Self.size.height, kind: source.kind)
        let path = try TestPicture.save(picture, as: source.saver, to: folder.path("source"))
        let loaded = try TestPicture.load(path, by: source.loader)
        let badge = try TestPicture.coded(width: 60, height: 40, kind: PictureKind(hasAlpha: true))
        let assets = TestAssets(
            images: ["badge": badge], tables: ["look": try ColorTable(cube: Array(warmLook.utf8))])
        for stream in streams {
            let steps = try steps(stream, for: [loaded], assets: assets)
            #expect(steps.allSatisfy { $0.plan.isStreaming }, "\(stream)")
            let held = try result(of: steps, on: loaded, assets, folder)
            do {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                defer { close(descriptor) }
                let file = try Source(descriptor: descriptor)
                let sequential = try Operation(source.loader, [("source", .source(file)), ("access", "sequential")])
                    .image()
                let streamed = try result(of: steps, on: sequential, assets, folder)
                let isEqual = streamed == held
                #expect(isEqual, "\(stream)")
            } catch {
                Issue.record("\(stream): \(error)")
            }
            let (errors, warnings) = (VipsLibrary.takeErrors(), GLibLog.shared.take())
            #expect(errors == "", "\(stream)")
            #expect(warnings == [], "\(stream)")
        }
    }

    /// Were these tests blind, this would pass.
    @Test func `a stage that needs the last row first fails on a file read once, as its plan says`() throws {
        let folder = try TemporaryFolder()
        let picture = try TestPicture.coded(width: Self.size.width, height: Self.size.height)
        let path = try TestPicture.save(picture, as: "pngsave_target", to: folder.path("source"))
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let file = try Source(descriptor: descriptor)
        let sequential = try Operation("pngload_source", [("source", .source(file)), ("access", "sequential")]).image()
        for stage in [
            "flip: { axis: vertical }", "rotate: { angle: 90 }", "rotate: { angle: 180 }", "rotate: { angle: 20 }",
        ] {
            let steps = try steps(stage, for: [sequential])
            #expect(steps.allSatisfy { !$0.plan.isStreaming }, "\(stage)")
            #expect(throws: VipsError.self, "\(stage)") { try result(of: steps, on: sequential, TestAssets(), folder) }
        }
        _ = GLibLog.shared.take()
        _ = VipsLibrary.takeErrors()
    }

    /// Renders to a PNG, as the worker does, and reads that.
    private func result(of steps: [PlannedStage], on image: Image, _ assets: TestAssets, _ folder: TemporaryFolder)
        throws -> [UInt8]
    {
        var frames = Frames([try Picture(decoded: image)])
        for step in steps { frames = try step.render(frames, in: RenderContext(assets: assets)) }
        let path = try TestPicture.save(
            frames.pictures[0].image, as: "pngsave_target", [("compression", 1)], to: folder.path("result.png"))
        return try TestPicture.load(path, by: "pngload_source").pixels()
    }
}
