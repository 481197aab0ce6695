import Pipeline

/// An asset as it will be drawn onto a picture: what it begins with, the stages of its own, and its size.
struct DrawnAsset: Sendable {
    let path: AssetPath
    let steps: [PlannedStage]
    /// The picture that is drawn.
    let result: PictureInfo
    /// The pictures that it is made of.
    let intermediates: [PictureInfo]
    /// The sizes in which it, and assets that its stages draw, are drawn if they are vector pictures.
    let drawings: [PixelSize]
    private let stages: NestedStages
    /// The size that its stages begin with.
    private let begun: PixelSize
    /// Pixels per point of that.
    private let scale: Double

    /// - Parameters:
    ///   - picture: what it is drawn on, whose pixels per point it has.
    ///   - size: the size in which something is drawn that comes out of the stages.
    init(
        _ path: AssetPath, _ stages: NestedStages, on picture: PictureInfo, in context: PlanContext, stage: String,
        size: (PictureInfo) throws(PlanFailure) -> PixelSize
    ) throws(PlanFailure) {
        let facts = try context.facts(of: path, stage: stage)
        var scale = picture.pixelsPerPoint
        var start = stages.isEmpty ? facts.picture : facts.picture(pixelsPerPoint: scale)
        var steps = try stages.plan(start, in: context, scale: scale)
        var made = steps.last?.output ?? start
        let enlargement = made.size.wholeFactor(to: try size(made))
        if facts.isVector, !steps.isEmpty, enlargement > 1 {
            // Its stages work on more pixels, so that what they make need not be enlarged.
            scale *= Double(enlargement)
            start = facts.picture(pixelsPerPoint: scale)
            steps = try stages.plan(start, in: context, scale: scale)
            made = steps.last?.output ?? start
        }
        let result = made.resized(to: try size(made))
        (self.path, self.steps, self.result, self.stages, self.scale) = (path, steps, result, stages, scale)
        begun =
            steps.isEmpty
            ? result.size : facts.picture(pixelsPerPoint: scale * Double(Enlargement.factor(for: steps))).size
        let drawing = facts.drawing(filling: begun)
        drawings = [drawing].compactMap(\.self) + steps.drawings
        // One that is stretched is drawn larger.
        let drawn = [drawing == begun ? nil : drawing, steps.isEmpty ? nil : begun].compactMap(\.self)
        intermediates = drawn.map(start.resized) + steps.intermediates
    }

    func picture(in context: RenderContext) throws -> Picture {
        if stages.isEmpty { return try context.assets.picture(path, size: result.size) }
        return try stages.picture(context, scale: scale, size: result.size) {
            let asset = try context.assets.picture(path, size: begun).addingAlpha()
            return try steps.render(asset, in: context).scaled(to: result.size)
        }
    }
}

extension PixelSize {
    /// The least whole factor by which both sides become no smaller than those of another size.
    fileprivate func wholeFactor(to other: PixelSize) -> Int {
        func factor(_ side: Int, _ other: Int) -> Int { (other + side - 1) / side }
        return max(factor(width, other.width), factor(height, other.height))
    }
}
