// A stage with its pixels, and the picture or pictures that flow from stage to stage.
package import Pipeline
package import Typesetting
import Vips

/// One step on the picture: parameters and plan as in `StageDeclaration`, and the pixels that follow the plan.
package protocol Stage: StageDeclaration {
    /// Follows the plan. Works out no geometry of its own, so that plan and pixels cannot disagree.
    func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture
    /// Looks at the picture, for a stage that says it must.
    func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement?
}

extension Stage {
    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        nil
    }
}

/// A stage that joins a set. What comes in are the members, with pixels of the same format.
package protocol SetStage: Stage, JoiningStage {
    /// Follows the plan.
    func join(_ members: Frames, following plan: Plan, in context: RenderContext) throws -> Frames
}

extension SetStage {
    package func render(_ picture: Picture, following plan: Plan, in context: RenderContext) throws -> Picture {
        throw MismatchedPlan(stage: Self.name)
    }
}

/// The pictures that flow between stages: one, or many that follow each other.
package struct Frames {
    package private(set) var pictures: [Picture]
    /// Milliseconds for each frame; empty for a single picture.
    package var delays: [Int]
    /// How often the animation plays; 0 for ever.
    package var repeatCount: Int
    /// All of them below each other, if they were cut out of such a picture and not changed since.
    package private(set) var stack: Picture?

    package init(_ pictures: [Picture], delays: [Int] = [], repeatCount: Int = 0) {
        self.pictures = pictures
        self.delays = delays
        self.repeatCount = repeatCount
    }

    /// Frames that are below each other.
    package init(stack: Picture, count: Int, delays: [Int], repeatCount: Int) throws {
        let size = PixelSize(stack.width, stack.height / count)
        self.init(
            try (0..<count).map { try stack.cropped(to: PixelBox(PixelOffset(0, $0 * size.height), size)) },
            delays: delays,
            repeatCount: repeatCount)
        self.stack = stack
    }

    package func map(_ transform: (Picture) throws -> Picture) rethrows -> Frames {
        var result = self
        result.pictures = try pictures.map(transform)
        // A stage that has nothing to do returns the very image that it was given.
        if !zip(result.pictures, pictures).allSatisfy({ $0.image === $1.image }) { result.stack = nil }
        return result
    }
}

extension Frames {
    /// Computes one frame of an animation after the other. What a frame is made of is let go before the next one is
    /// made: hundreds of frames would keep as many times the rows that their stages work on.
    package mutating func compute() throws {
        guard pictures.count > 1, stack == nil else { return }
        for index in pictures.indices { pictures[index] = try pictures[index].inMemory() }
    }

    /// The same between two stages, so that what the first one has computed serves all that the second one reads of it.
    package func keepingRows() throws -> Frames {
        // Frames that were cut out and not changed cost nothing to read.
        stack == nil ? try map { $0.with(try $0.image.keepingRows()) } : self
    }
}

/// The context of a rendering: all that it may depend on besides the picture.
package struct RenderContext {
    /// The pictures that stages draw.
    package let assets: any AssetProvider
    let notes: RenderNotes
    /// The cache that all frames of a step share; nil outside of a step.
    fileprivate var shared: FrameCache?

    /// - Parameter notes: takes what stages warn of.
    package init(assets: any AssetProvider, notes: RenderNotes = RenderNotes()) {
        (self.assets, self.notes) = (assets, notes)
    }
}

/// The values that are the same on all frames that a step renders, so that each is made once: a text. For one thread.
final class FrameCache {
    private var values: [ObjectIdentifier: Any] = [:]

    /// - Parameter owner: lives as long as the step.
    fileprivate func value<Value>(of owner: AnyObject, make: () throws -> Value) rethrows -> Value {
        if let known = values[ObjectIdentifier(owner)] as? Value { return known }
        let value = try make()
        values[ObjectIdentifier(owner)] = value
        return value
    }
}

extension RenderContext {
    /// Something that is the same on all frames of a picture.
    /// - Parameter owner: the part of the plan that says what it is.
    func onceForAllFrames<Value>(_ owner: AnyObject, make: () throws -> Value) rethrows -> Value {
        guard let shared else { return try make() }
        return try shared.value(of: owner, make: make)
    }

    /// The same for a step on all frames of a picture; a step within another one shares what that one does.
    package func forFrames() -> RenderContext {
        var context = self
        context.shared = shared ?? FrameCache()
        return context
    }
}

/// The warnings of stages that no plan could know, as of fonts. For one thread.
package final class RenderNotes {
    package private(set) var warnings: [Warning] = []

    package init() {}

    func add(_ warning: Warning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }
}

/// Gives the assets of a pipeline.
package protocol AssetProvider {
    func table(_ path: ColorTablePath) throws -> ColorTable
    /// The fonts that are installed, and that of a file.
    func fonts(_ file: AssetPath?) throws -> FontLibrary
    /// The asset upright, in sRGB with 8 bits, at a size in pixels.
    func picture(_ asset: AssetPath, size: PixelSize) throws -> Picture
    /// A picture that is made of assets and drawn onto many pictures; made if it is not kept already.
    func picture(_ key: KeptPictureKey, make: () throws -> Picture) throws -> Picture
}

/// A stage and a plan that do not belong together: a mistake in this program.
package struct MismatchedPlan: Error {
    package let stage: String

    package init(stage: String) { self.stage = stage }
}

extension PlannedStage {
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
        let context = context.forFrames()
        return try frames.map { try stage.render($0, following: plan, in: context) }
    }

    private func join<S: SetStage>(_ members: Frames, by stage: S, in context: RenderContext) throws -> Frames {
        guard let plan = plan as? S.Plan else { throw MismatchedPlan(stage: name) }
        return try stage.join(members, following: plan, in: context)
    }
}
