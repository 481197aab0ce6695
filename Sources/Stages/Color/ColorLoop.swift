// Pixels from one space of color to another: by tables into light, light by a matrix, and by tables into numbers again.
// LittleCMS goes by a grid of 33 colors a side where numbers have 16 bits, and is off by up to 29 of 255 in the dark.
import Glibc
package import Pipeline
import Vips

/// The tables and the matrix for one pair of spaces and one kind of numbers. Making them costs some milliseconds.
package final class ColorLoop: Sendable {
    private static let steps = 4096

    private let colours: Int
    /// Light by number, one colour after the other: 1 is white.
    private let light: [Float]
    /// Numbers by the square root of light, one colour after the other.
    private let numbers: [Float]
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
        colours = source.curves.count
        light = source.curves.flatMap { lights[$0] ?? [] }
        numbers = target.curves.flatMap { encoded[$0] ?? [] }
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
        // Pointers outside of the loop: an array in an array is retained for every pixel.
        light.withUnsafeBufferPointer { light in
            numbers.withUnsafeBufferPointer { numbers in
                map(
                    from.assumingMemoryBound(to: Number.self), to.assumingMemoryBound(to: Number.self), count, bands,
                    Tables(light: light, numbers: numbers))
            }
        }
    }

    /// The tables that a loop reads.
    private struct Tables {
        let light: UnsafeBufferPointer<Float>
        let numbers: UnsafeBufferPointer<Float>
    }

    private func map<Number: FixedWidthInteger & UnsignedInteger>(
        _ source: UnsafePointer<Number>, _ target: UnsafeMutablePointer<Number>, _ count: Int, _ bands: Int,
        _ tables: Tables
    ) {
        let (light, numbers) = (tables.light, tables.numbers)
        let (white, steps) = (Float(Number.max), Float(Self.steps))
        let (entries, last) = (light.count / colours, Self.steps + 1)
        let (second, third) = colours == 1 ? (0, 0) : (1, 2)
        let rows = matrix ?? []
        let (red, green, blue) = rows.isEmpty ? (SIMD3(), SIMD3(), SIMD3()) : (rows[0], rows[1], rows[2])
        for pixel in 0..<count {
            let place = pixel * bands
            var color = SIMD3(
                light[Int(truncatingIfNeeded: source[place])],
                light[second * entries + Int(truncatingIfNeeded: source[place + second])],
                light[third * entries + Int(truncatingIfNeeded: source[place + third])])
            if let toneMapping { color = toneMapping.mapped(color) }
            if !rows.isEmpty { color = SIMD3((color * red).sum(), (color * green).sum(), (color * blue).sum()) }
            // A color that the space has no numbers for is moved to the nearest that it has.
            let places = color.clamped(lowerBound: SIMD3(), upperBound: SIMD3(repeating: 1)).squareRoot() * steps
            for band in 0..<colours {
                let index = min(Int(places[band]), Self.steps - 1)
                let (low, high) = (numbers[band * last + index], numbers[band * last + index + 1])
                let number = low + (high - low) * (places[band] - Float(index))
                // Rounded; by way of Int32, since a generic conversion takes most of the time.
                target[place + band] = Number(truncatingIfNeeded: Int32(number * white + 0.5))
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
