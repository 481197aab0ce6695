// Parameters that pictures set by their metadata, through the whole program: runs, caches, shards and drop folders.
import Foundation
import TestSupport
import Testing
import Vips

@testable import Pipeline

@Suite struct MetadataParameterTests {
    private static let pipeline = """
        parameters:
          side: { type: length, default: 20, from: "xmp:photoshop:Headline" }
          focus: { type: point, default: { x: 0%, y: 50% }, from: "xmp:regions" }
          mark: { type: choice, choices: [mark.png, none.png], default: mark.png, from: "xmp:dc:source" }
        renditions:
          a:
            stages:
              - frame: { width: "${side}", height: "${side}", mode: aspect-fill, anchor: "${focus}" }
              - overlay: { image: "${mark}", anchor: top-left }
            save: { format: png }
        """

    private let runner: CommandRunner

    init() async throws {
        runner = try CommandRunner()
        try runner.folder.write(Self.pipeline, to: "p.yaml")
        try await runner.save("mark.png", as: "pngsave_target") {
            try TestPicture.solid([9, 9, 9], width: 2, height: 2)
        }
    }

    /// A picture that is red on its left and blue on its right, with values in its XMP.
    private func picture(_ path: String, side: String? = nil, focus: Double? = nil, mark: String? = nil) async throws {
        let area = focus.map {
            """
            <mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description
             mwg-rs:Type="Focus"><mwg-rs:Area stArea:x="\($0)" stArea:y="0.5" stArea:unit="normalized"/>
            </rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>
            """
        }
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"
             xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
             xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
             xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
             \(side.map { "photoshop:Headline=\"\($0)\"" } ?? "") \(mark.map { "dc:source=\"\($0)\"" } ?? "")>\(area ?? "")
            </rdf:Description></rdf:RDF></x:xmpmeta>
            """
        try await runner.save(path, as: "pngsave_target") {
            try TestPicture.make(width: 80, height: 40) { x, _ in x < 40 ? [200, 0, 0] : [0, 0, 200] }
                .editingMetadata { $0.set("xmp-data", blob: Array(packet.utf8)) }
        }
    }

    /// The color of a rendition in its middle, and in its first corner.
    private func colors(_ path: String) async throws -> (middle: [UInt8], corner: [UInt8]) {
        try await runner.inspect(path, by: "pngload_source") { image in
            try image.inMemory().withPixels { pixels in
                let middle = (image.height / 2 * image.width + image.width / 2) * image.bands
                return (Array(pixels[middle..<middle + 3]), Array(pixels[0..<3]))
            }
        }
    }

    @Test func `each picture has its own values, which are reported, cached and compared`() async throws {
        try await picture("in/plain.png")
        try await picture("in/own.png", side: "30", focus: 0.9)
        let first = try await runner.run("run", "p.yaml", "in", "-o", "out", "--cache", "cache")
        #expect(first.exit == 0, "\(first.errors)")
        #expect(try await runner.size(of: "out/plain.png") == [20, 20])
        #expect(try await runner.size(of: "out/own.png") == [30, 30])
        let (plain, own) = (try await colors("out/plain.png"), try await colors("out/own.png"))
        #expect(plain.middle == [200, 0, 0] && plain.corner == [9, 9, 9], "\(plain)")
        #expect(own.middle == [0, 0, 200] && own.corner == [9, 9, 9], "\(own)")
        let text = String(decoding: try runner.bytes("out/.imagemill/report.json"), as: UTF8.self)
        #expect(text.contains(#"{"name":"side","origin":"metadata","value":"30"}"#), "\(text)")
        #expect(text.contains(#"{"name":"side","origin":"pipeline","value":"20"}"#), "\(text)")
        let valid = try await runner.validate("batch", ["out/.imagemill/report.json"])
        #expect(valid.exit == 0, "\(valid.output)\(valid.errors)")

        let again = try await runner.run("run", "p.yaml", "in", "-o", "out", "--cache", "cache")
        #expect(again.errors.contains("2 sources unchanged"), "\(again.errors)")
        _ = try await runner.run("run", "p.yaml", "in", "-o", "other", "--cache", "cache")
        for name in ["plain.png", "own.png"] {
            #expect(try runner.bytes("other/" + name) == runner.bytes("out/" + name))
            let source = try #require(try runner.report("other/.imagemill/report.json")[name])
            #expect(source.renditions.map(\.cached) == [true])
        }
        _ = try await runner.run("run", "p.yaml", "in", "-o", "set", "--set", "side=10", "--cache", "cache")
        #expect(try await runner.size(of: "set/own.png") == [10, 10])
        #expect(try await colors("set/own.png").middle == [0, 0, 200])

        let plan = try await runner.run("plan", "p.yaml", "in/own.png")
        #expect(
            plan.output.contains("side           30  (metadata)") && plan.output.contains("30×30"), "\(plan.output)")
        _ = try await runner.run("shard", "in", "--pipeline", "p.yaml", "-o", "plan", "-q")
        let task = try await runner.run("run", "--plan", "plan", "--task", "0", "-o", "shards", "-q")
        #expect(task.exit == 0, "\(task.errors)")
        #expect(try runner.bytes("shards/000000/own.png") == runner.bytes("out/own.png"))
    }

    @Test func `a value that cannot be costs its picture, and no other`() async throws {
        try await picture("in/good.png", side: "12")
        try await picture("in/wide.png", side: "wide")
        try await picture("in/negative.png", side: "-5")
        try await picture("in/other.png", mark: "none.png")
        try await picture("in/unknown.png", mark: "../../etc/mark.png")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "1")
        #expect(result.exit == 1, "\(result.errors)")
        var outcomes = try runner.report().outcomes
        #expect(outcomes.removeValue(forKey: "good.png") == "done")
        #expect(outcomes.count == 4 && outcomes.values.allSatisfy { $0 == "bad-parameters" }, "\(outcomes)")
        for words in [
            "wide.png: bad-parameters: the value of 'side' (xmp:photoshop:Headline) expects a length",
            "xmp:photoshop:Headline is '-5'",
            "other.png: bad-parameters: 'none.png', which a value names, cannot be used: cannot find the file",
            "unknown.png: bad-parameters: the value of 'mark' (xmp:dc:source) expects one of mark.png or none.png",
        ] {
            #expect(result.errors.contains(words), "\(result.errors)")
        }
    }

    @Test func `many values after each other leave one worker right`() async throws {
        for side in 5..<80 { try await picture("in/\(side).png", side: "\(side)", focus: Double(side % 2)) }
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--jobs", "1")
        #expect(result.exit == 0, "\(result.errors)")
        for side in 5..<80 {
            #expect(try await runner.size(of: "out/\(side).png") == [side, side])
            let middle = try await colors("out/\(side).png").middle
            #expect((middle[0] > 100) == (side % 2 == 0) && (middle[2] > 100) == (side % 2 == 1), "\(side)")
        }
    }

    @Test func `an inbox's values are stronger, and a bad one goes to failed with its reason`() async throws {
        let inbox = "outbox: out, pipeline: p.yaml, settle: 200ms"
        let drop = try WatchedFolder(
            mill: "state: state\ninboxes:\n  - { path: in, \(inbox) }\n  - { path: set, \(inbox), set: { side: 8 } }\n")
        try drop.runner.folder.write(Self.pipeline, to: "p.yaml")
        try drop.runner.folder.write(try runner.bytes("mark.png"), to: "mark.png")
        try drop.makeFolder("set")
        let watch = try await drop.start()
        try await picture("a.png", side: "14", focus: 1)
        try await picture("b.png", side: "wide")
        try drop.drop("a.png", try runner.bytes("a.png"))
        try drop.drop("b.png", try runner.bytes("b.png"))
        try drop.drop("c.png", try runner.bytes("b.png"), into: "set")
        try await drop.until("out/a.png.json", "out/c.png.json", "state/failed/in/b.png.error.json")
        #expect(try await drop.runner.size(of: "out/a.png") == [14, 14])
        #expect(try await drop.runner.size(of: "out/c.png") == [8, 8])
        let report = String(decoding: try drop.runner.bytes("state/failed/in/b.png.error.json"), as: UTF8.self)
        #expect(report.contains("bad-parameters") && report.contains("xmp:photoshop:Headline"), "\(report)")
        try await drop.stop(watch)
    }
}
