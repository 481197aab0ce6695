// The curves by which neighbouring pixels are weighted when a picture is scaled.
import Glibc

/// How new pixels are computed from old ones; libvips' names.
package enum ScalingKernel: String, Sendable, CaseIterable {
    case lanczos3, lanczos2, mitchell, cubic, linear
    /// Takes whole pixels and weighs none.
    case nearest

    /// How far the curve reaches from its middle, in pixels of the coarser of the two pictures.
    package var radius: Double {
        switch self {
        case .nearest: 0.5
        case .linear: 1
        case .cubic, .mitchell, .lanczos2: 2
        case .lanczos3: 3
        }
    }

    /// The weight at a distance from the middle.
    package func weight(at distance: Double) -> Double {
        let x = abs(distance)
        guard x < radius else { return 0 }
        switch self {
        case .nearest: return 1
        case .linear: return 1 - x
        // Catmull-Rom.
        case .cubic: return Self.cubic(x, b: 0, c: 0.5)
        case .mitchell: return Self.cubic(x, b: 1 / 3, c: 1 / 3)
        case .lanczos2: return Self.sinc(x) * Self.sinc(x / 2)
        case .lanczos3:
            guard x > 0 else { return 1 }
            // sin 3a = 3 sin a − 4 sin³ a: one sine instead of two, of which a picture needs tens of thousands.
            let sine = sin(.pi * x / 3)
            return 3 * sine * sine * (3 - 4 * sine * sine) / (.pi * .pi * x * x)
        }
    }

    /// The family of Mitchell and Netravali ("Reconstruction Filters in Computer Graphics", 1988).
    private static func cubic(_ x: Double, b: Double, c: Double) -> Double {
        if x < 1 { return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + (6 - 2 * b)) / 6 }
        return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + (8 * b + 24 * c)) / 6
    }

    private static func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
}
