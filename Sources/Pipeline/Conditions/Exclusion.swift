// Whether two conditions can hold for one source: renditions that are never made together may share a name.

/// What is known of two conditions.
package enum Exclusion {
    /// No source has both.
    case always
    /// Some source has both.
    case never
    /// It depends on the names of files.
    case unknown
}

extension Condition {
    /// Whether they exclude each other. Nil is a condition that always holds.
    static func exclusion(_ one: Condition?, _ other: Condition?) -> Exclusion {
        let both = Condition([one, other].compactMap(\.self).flatMap(\.tests))
        guard let ways = both.ways(true) else { return .unknown }
        if ways.isEmpty { return .always }
        return ways.contains { $0.paths.isEmpty } ? .never : .unknown
    }

    /// One way in which a condition can hold.
    private struct Way {
        var flags: [Flag: Bool] = [:]
        var formats: Set<SourceFormat> = Set(SourceFormat.allCases)
        var numbers: [Measure: Interval] = [:]
        var count = Interval.all
        var isSet: Bool?
        /// Whether a pattern must match.
        var paths: [Test: Bool] = [:]

        /// Both at once; nil if that cannot be.
        func and(_ other: Way) -> Way? {
            var way = self
            for (flag, value) in other.flags {
                if way.flags.updateValue(value, forKey: flag) == !value { return nil }
            }
            // A pixel can only be transparent in a picture with an alpha channel.
            if way.flags[.transparent] == true, way.flags[.alpha] == false { return nil }
            way.formats.formIntersection(other.formats)
            for (measure, interval) in other.numbers {
                way.numbers[measure] = (way.numbers[measure] ?? .all).intersection(interval)
            }
            way.count = count.intersection(other.count)
            for (test, matches) in other.paths {
                if way.paths.updateValue(matches, forKey: test) == !matches { return nil }
            }
            if let isSet, let other = other.isSet, isSet != other { return nil }
            way.isSet = isSet ?? other.isSet
            let isEmpty = way.formats.isEmpty || way.count.isEmpty || way.numbers.values.contains(where: \.isEmpty)
            return isEmpty ? nil : way
        }
    }

    /// More ways than these are not looked through.
    private static let mostWays = 512

    /// The ways in which it can hold, or fail to.
    /// - Returns: nil if there are too many.
    private func ways(_ holds: Bool) -> [Way]? {
        let each = tests.map { Self.ways($0, holds) }
        return holds ? Self.product(each) : Self.sum(each)
    }

    private static func ways(_ test: Test, _ holds: Bool) -> [Way]? {
        switch test {
        case .flag(let flag, let value): return [Way(flags: [flag: value == holds])]
        case .format(let formats):
            let formats = Set(formats)
            return [Way(formats: holds ? formats : Set(SourceFormat.allCases).subtracting(formats))]
        case .shape(let shapes):
            return PictureShape.allCases.filter { shapes.contains($0) == holds }.map {
                Way(numbers: [.ratio: $0.ratio])
            }
        case .number(let measure, let interval, _):
            return (holds ? [interval] : interval.rest).map { Way(numbers: [measure: $0]) }
        case .count(let interval, _):
            let sets = (holds ? [interval] : interval.rest).map { Way(count: $0, isSet: true) }
            return holds ? sets : sets + [Way(isSet: false)]
        case .set(let value): return [Way(isSet: value == holds)]
        case .path(_, _): return [Way(paths: [test: holds])]
        case .any(let conditions):
            let each = conditions.map { $0.ways(holds) }
            return holds ? sum(each) : product(each)
        case .not(let condition): return condition.ways(!holds)
        }
    }

    private static func sum(_ each: [[Way]?]) -> [Way]? {
        var ways: [Way] = []
        for some in each {
            guard let some, ways.count + some.count <= mostWays else { return nil }
            ways += some
        }
        return ways
    }

    private static func product(_ each: [[Way]?]) -> [Way]? {
        var ways = [Way()]
        for some in each {
            guard let some, ways.count * some.count <= mostWays else { return nil }
            ways = ways.flatMap { way in some.compactMap(way.and) }
        }
        return ways
    }
}
