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
        let pixels = sigma.length.exactPixels(of: min(input.size.width, input.size.height), scale: input.pixelsPerPoint)
        // libvips' own upper limit.
        let sigma = min(pixels, 1000)
        var small = input.resized(to: Self.worked(input.size, sigma: sigma))
        // Premultiplied.
        if input.hasAlpha { small.depth = .float }
        return Plan(output: input, sigma: sigma, intermediates: small.size == input.size ? [] : [small, small])
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        // Below a fifth of a pixel a Gaussian is one pixel wide.
        guard plan.sigma >= 0.2 else { return picture }
        return try picture.premultiplied { try Self.blurred($0, sigma: plan.sigma) }
    }

    /// Beyond this many pixels a Gaussian has nothing to say about single ones, so that a smaller picture does.
    private static let finest = 8.0

    /// The size at which a picture is blurred.
    private static func worked(_ size: PixelSize, sigma: Double) -> PixelSize {
        // Both sides shrink by one factor, which leaves a pixel of the shorter one: the blur is as wide as it is high.
        let factor = max(1, min(sigma / finest, Double(min(size.width, size.height))))
        return PixelSize(rounded(Double(size.width) / factor), rounded(Double(size.height) / factor))
    }

    /// A wide blur costs as much as its width for every pixel: minutes for a photo. On a picture shrunk by the same
    /// factor it costs next to nothing, and enlarging it adds no visible error to what is smooth anyway.
    static func blurred(_ image: Image, sigma: Double) throws -> Image {
        let size = PixelSize(image.width, image.height)
        let small = worked(size, sigma: sigma)
        guard small != size else { return try image.gaussblur(sigma: sigma) }
        let actual = Double(max(small.width, small.height)) / Double(max(image.width, image.height))
        // Held, since enlarging reads its rows more than once.
        let blurred = try image.scaled(to: small).gaussblur(sigma: max(0.2, sigma * actual)).inMemory()
        return try blurred.resize(width: image.width, height: image.height, kernel: .cubic)
    }
}
