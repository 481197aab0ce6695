// The size of a result by plain arithmetic, where a frame of exact size makes it easy to say.

struct ExpectedSize {
    /// Width and height.
    var sides: [Int]
    /// Pixels in a point.
    var density: Int

    /// The size after stages; nil if that takes more than a line to say.
    /// - Parameters:
    ///   - start: the size before them, if it is known.
    ///   - scale: the rendition's.
    static func after(_ stages: [Written], from start: ExpectedSize?, scale: Int) -> ExpectedSize? {
        stages.reduce(start) { before, stage in
            guard let use = stage.entries.first else { return nil }
            let sides = [use.value["width"], use.value["height"]]
            switch use.key {
            case "frame", "tile", "viewport":
                return size(sides, before: before, scale: scale)
            case "flip", "flatten", "opacity", "mask", "overlay", "sharpen", "blur", "grayscale", "tint", "adjust",
                "gradient", "duotone", "lut":
                return before
            case "rotate":
                guard let angle = use.value["angle"]?.word.flatMap(Double.init) else { return nil }
                let turns = angle / 90
                guard turns == turns.rounded() else { return nil }
                if Int(turns) % 2 == 0 { return before }
                return before.map { ExpectedSize(sides: $0.sides.reversed(), density: $0.density) }
            default: return nil
            }
        }
    }

    /// Points are pixels at scale 1. A percentage is of the picture; beside points, of the picture at the scale.
    private static func size(_ written: [Written?], before: ExpectedSize?, scale: Int) -> ExpectedSize? {
        let words = written.compactMap { $0?.word }
        guard words.count == 2 else { return nil }
        let hasPoints = words.contains { !$0.hasSuffix("%") }
        var sides: [Int] = []
        for (index, word) in words.enumerated() {
            if word.hasSuffix("%") {
                guard let percent = Double(word.dropLast()), let before else { return nil }
                let whole = Double(before.sides[index]) * (hasPoints ? Double(scale) / Double(before.density) : 1)
                sides.append(pixels(whole * percent / 100))
            } else if let points = Double(word) {
                sides.append(pixels(points * Double(scale)))
            } else {
                return nil
            }
        }
        return ExpectedSize(sides: sides, density: hasPoints ? scale : before?.density ?? 1)
    }

    /// Rounded half away from zero and never below 1.
    private static func pixels(_ length: Double) -> Int { max(1, Int(length.rounded(.toNearestOrAwayFromZero))) }
}
