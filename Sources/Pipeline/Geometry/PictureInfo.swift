// The facts about a picture at one point of the flow, before it has any pixel.

/// The facts about a picture between two stages.
package struct PictureInfo: Hashable, Sendable {
    /// How well a size is known that depends on what is in the picture.
    package enum Certainty: Hashable, Sendable {
        case exact
        /// It is no larger.
        case atMost
        /// It was worked out from a bound, and a picture of another shape may be larger in one direction.
        case about

        var sign: String {
            switch self {
            case .exact: ""
            case .atMost: "≤ "
            case .about: "≈ "
            }
        }
    }

    /// Pixels of one frame.
    package var size: PixelSize
    package var certainty: Certainty = .exact
    package var frames: Int
    package var pixels: PixelFormat
    /// Pixels in one point: the `@Nx` of its name until a stage gives it a size in points, then the scale at which it
    /// was drawn. It need not be whole: a stage that must not enlarge may leave fewer pixels than the scale asks for.
    package var pixelsPerPoint: Double
    /// The picture has a profile and stays in it; colours that are drawn are converted into it.
    package var hasProfile: Bool

    package init(
        size: PixelSize, frames: Int = 1, hasAlpha: Bool = false, colour: ColourModel = .rgb, depth: BitDepth = .eight,
        pixelsPerPoint: Double = 1,
        hasProfile: Bool = false
    ) {
        self.size = size
        self.frames = frames
        pixels = PixelFormat(colour, depth, hasAlpha: hasAlpha)
        self.pixelsPerPoint = pixelsPerPoint
        self.hasProfile = hasProfile
    }

    package var hasAlpha: Bool {
        get { pixels.hasAlpha }
        set { pixels.hasAlpha = newValue }
    }
    package var colour: ColourModel {
        get { pixels.colour }
        set { pixels.colour = newValue }
    }
    package var depth: BitDepth {
        get { pixels.depth }
        set { pixels.depth = newValue }
    }
    package var bands: Int { pixels.bands }

    /// Bytes of all frames, uncompressed.
    package var bytes: Int {
        let (bytes, overflow) = size.area.multipliedReportingOverflow(by: pixels.bytes * frames)
        return overflow ? .max : bytes
    }

    /// The size at which a mode that does not scale draws the picture, in pixels.
    package func naturalSize(scale: Double) -> PixelSize {
        PixelSize(
            rounded(Double(size.width) * scale / pixelsPerPoint),
            rounded(Double(size.height) * scale / pixelsPerPoint))
    }

    /// The picture as a stage sees it that names the size of its result. If a side is in points, the picture is as many
    /// points large as it is, at the rendition's scale; percentages keep its pixels.
    package func natural(forWidth width: PositiveLength?, height: PositiveLength?, scale: Double) -> PictureInfo {
        guard width?.isPoints == true || height?.isPoints == true else { return self }
        var result = resized(to: naturalSize(scale: scale))
        result.pixelsPerPoint = scale
        return result
    }

    package func resized(to size: PixelSize) -> PictureInfo {
        var result = self
        result.size = size
        return result
    }

    /// The picture at a size that was named. Named in points it is that size, however large the picture was.
    package func drawn(at size: PixelSize, width: PositiveLength?, height: PositiveLength?) -> PictureInfo {
        var result = resized(to: size)
        if width?.isPoints == true && height?.isPoints == true { result.certainty = .exact }
        return result
    }

    package var description: String { certainty.sign + size.description }
}

/// Why a source cannot be planned.
package struct PlanFailure: Error, Equatable {
    package let failure: Failure

    package init(_ code: FailureCode, stage: String, _ message: String) {
        failure = Failure(code, stage: stage, message)
    }
}
