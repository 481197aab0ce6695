// The cost of assets: they are decoded one after the other before there is any other picture, and stay in memory.
// Vector pictures are drawn when they are needed.

extension CostModel {
    /// Bytes of assets that a worker keeps at the sizes at which they were drawn, for the next picture: at most, and
    /// whatever this one draws.
    private static let keptAssets = 4 << 20...16 << 20

    /// As much as all that the stages hold, in which every asset is that they draw.
    static func keptAssets(_ assets: [AssetFacts], by steps: [PlannedStage]) -> Int {
        guard !assets.isEmpty else { return 0 }
        let held = steps.flatMap(\.plan.intermediates).map(\.bytes).reduce(0, saturating)
        return min(max(held, keptAssets.lowerBound), keptAssets.upperBound)
    }

    /// Bytes that it takes at most to draw the vector assets of stages, besides what is drawn.
    static func drawing(by steps: [PlannedStage]) -> Int {
        steps.flatMap(\.plan.drawings).map(SVGSource.memory(drawing:)).max() ?? 0
    }

    /// Seconds that it may take to draw them, for each frame once more.
    static func drawingSeconds(by steps: [PlannedStage]) -> Double {
        steps.map { step in Double(step.plan.drawings.map(\.area).reduce(0, +) * step.input.frames) / pixelsPerSecond }
            .reduce(0, +)
    }

    /// Bytes of the assets, and of what comes when they are decoded.
    static func withAssets(_ assets: [AssetFacts], _ work: Int) -> Int {
        let decoding = assets.map { max(0, $0.decoding - $0.held) }.max() ?? 0
        return assets.map(\.held).reduce(max(decoding, work), saturating)
    }
}

extension SourceFacts {
    /// Bytes that it takes at most to have this picture, an asset, in memory as stages get it.
    /// - Parameter picture: bytes of that.
    package func decodingBytes(to picture: Int) -> Int {
        saturating(pixelBytes, max(decoderBytes(shrink: 1, to: size), picture))
    }
}
