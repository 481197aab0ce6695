// Stages that must see the picture first, through the whole program: plan, measure, plan again, name, render.
import Foundation
import TestSupport
import Testing
import Vips

@Suite struct MeasuredTests {
    @Test
    func `a trimmed picture has the size and the name of what is left, at every scale and orientation`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            stages: [ { trim: { background: white } } ]
            renditions:
              cut: { save: { format: png }, file: "{stem}-{width}x{height}.{ext}" }
              card: { scale: [1, 2], stages: [ { frame: { width: 20, height: 20 } } ], save: { format: png } }
            """, to: "p.yaml")
        _ = try await runner.shell(
            "vips black ink.png 30 20 --bands 3 && mkdir -p in && vips embed ink.png in/a.png 7 9 60 50 --extend white")
        _ = try await runner.shell(
            "vips black white.png 10 10 --bands 3 && vips linear white.png in/white.png 1 255 --uchar")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(
            runner.files().contains("a-30x20.png") && runner.files().contains("white-10x10.png"), "\(runner.files())")
        #expect(try await runner.size(of: "out/a-30x20.png") == [30, 20])
        #expect(try await runner.size(of: "out/a-card@2x.png") == [40, 40])
        let report = try runner.report()
        #expect(report.summary.done == 2)
        // Before it is seen, the picture is at most as large as it is; a frame is what was asked for.
        let plan = try await runner.run("plan", "in/a.png", "p.yaml")
        #expect(plan.output.contains(/trim +≤ 60×50/) && plan.output.contains("→ 20×20"), "\(plan.output)")
    }

    @Test(arguments: ["trim", "adjust: { auto: levels }"], [false, true])
    func `a still that is measured is the one it would be without an animation beside it`(
        stage: String, isShared: Bool
    ) async throws {
        let runner = try CommandRunner()
        try await runner.save("in/a.gif", as: "gifsave_target") {
            let frames = try (0..<2).map { frame in
                try TestPicture.make(width: 60, height: 40) { x, y in
                    let isInk = (10..<20).contains(x - 30 * frame) && (8..<30).contains(y)
                    return Array(repeating: isInk ? 90 + UInt8(frame) * 60 : 200 + UInt8(frame) * 40, count: 3)
                }
            }
            return try Image.arrayjoin(frames, across: 1).editingMetadata { $0.set("page-height", int: 40) }
        }
        let shared = isShared ? "stages: [ { resize: { width: 50 } } ]\n" : ""
        let measured = stage == "trim" ? stage : "{ \(stage) }"
        let still = "  still: { stages: [ \(measured) ], save: { format: png }, file: \"still.png\" }\n"
        let film = "  film: { stages: [ \(measured) ], save: { format: gif }, file: \"film.gif\" }\n"
        try runner.folder.write(shared + "renditions:\n" + still, to: "one.yaml")
        try runner.folder.write(shared + "renditions:\n" + film + still, to: "both.yaml")
        #expect(try await runner.run("run", "one.yaml", "in", "-o", "one").exit == 0)
        #expect(try await runner.run("run", "both.yaml", "in", "-o", "both").exit == 0)
        #expect(try runner.bytes("both/still.png") == runner.bytes("one/still.png"))
        // The animation is measured on both of its frames.
        if stage == "trim" {
            #expect(try await runner.size(of: "both/film.gif")[0] > runner.size(of: "both/still.png")[0])
        }
    }

    @Test func `a smart anchor is measured once for all scales`() async throws {
        let runner = try CommandRunner()
        try runner.folder.write(
            """
            renditions:
              square: { scale: [1, 2], stages: [ { frame: { width: 30, height: 30, mode: aspect-fill, anchor: attention } } ], save: { format: png } }
            """, to: "p.yaml")
        try await runner.picture("in/a.jpg")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 0, "\(result.errors)")
        #expect(try await runner.size(of: "out/a@2x.png") == [60, 60])
    }
}
