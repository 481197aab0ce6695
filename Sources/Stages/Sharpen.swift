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
        package var gainMapEffect: GainMapEffect { .follows }
        package let output: PictureInfo
    }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        // libvips takes inks for those of its own press.
        if amount > 0 {
            try input.require([.grey, .rgb, .lab], "'sharpen' works on RGB, gray and Lab", for: Self.name)
        }
        return Plan(output: input)
    }

    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        guard amount > 0 else { return picture }
        return try picture.onColours { picture in
            let colours = try picture.droppingAlpha().inLibvipsNumbers
            guard let alpha = try picture.alpha else {
                return try picture.fromLibvips(colours.sharpen(sigma: sigma, flat: 0, jagged: amount))
            }
            return try picture.fromLibvips(sharpened(colours, weighedBy: alpha).colourspace(colours.interpretation))
        }
    }

    /// The same as libvips' `sharpen`, but for the mean of a pixel's neighbors: here each weighs as much as it is seen.
    /// Unweighed, hidden and faint colors would make an edge of every rim.
    private func sharpened(_ colours: Image, weighedBy alpha: Image) throws -> Image {
        let lab = try colours.colourspace(.labs)
        let lightness = try lab.extractBands(from: 0, count: 1).cast(.float)
        let weight = try alpha.cast(.float)
        func mean(_ image: Image) throws(VipsError) -> Image {
            try image.gaussblur(sigma: sigma, leastAmplitude: 0.1, isExact: false)
        }
        let means = try mean(lightness.multiply(weight)).divide(mean(weight))
        // Libvips' own numbers: differences below 2 % of white are flat, and no pixel changes by more than 10 % up and
        // 20 % down.
        let percent = 327.67
        let difference = try lightness.add(means.linear([-1], [0]))
        let edge = try difference.add(difference.clamped(to: -2 * percent...2 * percent).linear([-1], [0]))
        let change = try edge.linear([amount], [0]).clamped(to: -20 * percent...10 * percent)
        return try lightness.add(change).clamped(to: 0...100 * percent).rint().cast(.short)
            .bandjoin(lab.extractBands(from: 1, count: 2)).copy(interpretation: .labs)
    }
}

extension Image {
    /// Numbers outside of a range become its nearest end.
    fileprivate func clamped(to range: ClosedRange<Double>) throws -> Image {
        let (low, high) = (range.lowerBound, range.upperBound)
        let fromHigh = try linear([1], [-high]).abs()
        return try linear([1], [-low]).abs().add(fromHigh.linear([-1], [0])).linear([0.5], [(low + high) / 2])
    }
}
