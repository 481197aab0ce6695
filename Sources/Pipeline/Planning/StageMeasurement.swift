// The measurements that stages ask for before they are planned.

/// A finding of a stage in the pixels, as fractions of the picture, so that all scales share it. Taken once per source.
package enum Measurement: Hashable, Sendable, Codable {
    /// A rectangle: left, top, width and height, 0…1.
    case box(left: Double, top: Double, width: Double, height: Double)
    /// Offsets along one axis, 0…1.
    case offsets([Double])
    /// The darkest and the lightest color value, 0…1.
    case levels(black: Double, white: Double)

    /// Whether a measurement of a picture can have these values. Workers are not trusted: check it before use.
    package var isPlausible: Bool {
        let numbers =
            switch self {
            case .box(let left, let top, let width, let height): [left, top, width, height]
            case .offsets(let offsets): offsets
            case .levels(let black, let white): [black, white]
            }
        return numbers.count <= 1_000_000 && numbers.allSatisfy { (0...1).contains($0) }
    }
}

/// A measurement for one stage.
package struct StageMeasurement: Hashable, Sendable, Codable {
    package let path: Planner.StagePath
    package let measurement: Measurement

    package init(path: Planner.StagePath, measurement: Measurement) {
        self.path = path
        self.measurement = measurement
    }
}

extension [StageMeasurement] {
    package var byPath: [Planner.StagePath: Measurement] {
        Dictionary(map { ($0.path, $0.measurement) }) { first, _ in first }
    }
}
