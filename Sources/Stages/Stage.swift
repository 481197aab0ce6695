// A stage with its pixels, and the picture or pictures that flow from stage to stage.
package import Pipeline
package import Vips

/// One step on the picture: parameters and plan as in `PlannedStage`, and the pixels that follow the plan.
package protocol Stage: PlannedStage {
    /// Follows the plan. Works out no geometry of its own, so that plan and pixels cannot disagree.
    func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image
    /// Looks at the picture, for a stage that says it must.
    func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement?
}

extension Stage {
    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? { nil }
}

/// A stage that joins a set. What comes in are the members, with the same bands and depth.
package protocol SetStage: Stage, JoiningStage {
    /// Follows the plan.
    func join(_ members: Frames, following plan: Plan, in context: RenderContext) throws -> Frames
}

extension SetStage {
    package func render(_ image: Image, following plan: Plan, in context: RenderContext) throws -> Image {
        throw MismatchedPlan(stage: Self.name)
    }
}

/// What flows between stages: one picture, or many that follow each other.
package struct Frames {
    package private(set) var images: [Image]
    /// Milliseconds for each frame; empty for a single picture.
    package var delays: [Int]
    /// How often the animation plays; 0 for ever.
    package var repeatCount: Int
    /// All of them below each other, where they were cut out of such a picture and not changed since.
    package private(set) var stack: Image?

    package init(images: [Image], delays: [Int] = [], repeatCount: Int = 0) {
        self.images = images
        self.delays = delays
        self.repeatCount = repeatCount
    }

    /// Frames that stand below each other.
    package init(stack: Image, count: Int, delays: [Int], repeatCount: Int) throws {
        let height = stack.height / count
        self.init(
            images: try (0..<count).map { try stack.extractArea(left: 0, top: $0 * height, width: stack.width, height: height) },
            delays: delays, repeatCount: repeatCount)
        self.stack = stack
    }

    package func map(_ transform: (Image) throws -> Image) rethrows -> Frames {
        var result = self
        result.images = try images.map(transform)
        if !zip(result.images, images).allSatisfy({ $0 === $1 }) { result.stack = nil }
        return result
    }
}

/// What a rendering may depend on besides the picture.
package struct RenderContext {
    /// Pixels in one point.
    package let scale: Int
    /// The pictures that stages draw.
    package let assets: any AssetProvider

    package init(scale: Int, assets: any AssetProvider) {
        self.scale = scale
        self.assets = assets
    }
}

/// Gives the assets of a pipeline.
package protocol AssetProvider {
    /// The asset upright, in sRGB with 8 bits, at a size in pixels.
    func image(_ asset: AssetPath, size: PixelSize) throws -> Image
    /// A picture that is made of assets and drawn onto many pictures; made where it is not kept already.
    func image(_ key: KeptImageKey, make: () throws -> Image) throws -> Image
}

/// A stage and a plan that do not belong together: a mistake in this program.
package struct MismatchedPlan: Error {
    package let stage: String

    package init(stage: String) { self.stage = stage }
}

extension Step {
    /// Renders all frames.
    package func render(_ frames: Frames, in context: RenderContext) throws -> Frames {
        guard let stage = stage as? any Stage else { throw MismatchedPlan(stage: name) }
        return try render(frames, by: stage, in: context)
    }

    /// Measures all frames for the stage.
    package func measure(_ frames: Frames, in context: RenderContext) throws -> Measurement? {
        guard let stage = stage as? any Stage else { throw MismatchedPlan(stage: name) }
        return try measure(frames, by: stage, in: context)
    }

    private func measure<S: Stage>(_ frames: Frames, by stage: S, in context: RenderContext) throws -> Measurement? {
        guard let plan = plan as? S.Plan else { throw MismatchedPlan(stage: name) }
        return try stage.measure(frames, following: plan, in: context)
    }

    private func render<S: Stage>(_ frames: Frames, by stage: S, in context: RenderContext) throws -> Frames {
        if let stage = stage as? any SetStage { return try join(frames, by: stage, in: context) }
        guard let plan = plan as? S.Plan else { throw MismatchedPlan(stage: name) }
        return try frames.map { try stage.render($0, following: plan, in: context) }
    }

    private func join<S: SetStage>(_ members: Frames, by stage: S, in context: RenderContext) throws -> Frames {
        guard let plan = plan as? S.Plan else { throw MismatchedPlan(stage: name) }
        return try stage.join(members, following: plan, in: context)
    }
}

extension Image {
    /// The picture with the bands and the depth that all members of a set have.
    package func alike(_ common: Geometry) throws -> Image {
        var image = try inColour(common.colour)
        if common.hasAlpha { image = try image.addingAlpha() }
        guard common.depth == .sixteen, image.format == .uchar else { return image }
        let deep = try image.linear(Array(repeating: 257, count: image.bands), Array(repeating: 0, count: image.bands)).cast(.ushort)
        return try deep.copy(interpretation: common.colour == .grey ? "grey16" : "rgb16")
    }
}
