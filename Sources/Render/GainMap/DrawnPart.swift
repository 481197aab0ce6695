// The parts of a picture that a stage has drawn over, under which there is no light of the source any more.
import Pipeline
import Stages
import Vips

/// The share of each pixel that a stage has drawn, in cells of which each has the most of its pixels.
struct DrawnPart: Sendable {
    private let cells: GainMapPixels
    /// The size of the picture after the stage.
    private let size: PixelSize
    /// From a point of the rendition to one of the picture after the stage.
    private var map = AffineMap.identity

    /// The most cells along a side.
    private static let longestSide = 1024

    /// A stage that draws leaves as much of a picture as there is between what it makes of black and of white. Its ink
    /// does not tell: it may have the color of what is below it.
    /// - Parameters:
    ///   - before: the picture that the stage gets.
    ///   - step: planned with full size, of which the picture may be a part.
    init(of step: PlannedStage, on before: Picture, in context: RenderContext) throws {
        let dark = try step.render(Frames([before.filled(0)]), in: context).pictures[0]
        let light = try step.render(Frames([before.filled(before.white)]), in: context).pictures[0]
        let colours = dark.pixels.colour.bands
        guard light.pixels == dark.pixels, light.size == dark.size else { throw MismatchedPlan(stage: step.name) }
        let mean = [[Double](repeating: 1 / Double(colours), count: colours)]
        let left = try light.image.extractBands(from: 0, count: colours)
            .subtract(dark.image.extractBands(from: 0, count: colours)).abs().recomb(mean)
        let white = dark.white
        var drawn = try left.linear([-255 / white], [255])
        if dark.hasAlpha {
            drawn = try drawn.add(
                dark.image.extractBands(from: colours, count: 1).linear([-255 / white], [255]))
        }
        size = step.output.size
        cells = try Self.cells(of: drawn.rint().cast(.uchar).pixels(), dark.size)
    }

    private static func cells(of shares: [UInt8], _ size: PixelSize) -> GainMapPixels {
        let side = (max(size.width, size.height) + longestSide - 1) / longestSide
        let small = PixelSize((size.width + side - 1) / side, (size.height + side - 1) / side)
        var cells = [UInt8](repeating: 0, count: small.area)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let cell = y / side * small.width + x / side
                cells[cell] = max(cells[cell], shares[y * size.width + x])
            }
        }
        return GainMapPixels(size: small, bands: 1, bytes: cells)
    }

    /// The same seen from a rendition.
    /// - Parameter map: from a point of the rendition to one of the picture after the stage.
    func seen(by map: AffineMap) -> DrawnPart {
        var part = self
        part.map = map
        return part
    }

    /// How much of a point of the rendition is drawn, from 0 to 1.
    func share(at point: PlanePoint) -> Double {
        let there = map(point)
        guard there.isInside(size, margin: 0) else { return 0 }
        func cell(_ place: Double, _ side: Int, _ count: Int) -> Int {
            min(Int(place / Double(side) * Double(count)), count - 1)
        }
        let (x, y) = (cell(there.x, size.width, cells.size.width), cell(there.y, size.height, cells.size.height))
        return Double(cells.bytes[y * cells.size.width + x]) / 255
    }
}

extension Picture {
    /// A picture of one number with this one's alpha. Nothing else is read of this one.
    fileprivate func filled(_ number: Double) throws -> Picture {
        let bands = pixels.colour.bands
        let plain = try Image.black(width: width, height: height, bands: bands).linear([1], [number])
            .cast(image.format)
        let whole = hasAlpha ? try plain.bandjoin(image.extractBands(from: bands, count: 1)) : plain
        return with(try whole.copy(interpretation: pixels.interpretation))
    }
}

/// Takes the drawn parts of a run of stages. For one thread.
final class DrawnParts {
    private(set) var parts: [(step: Int, part: DrawnPart)] = []

    func add(_ part: DrawnPart, at step: Int) { parts.append((step, part)) }
}
