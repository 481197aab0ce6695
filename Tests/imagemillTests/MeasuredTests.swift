// Stages that must see the picture first, through the whole program: plan, measure, plan again, name, render.
import Foundation
import TestSupport
import Testing

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
