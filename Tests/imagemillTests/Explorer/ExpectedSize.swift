// The size of a result by plain arithmetic, where a frame of exact size makes it easy to say.

enum ExpectedSize {
    /// Width and height after stages; nil if that takes more than a line to say.
    /// - Parameters:
    ///   - start: the size before them, if it is known.
    ///   - scale: pixels in a point.
    static func after(_ stages: [Written], from start: [Int]?, scale: Int) -> [Int]? {
        stages.reduce(start) { size, stage in
            guard let use = stage.entries.first else { return nil }
            let sides = [use.value["width"], use.value["height"]]
            switch use.key {
            case "frame", "tile", "viewport":
                let lengths = (0...1).compactMap { pixels(sides[$0], of: size?[$0], scale: scale) }
                return lengths.count == 2 ? lengths : nil
            case "flip", "flatten", "opacity", "mask", "overlay", "sharpen", "blur", "grayscale", "tint":
                return size
            case "rotate":
                guard let angle = use.value["angle"]?.word.flatMap(Double.init) else { return nil }
                let turns = angle / 90
                guard turns == turns.rounded() else { return nil }
                return Int(turns) % 2 == 0 ? size : size.map { $0.reversed() }
            default: return nil
            }
        }
    }

    /// A length in pixels, rounded half away from zero and never below 1.
    private static func pixels(_ length: Written?, of side: Int?, scale: Int) -> Int? {
        guard let word = length?.word else { return nil }
        if word.hasSuffix("%") {
            guard let percent = Double(word.dropLast()), let side else { return nil }
            return max(1, Int((Double(side) * percent / 100).rounded(.toNearestOrAwayFromZero)))
        }
        return Double(word).map { max(1, Int(($0 * Double(scale)).rounded(.toNearestOrAwayFromZero))) }
    }
}
