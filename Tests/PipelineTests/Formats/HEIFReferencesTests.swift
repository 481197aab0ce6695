import Testing

@testable import Pipeline

@Suite struct HEIFReferencesTests {
    private func isCircle(_ derivations: [(Int, [Int])], bytes: Int = 2) -> Bool {
        let file = HEIFBuilder(derivations: derivations.map { (item: $0.0, from: $0.1) }, referenceBytes: bytes).file()
        return (try? HEIFStructure.refusal(of: 1, in: ByteSource(file))) != nil
    }

    @Test(arguments: [2, 4])
    func `an item that is made of itself is found, however long the way`(bytes: Int) {
        #expect(isCircle([(2, [2])], bytes: bytes))
        #expect(isCircle([(2, [3]), (3, [2])], bytes: bytes))
        #expect(isCircle([(2, [1, 3]), (3, [1, 4, 4]), (4, [5]), (5, [3])], bytes: bytes))
        let long = 20_000
        #expect(isCircle((1...long).map { ($0, [$0 % long + 1]) }, bytes: bytes))
        #expect(!isCircle((1...long).map { ($0, [$0 + 1]) }, bytes: bytes))
    }

    @Test func `grids, chains and items that share others are none`() {
        #expect(!isCircle([]))
        #expect(!isCircle([(2, [3, 4, 5, 6])]))
        #expect(!isCircle([(2, [3]), (3, [4]), (7, [3, 4])]))
        #expect(!isCircle([(2, [3, 3, 3]), (2, [4])]))
    }

    @Test func `circles that are drawn by a seed are those that a search by depth finds`() {
        var generator = SeededGenerator(state: 14)
        var found = 0
        for _ in 0..<2_000 {
            let edges = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                (Int.random(in: 1...7, using: &generator), [Int.random(in: 1...7, using: &generator)])
            }
            /// Whether a walk from an item comes to the goal.
            func reaches(_ item: Int, _ goal: Int, _ steps: Int) -> Bool {
                steps > 0 && edges.contains { $0.0 == item && ($0.1[0] == goal || reaches($0.1[0], goal, steps - 1)) }
            }
            let expected = (1...7).contains { reaches($0, $0, 7) }
            found += expected ? 1 : 0
            #expect(isCircle(edges) == expected, "\(edges)")
        }
        #expect((200..<1_800).contains(found))
    }
}
