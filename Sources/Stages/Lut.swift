package import Pipeline
import Vips

/// Changes colors by a table from a .cube file.
package struct Lut: Stage {
    package static let name = "lut"
    package static let summary =
        "Changes colors by a table from a .cube file, as editors of films and photos export a look."
    package static let example = """
        - lut: { file: assets/film.cube, strength: 0.8 }
        """

    let file: ColorTablePath
    let strength: Double

    package init(_ p: inout Parameters) {
        file = p.required(
            "file",
            "The table, of one or three dimensions; its path is relative to the pipeline file. It is asked with the picture's numbers, not with light."
        )
        strength = p.optional("strength", 1.0, in: 0...1, "How far colors go from the picture's to the table's.")
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        package var sizeDependence: SizeDependence { .anySize }
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        var output = input
        // The table's color for a gray is not known, so that gray becomes RGB.
        try output.hold(.rgb, drawnBy: Self.name)
        guard output.colour == .rgb else {
            throw PlanFailure(
                .unsupportedColour, stage: Self.name,
                "'lut' draws, which cannot be done in \(output.colour.rawValue) colors; remove 'profile: keep'")
        }
        return Plan(output: output)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        let drawn = try picture.promoted(to: plan.output.colour)
        let look = ColorLook(try context.assets.table(file), strength: strength, white: Int(drawn.white))
        let bands = drawn.image.bands
        return switch drawn.pixels.depth {
        case .eight:
            drawn.with(
                try drawn.image.mappingPixels { look.map($0, $1, UInt8.self, count: $2, bands: bands) })
        case .sixteen, .float:
            drawn.with(
                try drawn.image.mappingPixels { look.map($0, $1, UInt16.self, count: $2, bands: bands) })
        }
    }
}

/// A table of colors made ready for the numbers of a picture.
private struct ColorLook: Sendable {
    /// Where a number of a picture is in the table.
    private struct Place {
        /// Where the entry before it is in `values`, and how far behind it the next one is.
        let entry, step: Int32
        /// How near it is to the next one, 0…1.
        let fraction: Float
    }

    private let table: ColorTable
    /// Places of red, then of green and of blue, for each number of the picture.
    private let places: [Place]
    private let white: Int
    private let strength: Float

    init(_ table: ColorTable, strength: Double, white: Int) {
        (self.table, self.white, self.strength) = (table, white, Float(strength))
        let last = table.size - 1
        // How far entries are that differ in red, in green or in blue alone.
        let steps = table.isCube ? [3, 3 * table.size, 3 * table.size * table.size] : [3, 3, 3]
        places = (0..<3).flatMap { band in
            (0...white).map { number in
                let (low, high) = (table.low[band], table.high[band])
                let exact = (Double(number) / Double(white) - low) / (high - low) * Double(last)
                let clamped = min(max(exact, 0), Double(last))
                let entry = min(Int(clamped), last - 1)
                return Place(
                    entry: Int32(entry * steps[band]), step: Int32(steps[band]),
                    fraction: Float(clamped - Double(entry)))
            }
        }
    }

    /// Changes a row of pixels. Alpha, the fourth band, stays.
    func map<Number: FixedWidthInteger & UnsignedInteger>(
        _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ type: Number.Type, count: Int, bands: Int
    ) {
        let source = from.assumingMemoryBound(to: Number.self)
        let target = to.assumingMemoryBound(to: Number.self)
        let top = Float(white)
        table.values.withUnsafeBufferPointer { values in
            places.withUnsafeBufferPointer { places in
                for pixel in 0..<count {
                    let first = pixel * bands
                    let red = places[Int(source[first])]
                    let green = places[white + 1 + Int(source[first + 1])]
                    let blue = places[2 * (white + 1) + Int(source[first + 2])]
                    let color =
                        table.isCube
                        ? Self.inCube(values, red, green, blue) : Self.onCurves(values, red, green, blue)
                    for band in 0..<3 {
                        let own = Float(source[first + band])
                        let mixed = own + (color[band] * top - own) * strength
                        target[first + band] = Number(min(max(mixed, 0), top).rounded())
                    }
                    if bands == 4 { target[first + 3] = source[first + 3] }
                }
            }
        }
    }

    private static func onCurves(
        _ values: UnsafeBufferPointer<Float>, _ red: Place, _ green: Place, _ blue: Place
    ) -> SIMD3<Float> {
        func value(_ place: Place, _ band: Int) -> Float {
            let (low, high) = (values[Int(place.entry) + band], values[Int(place.entry + place.step) + band])
            return low + (high - low) * place.fraction
        }
        return SIMD3(value(red, 0), value(green, 1), value(blue, 2))
    }

    /// Between four corners of a tetrahedron, of which six make a cell of the cube: along the axis in which the color is
    /// farthest from the first corner, then along the next one, then the last. Grays stay between grays.
    private static func inCube(
        _ values: UnsafeBufferPointer<Float>, _ red: Place, _ green: Place, _ blue: Place
    ) -> SIMD3<Float> {
        var (first, second, third) = (red, green, blue)
        if first.fraction < second.fraction { swap(&first, &second) }
        if second.fraction < third.fraction { swap(&second, &third) }
        if first.fraction < second.fraction { swap(&first, &second) }
        func corner(_ place: Int32) -> SIMD3<Float> {
            let place = Int(place)
            return SIMD3(values[place], values[place + 1], values[place + 2])
        }
        let origin = red.entry + green.entry + blue.entry
        let afterFirst = origin + first.step
        let afterSecond = afterFirst + second.step
        let afterThird = afterSecond + third.step
        // In steps of one expression each, which the compiler checks quickly.
        var color = corner(origin) * (1 - first.fraction)
        color += corner(afterFirst) * (first.fraction - second.fraction)
        color += corner(afterSecond) * (second.fraction - third.fraction)
        color += corner(afterThird) * third.fraction
        return color
    }
}
