import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

/// Lengths that are a percentage and points, in every parameter that takes a size or a distance.
@Suite(.quietVips)
struct SumLengthTests {
    private static let sizes: [(stage: String, key: String)] = [
        ("crop: { width: SUM, height: 10 }", "width"), ("crop: { width: 10, height: SUM }", "height"),
        ("resize: { width: SUM }", "width"), ("resize: { height: SUM }", "height"),
        ("frame: { width: SUM, height: 10 }", "width"), ("frame: { width: 10, height: SUM }", "height"),
        ("tile: { width: SUM, height: 10 }", "width"), ("viewport: { width: 10, height: SUM }", "height"),
        ("viewport: { width: 10, height: 10, reveal: { width: SUM, height: 1 } }", "reveal.width"),
        ("nine-slice: { width: SUM, cap-insets: { all: 1 } }", "width"), ("border: { width: SUM }", "width"),
        ("border: { width: 2, corner-radius: SUM }", "corner-radius"), ("blur: { sigma: SUM }", "sigma"),
        ("overlay: { image: a.png, width: SUM }", "width"),
        ("overlay: { image: a.png, avoid: { width: 10, height: SUM } }", "avoid.height"),
        ("composite: { width: SUM, layers: [ { source: true } ] }", "width"),
        ("composite: { layers: [ { color: red, height: SUM } ] }", "height"),
        ("composite: { layers: [ { layers: [ { source: true } ], width: SUM } ] }", "width"),
        ("text: { text: Hi, font: test.ttf, size: SUM }", "size"),
        ("text: { text: Hi, font: test.ttf, max-width: SUM }", "max-width"),
        ("text: { text: Hi, font: test.ttf, outline: { width: SUM } }", "outline.width"),
        ("caption: { text: Hi, font: test.ttf, height: SUM }", "height"),
        ("caption: { text: Hi, font: test.ttf, size: SUM }", "size"),
    ]
    private static let distances: [(stage: String, key: String)] = [
        ("viewport: { width: 50, height: 50, content-inset: { top: SUM } }", "content-inset.top"),
        ("nine-slice: { width: 100, cap-insets: { leading: SUM } }", "cap-insets.leading"),
        ("shadow: { blur: SUM }", "blur"), ("mask: { corner-radius: SUM }", "corner-radius"),
        ("mask: { corner-radius: { top-leading: SUM } }", "corner-radius"),
        ("overlay: { image: a.png, avoid: { width: 1, height: 1 }, spacing: SUM }", "spacing"),
        ("text: { text: Hi, font: test.ttf, padding: SUM }", "padding"),
        ("text: { text: Hi, font: test.ttf, corner-radius: SUM, background: red }", "corner-radius"),
        ("text: { text: Hi, font: test.ttf, shadow: { blur: SUM } }", "shadow.blur"),
        ("caption: { text: Hi, font: test.ttf, padding: SUM }", "padding"),
    ]

    private func plan(_ stage: String, _ sum: String) throws -> PlannedStage? {
        let assets = TestAssets(images: ["a.png": try TestPicture.solid([9, 9, 9], width: 5, height: 5)])
        let picture = try TestPicture.solid([1, 2, 3], width: 50, height: 50)
        return try steps(stage.replacing("SUM", with: sum), for: [picture], assets: assets).last
    }

    @Test(arguments: sizes + distances)
    func `a sum is accepted, and fails where it comes out too small`(stage: String, key: String) throws {
        #expect(try plan(stage, "100% - 48") != nil)
        let failure = #expect(throws: PlanFailure.self) { try plan(stage, "100% - 64") }
        #expect(failure?.failure.stage == String(stage.prefix { $0 != ":" }) && failure?.failure.code == .emptyResult)
        let found = failure?.failure.message ?? ""
        #expect(found.hasPrefix("'\(key)': 100% - 64 of 50 pixels is -14; expected "), "\(found)")
    }

    @Test(arguments: distances)
    func `a distance may come out as nothing`(stage: String, key: String) throws {
        guard !stage.contains("corner-radius: SUM }") else { return }
        #expect(try plan(stage, "100% - 50") != nil)
    }
}
