import Kernels
package import Pipeline

/// Changes the picture's own size. Never pads, never cuts.
package struct Resize: Stage {
    package static let name = "resize"
    package static let summary = "Changes the picture's own size; never pads and never cuts."
    package static let example = """
        - resize: { size: "1600x1600>" }
        """

    let width: PositiveLength?
    let height: PositiveLength?
    let mode: ScalingMode
    let limit: ScalingLimit
    let kernel: ScalingKernel
    let linear: Bool

    package init(_ p: inout Parameters) {
        let size: GeometryString? = p.optional(
            "size", "800x600 (fits the box), 800x, x600, 800, 50%; > only shrinks, < only enlarges, ! exact, ^ covers.")
        let givenWidth: PositiveLength? = p.optional("width", "Width of the box, instead of `size`.")
        let givenHeight: PositiveLength? = p.optional("height", "Height of the box, instead of `size`.")
        let givenMode = p.optional(
            "mode", ScalingMode.aspectFit, "How the picture meets the box of `width` and `height`.")
        let enlarge = p.optional(
            "enlarge", true,
            "Whether a picture smaller than the box becomes larger. If not, it keeps its size; with `scale-to-fill` each side that is smaller does."
        )
        kernel = p.optional("kernel", .lanczos3, "How new pixels are computed; lanczos3 is the sharpest.")
        linear = p.optional(
            "linear", false, "Computes with light instead of sRGB's numbers: more exact for fine contrasts, and slower."
        )

        width = size?.width ?? givenWidth
        height = size?.height ?? givenHeight
        mode = size?.mode ?? givenMode
        if let size, size.limit != ScalingLimit.none {
            limit = size.limit
        } else {
            limit = enlarge ? ScalingLimit.none : .onlyShrink
        }
        check(size, &p)
    }

    /// Fits a box without enlarging.
    init(fitting width: PositiveLength, _ height: PositiveLength) {
        (self.width, self.height) = (width, height)
        (mode, limit, kernel, linear) = (.aspectFit, .onlyShrink, .lanczos3, false)
    }

    private func check(_ size: GeometryString?, _ p: inout Parameters) {
        if p.has("size") {
            for key in ["width", "height", "mode"] where p.has(key) {
                p.problem(at: key, "'\(key)' and 'size' exclude each other; write one of them")
            }
        } else {
            p.problem(
                withoutAnyOf: ["size", "width", "height"], "stage 'resize' needs 'size', or 'width' or 'height'")
        }
        if let size, size.limit != .none, p.has("enlarge") {
            p.problem(
                at: "enlarge", "'enlarge' says again, or against, what '>' or '<' in 'size' says; remove one of them")
        }
        if mode != .aspectFit, !p.has("size"), (width == nil) != (height == nil) {
            p.problem(at: "mode", "'mode: \(mode.rawValue)' needs both 'width' and 'height'")
        }
    }

    package struct Plan: StagePlan {
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
        package let footprint: Footprint
        package let sizeDependence: SizeDependence
        package let isEnlarging: Bool
        package let changesNothing: Bool
        package let intermediates: [PictureInfo]
        package let isResultHeld: Bool
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        if linear { try input.require([.grey, .rgb, .lab], "'linear' works on RGB, gray and Lab", for: Self.name) }
        let old = input.size
        let target = limited(try target(for: input, scale: context.scale), from: old)
        var output = input.resized(to: target)
        output.certainty = certainty(after: input)
        if sizesInPoints { output.pixelsPerPoint = try pixelsPerPoint(of: input, scale: context.scale) }
        let needsSourcePixels = linear || kernel == .nearest
        var scaled = output
        // Light is in floating point.
        if linear { scaled.depth = .float }
        return Plan(
            output: output, footprint: Footprint(AffineMap(to: old, drawnAt: target)),
            sizeDependence: needsSourcePixels ? .sourcePixels : .scales(to: target, by: kernel),
            isEnlarging: target.width > old.width || target.height > old.height, changesNothing: target == old,
            intermediates: [scaled], isResultHeld: target != old && !linear)
    }

    /// A picture of which only a bound is known may have any shape, so that the side which follows the other can be
    /// longer than the bound's.
    private func certainty(after input: PictureInfo) -> PictureInfo.Certainty {
        guard input.certainty != .exact else { return .exact }
        if let width, let height, width.isPoints, height.isPoints, mode == .scaleToFill, limit == .none {
            return .exact
        }
        let isPercentage = (width.map { !$0.isPoints } ?? true) && (height.map { !$0.isPoints } ?? true)
        return isPercentage ? input.certainty : .about
    }

    package var sizesInPoints: Bool { width?.isPoints == true || height?.isPoints == true }

    /// Pixels per point after a size in points: the scale. If the picture keeps its size although it should become larger
    /// or smaller, as many as there are for the points that it has at scale 1.
    private func pixelsPerPoint(of input: PictureInfo, scale: Double) throws(PlanFailure) -> Double {
        let (wanted, single) = (try target(for: input, scale: scale), try target(for: input, scale: 1))
        // Sides that are scaled by themselves: the width counts, as below.
        let kept = limited(single, from: input.size)
        let isKept = mode == .scaleToFill ? kept.width != single.width : kept != single
        guard isKept || limited(wanted, from: input.size) != wanted else { return scale }
        let points = isKept ? Double(input.size.width) / input.pixelsPerPoint : Double(single.width)
        return Double(limited(wanted, from: input.size).width) / points
    }

    private func target(for input: PictureInfo, scale: Double) throws(PlanFailure) -> PixelSize {
        let (old, natural) = (input.size, input.natural(forWidth: width, height: height, scale: scale))
        let boxWidth = try width?.pixels(
            of: natural.size.width, scale: natural.pixelsPerPoint, "width", in: Self.name)
        let boxHeight = try height?.pixels(
            of: natural.size.height, scale: natural.pixelsPerPoint, "height", in: Self.name)
        return switch (boxWidth, boxHeight) {
        case (let width?, let height?): mode.size(of: old, in: PixelSize(width, height))
        case (let width?, nil): old.scaled(toWidth: width)
        case (nil, let height?): old.scaled(toHeight: height)
        case (nil, nil): old
        }
    }

    private func limited(_ target: PixelSize, from old: PixelSize) -> PixelSize {
        let shrinks = target.width < old.width || target.height < old.height
        return switch limit {
        case .none: target
        case .onlyShrink: target.limited(to: old, eachSide: mode == .scaleToFill)
        case .onlyEnlarge: shrinks ? old : target
        }
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        try picture.scaled(to: plan.output.size, kernel: kernel, inLinearLight: linear)
    }
}
