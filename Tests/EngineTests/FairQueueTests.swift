// Who is next.
import Testing

@testable import Engine

@Suite struct FairQueueTests {
    private func taken(_ queue: inout FairQueue<String>, _ count: Int) -> [String] { (0..<count).compactMap { _ in queue.take() } }

    @Test("A flood in one inbox does not hold up another")
    func flood() {
        var queue = FairQueue<String>()
        for number in 0..<1000 { queue.add("a\(1000 + number)", to: "a") }
        #expect(taken(&queue, 10).allSatisfy { $0.hasPrefix("a") })
        queue.add("b1", to: "b")
        #expect(taken(&queue, 2).contains("b1"))
    }

    @Test("What does not fit any more leaves its lane, and no other")
    func filter() {
        var queue = FairQueue<String>()
        for name in ["1 stays", "2 goes", "3 stays"] {
            queue.add(name, to: "a")
            queue.add(name, to: "b")
        }
        queue.filter(lane: "a") { $0.hasSuffix("stays") }
        #expect(queue.count(in: "a") == 2 && queue.count(in: "b") == 3)
        #expect(taken(&queue, 9).sorted() == ["1 stays", "1 stays", "2 goes", "3 stays", "3 stays"])
    }

    @Test("Inboxes take turns by their weight, without bursts")
    func weights() {
        var queue = FairQueue<String>()
        queue.setLane("a", weight: 3)
        queue.setLane("b", weight: 1)
        for number in 10..<30 {
            queue.add("a\(number)", to: "a")
            queue.add("b\(number)", to: "b")
        }
        let order = taken(&queue, 16).map { $0.first! }
        #expect(order.count { $0 == "a" } == 12)
        for start in 0...12 { #expect(order[start..<(start + 4)].count { $0 == "b" } == 1) }
    }

    @Test("Within an inbox, what was seen first is taken first")
    func order() {
        var queue = FairQueue<String>()
        for name in ["c", "a", "d", "b", "e"] { queue.add(name, to: "x") }
        #expect(taken(&queue, 9) == ["a", "b", "c", "d", "e"])
    }

    @Test("An inbox that had nothing for long has no more turns saved up than one")
    func noSavings() {
        var queue = FairQueue<String>()
        queue.setLane("idle", weight: 1)
        for number in 100..<200 { queue.add("a\(number)", to: "a") }
        _ = taken(&queue, 50)
        for number in 100..<120 { queue.add("i\(number)", to: "idle") }
        #expect(taken(&queue, 10).count { $0.hasPrefix("i") } == 5)
    }

    @Test("A closed inbox keeps what it has, and gives it when it is opened")
    func closed() {
        var queue = FairQueue<String>()
        queue.add("a1", to: "a")
        queue.setLane("a", isOpen: false)
        #expect(queue.take() == nil && queue.count == 1)
        queue.setLane("a", isOpen: true)
        #expect(queue.take() == "a1" && queue.take() == nil)
    }

    @Test("A heap gives its elements in order, whatever the order in which they came")
    func heap() {
        var heap = Heap<Int>()
        var numbers = Array(0..<500)
        var generator = SystemRandomNumberGenerator()
        numbers.shuffle(using: &generator)
        for number in numbers { heap.add(number) }
        #expect((0..<500).map { _ in heap.takeFirst() } == Array(0..<500))
        #expect(heap.takeFirst() == nil && heap.isEmpty)
    }
}
