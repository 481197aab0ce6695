// How alike two files are, as pixels.
import Foundation
import TestSupport
import Vips

/// The difference of two pictures, in steps of 255. Colours count as much as one sees of them: what is transparent has
/// none.
struct Likeness: Sendable, CustomStringConvertible {
    let largest: Double
    /// The root of the mean square.
    let deviation: Double

    var decibels: Double { deviation == 0 ? .infinity : Self.decibels(deviation) }

    var description: String {
        func short(_ number: Double) -> Double { (number * 100).rounded() / 100 }
        return "\(short(decibels)) dB, at most \(short(largest)) of 255"
    }

    private static func decibels(_ deviation: Double) -> Double { 20 * log10(255 / deviation) }

    /// The deviation that so many decibels allow.
    static func deviation(decibels: Double) -> Double { 255 / pow(10, decibels / 20) }

    /// - Returns: nil if the pictures have other sizes or bands.
    init?(_ one: Image, _ other: Image) throws {
        var (first, second) = (one, other)
        if first.bands != second.bands {
            // A format that has no gray, or no alpha, has the same picture in other bands.
            (first, second) = (try Self.plain(first), try Self.plain(second))
        }
        guard first.width == second.width, first.height == second.height, first.bands == second.bands else {
            return nil
        }
        let difference = try Operation(
            "subtract", ["left": .image(Self.seen(first)), "right": .image(Self.seen(second))]
        ).image()
        // The first row is about all bands: smallest, largest, sum, sum of squares, …
        let statistics = try Operation("stats", ["in": .image(difference)]).image()
        let values = try (0..<4).map { try statistics.getpoint(x: $0, y: 0)[0] }
        largest = max(abs(values[0]), abs(values[1]))
        deviation = (values[3] / Double(first.width * first.height * first.bands)).squareRoot()
    }

    /// Three bands of 8 bits, on white.
    private static func plain(_ image: Image) throws -> Image {
        let rgb = try image.colourspace(.srgb)
        return rgb.hasAlpha ? try rgb.flatten(background: [255], maximumAlpha: 255) : rgb
    }

    /// From 0 to 255, with the alpha multiplied in.
    private static func seen(_ image: Image) throws -> Image {
        let whole = image.format == .ushort && image.interpretation != .labs ? 257.0 : 1
        let numbers = try image.cast(.double).linear([1 / whole], [0])
        return image.hasAlpha ? try numbers.premultiply(maximumAlpha: 255) : numbers
    }
}
