// Light in the coordinates of CIE XYZ, and in those of other colors.

/// Three rows of three numbers, for colors as columns.
package struct ColorMatrix: Hashable, Sendable {
    package let rows: [SIMD3<Double>]

    package init(_ rows: [SIMD3<Double>]) { self.rows = rows }

    package static func * (left: ColorMatrix, right: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3((left.rows[0] * right).sum(), (left.rows[1] * right).sum(), (left.rows[2] * right).sum())
    }

    package static func * (left: ColorMatrix, right: ColorMatrix) -> ColorMatrix {
        let columns = (0..<3).map { column in
            left * SIMD3(right.rows[0][column], right.rows[1][column], right.rows[2][column])
        }
        return ColorMatrix((0..<3).map { row in SIMD3(columns[0][row], columns[1][row], columns[2][row]) })
    }

    /// Nil if it has none, since its colors are in one plane.
    package var inverse: ColorMatrix? {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r, c) = ((0..<3).filter { $0 != row }, (0..<3).filter { $0 != column })
            let value = rows[r[0]][c[0]] * rows[r[1]][c[1]] - rows[r[0]][c[1]] * rows[r[1]][c[0]]
            return (row + column) % 2 == 0 ? value : -value
        }
        let determinant = (0..<3).map { rows[0][$0] * minor(0, $0) }.reduce(0, +)
        guard abs(determinant) > 1e-9 else { return nil }
        return ColorMatrix((0..<3).map { row in SIMD3(minor(0, row), minor(1, row), minor(2, row)) / determinant })
    }

    private static func diagonal(_ values: SIMD3<Double>) -> ColorMatrix {
        ColorMatrix([SIMD3(values[0], 0, 0), SIMD3(0, values[1], 0), SIMD3(0, 0, values[2])])
    }

    /// Cones of the eye by Bradford, by which colors under one white become colors under another.
    private static let bradford = ColorMatrix([
        SIMD3(0.8951, 0.2664, -0.1614), SIMD3(-0.7502, 1.7135, 0.0367), SIMD3(0.0389, -0.0685, 1.0296),
    ])

    /// Makes colors under one white those under another. Nil if a white is black to a cone.
    package static func adaptation(from white: SIMD3<Double>, to other: SIMD3<Double>) -> ColorMatrix? {
        let (from, to) = (bradford * white, bradford * other)
        guard let back = bradford.inverse, (0..<3).allSatisfy({ abs(from[$0]) > 1e-9 }) else { return nil }
        return back * diagonal(to / from) * bradford
    }
}

extension Chromaticity {
    /// Light of this color whose brightness is 1. Nil if no light has it.
    var light: SIMD3<Double>? { y > 1e-9 ? SIMD3(x / y, 1, (1 - x - y) / y) : nil }
}

extension Primaries {
    /// The white of profiles, D50.
    package static let profileWhite = SIMD3(0.9642, 1, 0.8249)

    /// Makes light in these primaries light in XYZ, with their own white. Nil if they mix no colors.
    package var toXYZ: ColorMatrix? {
        func column(_ color: Chromaticity) -> SIMD3<Double> { SIMD3(color.x, color.y, 1 - color.x - color.y) }
        let columns = [column(red), column(green), column(blue)]
        let mix = ColorMatrix((0..<3).map { row in SIMD3(columns[0][row], columns[1][row], columns[2][row]) })
        guard let inverse = mix.inverse, let white = white.light else { return nil }
        let strength = inverse * white
        return ColorMatrix(mix.rows.map { $0 * strength })
    }

    /// The same under the white of profiles.
    package var toProfileXYZ: ColorMatrix? {
        guard let own = toXYZ, let white = white.light,
            let adaptation = ColorMatrix.adaptation(from: white, to: Self.profileWhite)
        else { return nil }
        return adaptation * own
    }
}
