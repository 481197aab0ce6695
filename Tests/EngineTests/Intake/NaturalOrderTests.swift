import Pipeline
import Testing

@testable import Engine

@Suite struct NaturalOrderTests {
    private func sorted(_ names: [String]) -> [String] {
        names.map { BytePath($0) }.sorted { $0.precedes($1) }.map(\.text)
    }

    @Test(arguments: [
        ["1.png", "2.png", "10.png"], ["a.jpg", "a.png", "a2.jpg", "a10.jpg"], ["a1b2", "a1b10", "a2b1"],
        ["p/1.jpg", "p/2.jpg", "p/10.jpg", "p1/1.jpg"], ["v1.9", "v1.10", "v1.10.1"], ["", "a"], ["img", "img1"],
        ["9", "99999999999999999999999999998", "99999999999999999999999999999"], ["B", "a"],
    ])
    func `names come in the order that people expect`(expected: [String]) {
        #expect(sorted(expected.reversed()) == expected)
        #expect(sorted(expected) == expected)
    }

    @Test func `leading zeros make no difference but to equal names, which still have one order`() {
        #expect(sorted(["2", "01", "1", "003"]) == ["01", "1", "2", "003"])
        #expect(BytePath("a01").precedes(BytePath("a1")) != BytePath("a1").precedes(BytePath("a01")))
    }

    @Test func `no path comes before itself, and of two one comes first, whatever their bytes`() {
        var generator = SystemRandomNumberGenerator()
        let alphabet: [UInt8] = Array("0129a/-.".utf8) + [0xFF]
        let paths = (0..<120).map { _ in
            BytePath((0..<Int.random(in: 0...6, using: &generator)).map { _ in alphabet.randomElement()! })
        }
        for a in paths {
            #expect(!a.precedes(a))
            for b in paths where a != b {
                #expect(a.precedes(b) != b.precedes(a), "\(a.bytes) \(b.bytes)")
                for c in paths.prefix(40) where a.precedes(b) && b.precedes(c) {
                    #expect(a.precedes(c), "\(a.bytes) \(b.bytes) \(c.bytes)")
                }
            }
        }
    }
}
