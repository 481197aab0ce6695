// The parts of a picture that a stage has drawn over, under which there is no light of the source any more.
import Pipeline
import Stages
import Vips

/// The share of each pixel that a stage has drawn, on a grid as coarse as gain maps are.
struct DrawnPart: Sendable {
    private let sampler: PlaneSampler
    /// From a point of the rendition to one of the picture after the stage.
    private let map: AffineMap

    /// The change of all colours together, as a part of white, from which a pixel counts as drawn.
    private static let muchChange = 0.2

    private init(_ sampler: PlaneSampler, _ map: AffineMap) { (self.sampler, self.map) = (sampler, map) }

    /// - Parameters:
    ///   - before: the picture that the stage got.
    ///   - after: what it made of it.
    ///   - step: planned with full size, of which the pictures may be a part.
    init(from before: Picture, to after: Picture, by step: PlannedStage) throws {
        let ratio = Double(after.width) / Double(step.output.size.width)
        let map = step.plan.footprint.map ?? .identity
        let (left, top) = (Int((-map.dx * ratio).rounded()), Int((-map.dy * ratio).rounded()))
        let same = try before.promoted(to: after.pixels.colour)
        var old = same.image
        if (left, top) != (0, 0) || before.size != after.size {
            // Where the old picture is not, something was drawn, or nothing is.
            old = try old.embed(
                x: left, y: top, width: after.width, height: after.height,
                background: [Double](repeating: 0, count: old.bands))
        }
        let colours = after.image.bands - (after.hasAlpha ? 1 : 0)
        guard old.bands - (same.hasAlpha ? 1 : 0) == colours, same.pixels.depth == after.pixels.depth else {
            throw MismatchedPlan(stage: step.name)
        }
        let white = after.pixels.depth == .sixteen ? 65_535.0 : 255
        // How much is drawn of a pixel is not known. One that has changed much is drawn on as a whole, one that has
        // changed little, in part, so that soft drawings have no hard edges; a number that is off by one was rounded.
        let change = try old.extractBands(from: 0, count: colours)
            .subtract(after.image.extractBands(from: 0, count: colours)).abs()
            .recomb([[Double](repeating: 1, count: colours)])
        var drawn = try change.linear([255 / (Self.muchChange * white)], [-255 / 48]).cast(.uchar)
        if after.hasAlpha {
            let alpha = try after.image.extractBands(from: colours, count: 1)
            drawn = try drawn.add(alpha.linear([-255 / white], [255])).cast(.uchar)
        }
        let side = 512.0
        let scale = min(1, side / Double(max(after.width, after.height)))
        let (width, height) = (max(1, Int(Double(after.width) * scale)), max(1, Int(Double(after.height) * scale)))
        let small = try drawn.resize(width: width, height: height)
        sampler = PlaneSampler(
            GainMapPixels(size: PixelSize(width, height), bands: 1, bytes: try small.pixels()), of: step.output.size,
            outside: [0])
        self.map = .identity
    }

    /// The same seen from a rendition.
    /// - Parameter map: from a point of the rendition to one of the picture after the stage.
    func seen(by map: AffineMap) -> DrawnPart { DrawnPart(sampler, map) }

    /// How much of a point of the rendition is drawn, from 0 to 1.
    func share(at point: PlanePoint) -> Double {
        var sums = [0.0]
        sampler.add(at: map(point), weight: 1, to: &sums)
        return min(max(sums[0] / 255, 0), 1)
    }
}

/// Takes the drawn parts of a run of stages. For one thread.
final class DrawnParts {
    private(set) var parts: [(step: Int, part: DrawnPart)] = []

    func add(_ part: DrawnPart, at step: Int) { parts.append((step, part)) }
}
