// Which of several inboxes is next, so that a flood in one does not hold up another.

/// Elements in lanes, the smallest of each first. Lanes take turns: one of weight 2 gets two turns for each one of a lane of weight 1.
struct FairQueue<Element: Comparable> {
    private struct Lane {
        var weight: Int
        var isOpen = true
        /// How much of its share the lane has waited for; who has most is next.
        var credit = 0
        var waiting = Heap<Element>()
    }

    private var lanes: [String: Lane] = [:]

    var count: Int { lanes.values.reduce(0) { $0 + $1.waiting.count } }

    func count(in lane: String) -> Int { lanes[lane]?.waiting.count ?? 0 }

    /// Makes a lane, or changes the weight of one.
    mutating func setLane(_ name: String, weight: Int) { lanes[name, default: Lane(weight: weight)].weight = max(1, weight) }

    /// A closed lane keeps what it has and gives nothing.
    mutating func setLane(_ name: String, isOpen: Bool) { lanes[name]?.isOpen = isOpen }

    /// Lets go of what does not fit in a lane.
    mutating func filter(lane: String, _ fits: (Element) -> Bool) {
        guard var old = lanes[lane]?.waiting else { return }
        var kept = Heap<Element>()
        while let element = old.takeFirst() { if fits(element) { kept.add(element) } }
        lanes[lane]!.waiting = kept
    }

    /// Lets go of a lane with all that waits in it.
    mutating func removeLane(_ name: String) { lanes[name] = nil }

    mutating func add(_ element: Element, to lane: String) { lanes[lane, default: Lane(weight: 1)].waiting.add(element) }

    mutating func take() -> Element? {
        // A lane that has nothing to give saves nothing up.
        for name in lanes.keys where lanes[name]!.waiting.isEmpty { lanes[name]!.credit = 0 }
        let candidates = lanes.filter { $0.value.isOpen && !$0.value.waiting.isEmpty }
        let total = candidates.values.reduce(0) { $0 + $1.weight }
        for name in candidates.keys { lanes[name]!.credit += lanes[name]!.weight }
        let next = candidates.keys.max { (lanes[$0]!.credit, $1) < (lanes[$1]!.credit, $0) }
        guard let next else { return nil }
        lanes[next]!.credit -= total
        return lanes[next]!.waiting.takeFirst()
    }
}
