import Kernels
package import Pipeline
import Vips

/// Blurs the picture.
package struct Blur: Stage {
    package static let name = "blur"
    package static let summary = "Blurs the picture."
    package static let example = """
        - blur: { sigma: 4 }
        """

    let sigma: PositiveLength

    package init(_ p: inout Parameters) {
        sigma = p.required(
            "sigma", "How far colors run, as the standard deviation of a Gaussian; a percentage is of the shorter side."
        )
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        /// Pixels.
        let sigma: Double
        package let intermediates: [PictureInfo]
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        let side = min(input.size.width, input.size.height)
        let sigma = min(
            try sigma.exactPixels(of: side, scale: input.pixelsPerPoint, "sigma", in: Self.name), Self.mostSigma)
        var worked = input
        // Premultiplied.
        if input.hasAlpha { worked.depth = .float }
        return Plan(output: input, sigma: sigma, intermediates: Self.held(worked, sigma: sigma))
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        // Below a fifth of a pixel a Gaussian is one pixel wide.
        guard plan.sigma >= 0.2 else { return picture }
        return try picture.premultiplied { try $0.blurred(sigma: plan.sigma) }
    }

    /// libvips' own upper limit.
    static let mostSigma = 1000.0

    /// The pictures that a blur holds in memory.
    static func held(_ picture: PictureInfo, sigma: Double) -> [PictureInfo] {
        let small = picture.resized(to: worked(picture.size, sigma: sigma))
        return small.size == picture.size ? [] : [small, small]
    }

    /// Beyond this many pixels a Gaussian has nothing to say about single ones, so that a smaller picture does.
    private static let finest = 8.0

    /// The size at which a picture is blurred.
    fileprivate static func worked(_ size: PixelSize, sigma: Double) -> PixelSize {
        // Both sides shrink by one factor, which leaves a pixel of the shorter one: the blur is as wide as it is high.
        let factor = max(1, min(sigma / finest, Double(min(size.width, size.height))))
        return PixelSize(rounded(Double(size.width) / factor), rounded(Double(size.height) / factor))
    }
}

extension Image {
    func blurred(sigma: Double) throws -> Image {
        let blurred = try shrunkAndBlurred(sigma: sigma)
        return (blurred.width, blurred.height) == (width, height)
            ? blurred : try blurred.resize(width: width, height: height, kernel: .cubic)
    }

    /// A wide blur costs as much as its width for every pixel: minutes for a photo. On a picture shrunk by the same
    /// factor it costs next to nothing, and enlarging it adds no visible error to what is smooth anyway.
    /// - Parameter leastAmplitude: where the curve ends.
    /// - Returns: the picture at the size at which it was blurred.
    func shrunkAndBlurred(sigma: Double, leastAmplitude: Double = 0.02) throws -> Image {
        let size = PixelSize(width, height)
        let small = Blur.worked(size, sigma: sigma)
        guard small != size else { return try gaussblur(sigma: sigma, leastAmplitude: leastAmplitude) }
        let actual = Double(max(small.width, small.height)) / Double(max(width, height))
        let scaled = try scaled(to: small)
        // Held, since enlarging reads its rows more than once.
        return try scaled.gaussblur(sigma: max(0.2, sigma * actual), leastAmplitude: leastAmplitude).inMemory()
    }
}
