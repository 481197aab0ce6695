// Pixels from one space of color to another: by tables into light, light by a matrix, and by tables into numbers again.
// LittleCMS goes by a grid of 33 colors a side where numbers have 16 bits, and is off by up to 29 of 255 in the dark.
import Glibc
package import Pipeline
import Vips

/// The tables and the matrix for one pair of spaces and one kind of numbers. Making them costs some milliseconds.
package final class ColorLoop: Sendable {
    private static let steps = 4096

    /// Light by number, for each colour: 1 is white.
    private let light: [[Float]]
    /// Numbers by the square root of light, for each colour.
    private let numbers: [[Float]]
    /// Rows; nil if light stays as it is.
    private let matrix: [SIMD3<Float>]?
    private let toneMapping: ToneMappingTables?
    private let depth: BitDepth

    /// - Returns: nil if a space cannot be left, or gray would become colored.
    package init?(from source: ColorSpaceLight, to target: ColorSpaceLight, depth: BitDepth) {
        guard source.curves.count == target.curves.count, depth != .float else { return nil }
        let count = depth == .eight ? 256 : 65_536
        var lights: [ProfileCurve: [Float]] = [:]
        for curve in Set(source.curves) { lights[curve] = source.light(of: curve, numbers: count) }
        var encoded: [ProfileCurve: [Float]] = [:]
        for curve in Set(target.curves) { encoded[curve] = curve.numbers(steps: Self.steps) }
        light = source.curves.compactMap { lights[$0] }
        numbers = target.curves.compactMap { encoded[$0] }
        if let from = source.toXYZ {
            guard let back = target.toXYZ?.inverse else { return nil }
            matrix = (back * from).rows.map { SIMD3<Float>($0) }
        } else {
            matrix = nil
        }
        toneMapping = source.toneMapping.map(ToneMappingTables.init)
        self.depth = depth
    }

    /// The picture with other numbers. Alpha stays.
    package func applied(to picture: Picture) throws -> Picture {
        let bands = picture.image.bands
        return picture.with(
            try depth == .eight
                ? picture.image.mappingPixels { self.map($0, $1, UInt8.self, count: $2, bands: bands) }
                : picture.image.mappingPixels { self.map($0, $1, UInt16.self, count: $2, bands: bands) })
    }

    private func map<Number: FixedWidthInteger & UnsignedInteger>(
        _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ type: Number.Type, count: Int, bands: Int
    ) {
        let source = from.assumingMemoryBound(to: Number.self)
        let target = to.assumingMemoryBound(to: Number.self)
        let white = Float(Number.max)
        let colours = light.count
        let (red, green, blue) = (light[0], light[colours == 1 ? 0 : 1], light[colours == 1 ? 0 : 2])
        for pixel in 0..<count {
            let place = pixel * bands
            let second = colours == 1 ? place : place + 1, third = colours == 1 ? place : place + 2
            var color = SIMD3(red[Int(source[place])], green[Int(source[second])], blue[Int(source[third])])
            if let toneMapping { color = toneMapping.mapped(color) }
            if let matrix {
                color = SIMD3((color * matrix[0]).sum(), (color * matrix[1]).sum(), (color * matrix[2]).sum())
            }
            // A color that the space has no numbers for is moved to the nearest that it has.
            let roots = color.clamped(lowerBound: SIMD3(), upperBound: SIMD3(repeating: 1)).squareRoot()
            for band in 0..<colours {
                target[place + band] = Number(
                    (between(numbers[band], roots[band] * Float(Self.steps)) * white).rounded())
            }
            for band in colours..<bands { target[place + band] = source[place + band] }
        }
    }
}

/// The value of a table at a place between two of its entries; beyond its end, the last one.
func between(_ table: [Float], _ place: Float) -> Float {
    let clamped = min(max(place, 0), Float(table.count - 1))
    let index = min(Int(clamped), table.count - 2)
    return table[index] + (table[index + 1] - table[index]) * (clamped - Float(index))
}
