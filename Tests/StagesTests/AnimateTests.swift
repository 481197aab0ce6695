import Pipeline
import TestSupport
import Testing
import Vips

@testable import Stages

@Suite(.quietVips) struct AnimateTests {
    private func pictures(_ count: Int, width: Int = 8, height: Int = 6) throws -> [Image] {
        try (0..<count).map { try TestPicture.solid([UInt8($0), 0, 0], width: width, height: height) }
    }

    @Test func `the frames are the pictures in their order, a thirtieth of a second each`() throws {
        let joined = try join("animate", try pictures(6), save: "webp")
        #expect(try joined.frames.pictures.map { try $0.image.getpoint(x: 0, y: 0)[0] } == [0, 1, 2, 3, 4, 5])
        #expect(joined.frames.delays == [33, 34, 33, 33, 34, 33])
        #expect(joined.frames.repeatCount == 0)
    }

    @Test(arguments: [1, 3, 7, 30])
    func `the duration is that of all frames together, to the millisecond`(count: Int) throws {
        let joined = try join("animate: { duration: 1.001, repeat-count: 3 }", try pictures(count + 1), save: "webp")
        #expect(joined.frames.delays.reduce(0, +) == 1001)
        #expect(joined.frames.repeatCount == 3)
    }

    @Test(arguments: [("{ from: 2, to: 4 }", [1, 2, 3]), ("{ from: 5 }", [4, 5]), ("{ to: 1 }", [0])])
    func `a range takes part of the sequence, counted from 1`(range: String, expected: [Double]) throws {
        let joined = try join("animate: { range: \(range) }", try pictures(6), save: "gif")
        #expect(try joined.frames.pictures.map { try $0.image.getpoint(x: 0, y: 0)[0] } == expected)
        #expect(joined.frames.delays.count == (expected.count == 1 ? 0 : expected.count))
    }

    @Test func `frames that browsers would slow down are shown as fast as these play them, with a warning`() throws {
        let joined = try join("animate: { duration: 0.05 }", try pictures(8), save: "webp")
        #expect(joined.frames.delays == [Int](repeating: 11, count: 8))
        #expect(joined.plan.warnings.map(\.code) == [.animationSlowed])
        let words = "'animate': frames of 6.3 ms would be played at 100 ms by browsers; they are shown for 11 ms each"
        #expect(joined.plan.warnings.first?.message == words)
        let slower = try join("animate: { duration: 0.088 }", try pictures(8), save: "webp")
        #expect(slower.frames.delays == [Int](repeating: 11, count: 8) && slower.plan.warnings.isEmpty)
    }

    @Test func `a range beyond the set is a failure that says how many there are`() throws {
        let failure = try setFailure("animate: { range: { from: 2, to: 9 } }", try pictures(6), save: "gif")
        #expect(
            failure?.code == .emptyResult && failure?.message == "'range' asks for the pictures 2 to 9, the set has 6")
    }

    @Test func `pictures of unequal sizes are named`() throws {
        let images = try pictures(3) + pictures(1, width: 9)
        let failure = try setFailure("animate", images, names: ["a.png", "b.png", "c@2x.png", "d.png"], save: "webp")
        #expect(failure?.code == .unequalSizes)
        let words = "expected every frame to be like 'a.png' (8×6), found 'c@2x.png' (8×6 at @2x), 'd.png' (9×6)"
        #expect(failure?.message.hasPrefix(words) == true, "\(failure?.message ?? "")")
        #expect(try setFailure("frame: { width: 4, height: 4 }\nanimate", images, save: "webp") == nil)
    }

    @Test func `frames are cropped and resized as one`() throws {
        let joined = try join(
            "animate\ncrop: { width: 4, height: 4 }\nresize: { width: 2 }", try pictures(5), save: "webp")
        #expect(joined.frames.pictures.count == 5)
        #expect(joined.frames.pictures.allSatisfy { ($0.width, $0.height) == (2, 2) })
        #expect(joined.frames.delays.count == 5)
    }
}
