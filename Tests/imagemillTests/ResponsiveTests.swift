// Pictures for screens of every density: the report says what a page needs to offer them.
import TestSupport
import Testing

@Suite struct ResponsiveTests {
    @Test("The report has path, width and height of every scale of every source, enough for a srcset")
    func sourceSets() async throws {
        let runner = try CommandRunner()
        for (name, width, height) in [("wide", 120, 40), ("high", 50, 90)] {
            try await runner.save("in/\(name).png", as: "pngsave_target") { try TestPicture.coded(width: width, height: height) }
        }
        try runner.folder.write(
            "renditions:\n  a: { scale: [1, 2, 3], stages: [ { resize: { size: 10x } } ], save: { format: webp }, file: \"{stem}-{width}.{ext}\" }\n",
            to: "p.yaml")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        let report = try runner.report()
        let sets = Dictionary(report.sources.map { ($0.source.path, $0.renditions.map { "\($0.path) \($0.width)w" }.joined(separator: ", ")) }) {
            $0 + $1
        }
        #expect(
            sets == [
                "wide.png": "wide-10.webp 10w, wide-20.webp 20w, wide-30.webp 30w",
                "high.png": "high-10.webp 10w, high-20.webp 20w, high-30.webp 30w",
            ])
        for rendition in report.sources.flatMap(\.renditions) {
            #expect(try await runner.size(of: "out/" + rendition.path) == [rendition.width, rendition.height])
        }
        #expect(report["high.png"]?.renditions.map(\.height) == [18, 36, 54])
    }
}
