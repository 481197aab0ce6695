package import Pipeline
package import Vips

/// Sharpens edges, in lightness only, so that colours stay.
package struct Sharpen: Stage {
    package static let name = "sharpen"
    package static let summary = "Sharpens edges, in lightness only; best after a resize."
    package static let example = """
        - sharpen: { amount: 2 }
        """

    let sigma: Double
    let amount: Double

    package init(_ p: inout Parameters) {
        sigma = p.optional("sigma", 0.5, in: 0.1...10, "How wide the edges are, in pixels.")
        amount = p.optional("amount", 3.0, in: 0...20, "How strongly edges are sharpened; flat areas stay as they are.")
    }

    package struct Plan: StagePlan {
        package let output: Geometry
    }

    package func plan(_ input: Geometry, in context: PlanContext) throws(PlanFailure) -> Plan {
        Plan(output: input)
    }

    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        guard amount > 0 else { return image }
        let sharp = try image.extendingColours(by: sigma).sharpen(sigma: sigma, flat: 0, jagged: amount)
        guard image.hasAlpha else { return sharp }
        // libvips would send 16 bit alpha through 8 bit.
        return try sharp.bandjoin(image.extractBands(from: image.bands - 1, count: 1)).copy(interpretation: image.interpretation)
    }
}

extension Image {
    /// The colours without alpha, where transparent pixels have those of their visible neighbours: what is hidden must not count as an edge.
    fileprivate func extendingColours(by sigma: Double) throws -> Image {
        guard hasAlpha else { return self }
        let colours = try droppingAlpha()
        let alpha = try extractBands(from: bands - 1, count: 1)
        let weight = try alpha.cast(.float)
        // The mean of the neighbours, weighted by their alpha.
        let sums = try colours.cast(.float).multiply(weight).gaussblur(sigma: max(1, sigma))
        let means = try sums.divide(weight.gaussblur(sigma: max(1, sigma)))
        let extended = try means.linear([1], [0.5]).cast(format).copy(interpretation: colours.interpretation)
        return try colours.choosing(where: alpha.more(than: 0), else: extended)
    }
}
