// Turns by weight: a flood in one inbox does not hold up another.
import Testing

@testable import Engine

@Suite struct FairShareTests {
    /// The inboxes that get the next turns if these have something to do all the time.
    private func turns(_ share: inout FairShare, _ count: Int, of names: [String]) -> [String] {
        (0..<count).compactMap { _ in share.next(of: names) }
    }

    @Test func `inboxes of one weight take turns`() {
        var share = FairShare()
        for name in ["a", "b", "c"] { share.set(name, weight: 1) }
        let found = turns(&share, 9, of: ["a", "b", "c"])
        for start in stride(from: 0, to: 9, by: 3) { #expect(Set(found[start..<start + 3]) == ["a", "b", "c"]) }
    }

    @Test func `an inbox of weight 3 gets three turns for each one of weight 1, spread out`() {
        var share = FairShare()
        share.set("heavy", weight: 3)
        share.set("light", weight: 1)
        let found = turns(&share, 40, of: ["heavy", "light"])
        #expect(found.count { $0 == "heavy" } == 30)
        for start in stride(from: 0, to: 40, by: 4) { #expect(found[start..<start + 4].count { $0 == "light" } == 1) }
    }

    @Test func `an inbox that had nothing to do saves nothing up`() {
        var share = FairShare()
        share.set("a", weight: 1)
        share.set("b", weight: 1)
        let alone = turns(&share, 100, of: ["a"])
        #expect(alone.allSatisfy { $0 == "a" })
        let found = turns(&share, 10, of: ["a", "b"])
        #expect(found.count { $0 == "b" } == 5)
    }

    @Test func `what is not known gets no turn, and neither does anybody if there is nothing to do`() {
        var share = FairShare()
        var found: [String?] = [share.next(of: ["a"])]
        share.set("a", weight: 1)
        found += [share.next(of: []), share.next(of: ["b"]), share.next(of: ["a"])]
        share.remove("a")
        found.append(share.next(of: ["a"]))
        #expect(found == [nil, nil, nil, "a", nil])
    }
}
