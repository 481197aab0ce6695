package import Pipeline
import Vips

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
        package let output: PictureInfo
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        Plan(output: input)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        guard amount > 0 else { return picture }
        // Without alpha, which libvips would send from 16 bits through 8.
        return try picture.onColours {
            try $0.extendingColours(by: sigma).sharpen(sigma: sigma, flat: 0, jagged: amount)
        }
    }
}

extension Picture {
    /// The colours without alpha, where transparent pixels have those of their visible neighbours: what is hidden must
    /// not count as an edge.
    fileprivate func extendingColours(by sigma: Double) throws -> Image {
        guard let alpha = try alpha else { return image }
        let colours = try image.droppingAlpha()
        let weight = try alpha.cast(.float)
        // The mean of the neighbours, weighted by their alpha.
        let sums = try colours.cast(.float).multiply(weight).gaussblur(sigma: max(1, sigma))
        let means = try sums.divide(weight.gaussblur(sigma: max(1, sigma)))
        let extended = try means.linear([1], [0.5]).cast(image.format).copy(interpretation: pixels.interpretation)
        return try colours.choosing(where: alpha.more(than: 0), else: extended)
    }
}
