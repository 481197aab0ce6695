package import Pipeline
package import Vips

/// Blurs the picture.
package struct Blur: Stage {
    package static let name = "blur"
    package static let summary = "Blurs the picture."
    package static let example = """
        - blur: { sigma: 4 }
        """

    let sigma: Extent

    package init(_ p: inout Parameters) {
        sigma = p.required("sigma", "How far colors run, as the standard deviation of a Gaussian; a percentage is of the shorter side.")
    }

    package struct Plan: StagePlan {
        package let output: Geometry
        /// Pixels.
        let sigma: Double
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        let pixels = sigma.length.exactPixels(of: min(input.size.width, input.size.height), scale: context.scale)
        // libvips' own upper limit.
        return Plan(output: input, sigma: min(pixels, 1000))
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        // Below a fifth of a pixel a Gaussian is one pixel wide.
        guard plan.sigma >= 0.2 else { return image }
        guard image.hasAlpha else { return try Self.blurred(image, sigma: plan.sigma) }
        return try image.premultiplied { try Self.blurred($0, sigma: plan.sigma) }
    }

    /// Beyond this many pixels a Gaussian has nothing to say about single ones, so that a smaller picture does.
    private static let finest = 8.0

    /// A wide blur costs as much as its width for every pixel: minutes for a photo. On a picture shrunk by the same factor it costs next to
    /// nothing, and enlarging it adds no visible error to what is smooth anyway.
    private static func blurred(_ image: Image, sigma: Double) throws -> Image {
        // Both sides shrink by one factor, which leaves a pixel of the shorter one: the blur is as wide as it is high.
        let factor = min(sigma / finest, Double(min(image.width, image.height)))
        guard factor > 1 else { return try image.gaussblur(sigma: sigma) }
        let small = PixelSize(rounded(Double(image.width) / factor), rounded(Double(image.height) / factor))
        let actual = Double(max(small.width, small.height)) / Double(max(image.width, image.height))
        // Held, since enlarging reads its rows more than once.
        let blurred = try image.resize(width: small.width, height: small.height).gaussblur(sigma: max(0.2, sigma * actual)).inMemory()
        return try blurred.resize(width: image.width, height: image.height, kernel: "cubic")
    }
}
