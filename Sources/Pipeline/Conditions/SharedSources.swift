// Whether two conditions can hold for one source: renditions that are never made together may share a name.

extension Condition {
    /// A source for which all of these conditions hold, of the usual and of the mentioned values. Nil if none is found:
    /// then nearly always there is none, and if there is one all the same, the names are seen to clash when it is
    /// planned.
    /// - Parameter tries: how many sources may be looked at; those that were are taken off.
    static func sharedSource(of conditions: [Condition], isSet: Bool, tries: inout Int) -> Subject? {
        let values = MentionedValues(conditions)
        let counts = isSet ? values.counts : [1]
        let paths = values.paths
        let found: Subject?? = values.firstFacts { facts in
            for path in paths {
                for count in counts {
                    tries -= 1
                    guard tries >= 0 else { return .some(nil) }
                    let subject =
                        isSet
                        ? Subject(
                            set: Array(repeating: MemberFacts(name: BytePath("x"), facts: facts), count: count),
                            path: path)
                        : Subject(picture: facts, path: path)
                    if conditions.allSatisfy({ subject.judge($0).holds == true }) { return subject }
                }
            }
            return nil
        }
        return found ?? nil
    }
}

/// The values that conditions name, and those beside them.
private struct MentionedValues {
    /// One with alpha and frames, and one without alpha.
    private var formats = Set(
        [
            SourceFormat.allCases.first { $0.declaration.canHaveAlpha && $0.declaration.hasFrames },
            SourceFormat.allCases.first { !$0.declaration.canHaveAlpha },
        ].compactMap(\.self))
    private var flags: Set<Condition.Flag> = []
    private var widths: Set<Int> = [1000]
    private var heights: Set<Int> = [1000]
    private var areas: Set<Int> = []
    private var ratios: Set<Double> = []
    private var names = ["x"]
    private var folders = ["", "x/"]
    private(set) var counts = [1, 2]

    init(_ conditions: [Condition]) {
        for test in conditions.flatMap(\.allTests) { add(test) }
        // One that is not mentioned, also if others are for what they can have.
        let mentioned = conditions.flatMap(\.allTests).reduce(into: Set<SourceFormat>()) {
            if case .format(let some) = $1 { $0.formUnion(some) }
        }
        formats.formUnion(SourceFormat.alwaysRead.filter { !mentioned.contains($0) }.prefix(1))
    }

    private mutating func add(_ test: Condition.Test) {
        switch test {
        case .flag(let flag, _):
            flags.insert(flag)
            if flag == .transparent { flags.insert(.alpha) }
        case .format(let some):
            formats.formUnion(some)
            // One that is not mentioned.
            formats.formUnion(SourceFormat.allCases.filter { !some.contains($0) && $0.declaration.hasFrames }.prefix(1))
        case .shape: ratios.formUnion([0.5, 1, 2])
        case .number(.width, let interval, _): widths.formUnion(near(interval))
        case .number(.height, let interval, _): heights.formUnion(near(interval))
        case .number(.pixels, let interval, _): areas.formUnion(near(interval))
        case .number(.ratio, let interval, _):
            let ends = [interval.lower, interval.upper].filter { $0.isFinite && $0 > 0 }
            ratios.formUnion(ends.flatMap { [$0 * 0.9, $0, $0 * 1.1] })
        case .path(let part, let patterns):
            let examples = patterns.patterns.map(\.example)
            if part == .name { names += examples } else { folders += examples.map { $0 + "/" } }
        case .count(let interval, _): counts += near(interval).filter { (1...100).contains($0) }
        case .set, .any, .not: break
        }
    }

    /// The whole numbers at the ends of an interval.
    private func near(_ interval: Interval) -> [Int] {
        let ends = [interval.lower, interval.upper].filter { $0.isFinite && abs($0) < 1e12 }.map { Int($0) }
        return ends.flatMap { [$0 - 1, $0, $0 + 1] }.filter { $0 > 0 }
    }

    /// The first few of very many values.
    private static let mostValues = 40

    private var sizes: [PixelSize] {
        let widths = widths.sorted().prefix(Self.mostValues)
        let heights = heights.sorted().prefix(Self.mostValues)
        let areas = areas.sorted().prefix(Self.mostValues)
        let ratios = ratios.sorted().prefix(Self.mostValues)
        var sizes: Set<PixelSize> = []
        func add(_ width: Int, _ height: Int) {
            let sides = 1...maximumCoordinate
            if sides.contains(width), sides.contains(height) { sizes.insert(PixelSize(width, height)) }
        }
        for width in widths {
            for height in heights { add(width, height) }
        }
        for side in Set(widths + heights) {
            add(side, side)
            for area in areas {
                for other in [area / side, area / side + 1] {
                    add(side, other)
                    add(other, side)
                }
            }
            for ratio in ratios {
                add(side, rounded(Double(side) / ratio))
                add(rounded(Double(side) * ratio), side)
            }
        }
        for area in areas {
            let side = Int(Double(area).squareRoot())
            for side in [side, side + 1] { add(side, side) }
            for ratio in ratios {
                let width = max(1, rounded((Double(area) * ratio).squareRoot()))
                add(width, area / width)
            }
        }
        return sizes.sorted { ($0.width, $0.height) < ($1.width, $1.height) }
    }

    /// Goes through the facts of pictures until one gives a result.
    func firstFacts<Result>(_ look: (SourceFacts) -> Result?) -> Result? {
        func both(_ flag: Condition.Flag) -> [Bool] { flags.contains(flag) ? [false, true] : [false] }
        let formats = formats.sorted { $0.rawValue < $1.rawValue }
        for size in sizes {
            for format in formats {
                for alpha in both(.alpha) where !alpha || format.declaration.canHaveAlpha {
                    for animated in both(.animated) where !animated || format.declaration.hasFrames {
                        for profile in both(.profile) {
                            for transparent in alpha ? both(.transparent) : [false] {
                                var facts = SourceFacts(
                                    format: format, size: size, frames: animated ? 2 : 1, hasAlpha: alpha,
                                    hasProfile: profile)
                                facts.isTransparent = transparent
                                if let found = look(facts) { return found }
                            }
                        }
                    }
                }
            }
        }
        return nil
    }

    var paths: [BytePath] { folders.flatMap { folder in names.map { BytePath(folder + $0) } } }
}
