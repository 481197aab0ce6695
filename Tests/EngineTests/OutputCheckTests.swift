// The check of the renditions that a worker claims to have written, before anything else reads them.
import Foundation
import Stages
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct OutputCheckTests {
    private func plan(_ format: String) throws -> RenditionPlan {
        let text =
            "renditions:\n  small:\n    stages:\n      - resize: { size: \"64x48\" }\n    save: { format: \(format) }\n"
        let file = try PipelineFile(text: text, file: "p.yaml", catalogue: .all)
        let facts = SourceFacts(format: .jpeg, size: PixelSize(640, 480))
        return try Planner(pipeline: file, assets: [:], limits: Limits()).plan(facts, pixelsPerPoint: 1).renditions[0]
    }

    private func check(_ bytes: [UInt8], as format: String, said: (Int, Int) = (64, 48)) throws -> Int {
        let folder = try TemporaryFolder()
        let file = try OpenFile.reading(BytePath(try folder.write(bytes, to: "x")))
        return try OutputCheck.check(file, against: plan(format), said: PixelSize(said.0, said.1))
    }

    private func expectRefusal(_ words: String, _ work: () throws -> Int) {
        let failure = #expect(throws: Failure.self) { try work() }
        #expect(failure?.code == .outputRejected && failure?.stage == "publish")
        #expect(failure?.message == "'small' was not published: \(words)")
    }

    @Test(arguments: SamplePicture.allCases)
    func `a rendition that is what was planned passes, and its bytes are counted`(kind: SamplePicture) async throws {
        let bytes = try await kind.bytes
        #expect(try check(bytes, as: kind.rawValue) == bytes.count)
    }

    @Test func `no bytes, other bytes and another format are refused`() async throws {
        let png = try await SamplePicture.png.bytes
        expectRefusal("expected a webp file, found no bytes") { try check([], as: "webp") }
        expectRefusal("expected a webp file, found other bytes") { try check(Array("<html>".utf8), as: "webp") }
        expectRefusal("expected a webp file, found other bytes") { try check(png, as: "webp") }
        expectRefusal("expected a jpeg file, found other bytes") {
            try check([UInt8](repeating: 0, count: 5000), as: "jpeg")
        }
    }

    @Test func `a rendition that cannot be read back is not refused, since its disk is to blame`() async throws {
        let file = try OpenFile.unreadable(try await SamplePicture.png.bytes, in: TemporaryFolder())
        let failure = #expect(throws: Failure.self) {
            try OutputCheck.check(file, against: plan("png"), said: PixelSize(64, 48))
        }
        #expect(failure == Failure(.ioError, stage: "publish", "cannot read the file: Bad file descriptor"))
    }

    @Test func `a size that is not the planned one is refused, whoever tells it`() async throws {
        let png = try await SamplePicture.png.bytes
        expectRefusal("expected 64×48 pixels, found 65×48") { try check(png, as: "png", said: (65, 48)) }
        let other = try await SamplePicture.png.encode(TestPicture.solid([1, 2, 3], width: 64, height: 47))
        expectRefusal("expected 64×48 pixels, found 64×48") { try check(other, as: "png") }
        // Its header is cut off.
        expectRefusal("expected 64×48 pixels, found 64×48") { try check(Array(png.prefix(12)), as: "png") }
    }
}
