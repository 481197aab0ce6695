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
        sigma = p.required("sigma", "How far colours run, as the standard deviation of a Gaussian; a percentage is of the shorter side.")
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
        guard image.hasAlpha else { return try image.gaussblur(sigma: plan.sigma) }
        return try image.premultiplied { try $0.gaussblur(sigma: plan.sigma) }
    }
}
