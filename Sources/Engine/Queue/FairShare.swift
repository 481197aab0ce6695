// The choice of the next inbox, so that a flood in one does not hold up another.

/// Turns by weight: an inbox of weight 2 gets two turns for each one of an inbox of weight 1.
struct FairShare {
    private struct Share {
        var weight: Int
        /// How much of its share the inbox has waited for; the one that has most is next.
        var credit = 0
    }

    private var shares: [String: Share] = [:]

    /// Adds an inbox, or changes the weight of one.
    mutating func set(_ name: String, weight: Int) {
        shares[name, default: Share(weight: weight)].weight = max(1, weight)
    }

    mutating func remove(_ name: String) { shares[name] = nil }

    /// How many of `count` lanes an inbox may have while these want some: at least one.
    func part(of name: String, among names: Set<String>, of count: Int) -> Int {
        let total = names.reduce(0) { $0 + (shares[$1]?.weight ?? 0) }
        return max(1, count * (shares[name]?.weight ?? 0) / max(1, total))
    }

    /// Gives the next turn to one of the inboxes that have something to do.
    mutating func next(of candidates: [String]) -> String? {
        let waiting = Set(candidates).intersection(shares.keys)
        // An inbox that has nothing to do saves nothing up.
        for name in shares.keys where !waiting.contains(name) { shares[name]?.credit = 0 }
        var (best, total) = (nil as String?, 0)
        for name in waiting.sorted() {
            guard var share = shares[name] else { continue }
            share.credit += share.weight
            total += share.weight
            shares[name] = share
            if share.credit > best.flatMap({ shares[$0]?.credit }) ?? .min { best = name }
        }
        if let best { shares[best]?.credit -= total }
        return best
    }
}
