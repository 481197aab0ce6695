// Conditions drawn by a seed, whose truth follows from how the source was drawn.
import Pipeline
import Stages

/// A condition, and whether it holds for the source that it was drawn for.
struct DrawnCondition {
    let written: Written
    let holds: Bool

    /// - Parameter depth: how many conditions it is within.
    init(for source: DrawnSource, page: Bool, depth: Int = 0, _ random: inout SeededGenerator) {
        var entries: [Written.Entry] = []
        var holds = true
        for (key, draw) in Self.words(for: source, page: page).shuffled(using: &random).prefix(random.pick([1, 1, 2])) {
            let (value, isTrue) = draw(&random)
            entries.append(Written.Entry(key: key, value: value))
            holds = holds && isTrue
        }
        if depth < 2, random.chance(0.3) {
            let inner = DrawnCondition(for: source, page: page, depth: depth + 1, &random)
            entries.append(Written.Entry(key: "not", value: inner.written))
            holds = holds && !inner.holds
        }
        if depth < 2, random.chance(0.3) {
            let inner = (0..<random.whole(1...3)).map { _ in
                DrawnCondition(for: source, page: page, depth: depth + 1, &random)
            }
            entries.append(Written.Entry(key: "any", value: .list(inner.map(\.written))))
            holds = holds && inner.contains(where: \.holds)
        }
        written = .mapping(entries.shuffled(using: &random))
        self.holds = holds
    }

    private typealias Draw = (inout SeededGenerator) -> (Written, Bool)

    private static func words(for source: DrawnSource, page: Bool) -> [(String, Draw)] {
        var words: [(String, Draw)] = [
            ("format", { oneOf(source.format.rawValue, SourceFormat.allCases.map(\.rawValue), &$0) }),
            (
                "name",
                { random in
                    let name = source.isSet ? "set" : source.names[0]
                    let right = [name, name.uppercased(), "*\(name.suffix(2))", "?\(name.dropFirst())"]
                    return random.chance(0.5)
                        ? (.text(random.pick(right)), true)
                        : (.text(random.pick(["b*", "*.nothing", name + "?"])), false)
                }
            ),
            (
                "folder",
                { random in
                    random.chance(0.5)
                        ? (.text(random.pick(["s", "S", "?"])), true) : (.text(random.pick(["t", "s/*", "ss"])), false)
                }
            ),
            (
                "set",
                { random in
                    if random.chance(0.5) {
                        let wanted = random.chance(0.5)
                        return (.plain("\(wanted)"), wanted == source.isSet)
                    }
                    let (written, holds) = bound(source.members, &random)
                    return (written, source.isSet && holds)
                }
            ),
        ]
        // The members of a set differ in size, and drawings have transparency or not as their decoder says.
        guard !source.isSet, !source.isVector else { return words }
        let turned = source.orientation > 4
        let (width, height) = turned ? (source.height, source.width) : (source.width, source.height)
        words += [
            ("width", { bound(width, &$0) }), ("height", { bound(height, &$0) }),
            ("pixels", { bound(width * height, &$0) }),
            (
                "orientation",
                { random in
                    let shape = width < height ? "portrait" : width > height ? "landscape" : "square"
                    return oneOf(shape, ["portrait", "landscape", "square"], &random)
                }
            ),
            (
                "ratio",
                { random in
                    let (a, b) = (random.whole(1...4), random.whole(1...4))
                    return random.chance(0.5)
                        ? (.text(">= \(a):\(b)"), width * b >= height * a)
                        : (.text("<\(a):\(b)"), width * b < height * a)
                }
            ),
        ]
        if !page { words.append(("animated", { flag(source.frames > 1, &$0) })) }
        if [.png, .tiff, .jpeg].contains(source.format) {
            words.append(("alpha", { flag(source.hasAlpha, &$0) }))
            // A source with alpha is drawn with pixels that are not opaque; one that is a pixel wide may have none.
            if !source.hasAlpha { words.append(("transparent", { flag(false, &$0) })) }
        }
        return words
    }

    private static func flag(_ value: Bool, _ random: inout SeededGenerator) -> (Written, Bool) {
        let wanted = random.chance(0.5)
        return (.plain("\(wanted)"), wanted == value)
    }

    private static func oneOf(_ word: String, _ all: [String], _ random: inout SeededGenerator) -> (Written, Bool) {
        let some = Array(all.shuffled(using: &random).prefix(random.whole(1...2)))
        let words = random.chance(0.5) ? Array(Set(some + [word])).sorted() : some
        let written: Written = words.count == 1 ? .text(words[0]) : .list(words.map { .text($0) })
        return (written, words.contains(word))
    }

    private static func bound(_ number: Int, _ random: inout SeededGenerator) -> (Written, Bool) {
        let limit = max(1, number + random.pick([-1, 0, 0, 1, -number / 2, number]))
        switch random.whole(0...5) {
        case 0: return (.text(">= \(limit)"), number >= limit)
        case 1: return (.text(">\(limit)"), number > limit)
        case 2: return (.text("<= \(limit)"), number <= limit)
        case 3: return (.text("< \(limit)"), number < limit)
        case 4: return (.plain("\(limit)"), number == limit)
        default: return (.text("> \(limit), <= \(2 * limit)"), number > limit && number <= 2 * limit)
        }
    }
}

extension DrawnPipeline {
    /// The same with conditions at some of its renditions and stages, and what it comes to for a source, written without
    /// any.
    func withConditions(
        for source: DrawnSource, _ random: inout SeededGenerator
    ) -> (conditional: DrawnPipeline, plain: DrawnPipeline) {
        let hasPage = written["page"] != nil
        var (conditional, plain) = (self, self)
        func condition() -> DrawnCondition { DrawnCondition(for: source, page: hasPage, &random) }
        func stages(_ list: Written?) -> (conditional: Written?, plain: Written?) {
            guard let items = list?.items else { return (nil, nil) }
            var (all, kept): ([Written], [Written]) = ([], [])
            for item in items {
                guard let use = item.entries.first, random.chance(0.4),
                    !(StageCatalogue.all.stage(named: use.key) is any JoiningStage.Type)
                else {
                    all.append(item)
                    kept.append(item)
                    continue
                }
                let condition = condition()
                var parameters = use.value
                parameters["when"] = condition.written
                all.append(.mapping([Written.Entry(key: use.key, value: parameters)]))
                if condition.holds { kept.append(item) }
            }
            return (.list(all), .list(kept))
        }
        let shared = stages(written["stages"])
        (conditional.written["stages"], plain.written["stages"]) = (shared.conditional, shared.plain)
        var (all, kept): ([Written.Entry], [Written.Entry]) = ([], [])
        for rendition in written["renditions"]?.entries ?? [] {
            let own = stages(rendition.value["stages"])
            var (one, other) = (rendition, rendition)
            (one.value["stages"], other.value["stages"]) = (own.conditional, own.plain)
            var holds = true
            if random.chance(0.6) {
                let condition = condition()
                one.value["when"] = condition.written
                holds = condition.holds
            }
            all.append(one)
            if holds { kept.append(other) }
        }
        conditional.written["renditions"] = .mapping(all)
        plain.written["renditions"] = .mapping(kept)
        return (conditional, plain)
    }
}
