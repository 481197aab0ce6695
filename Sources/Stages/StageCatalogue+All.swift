package import Pipeline

extension StageCatalogue {
    /// Every stage that a user may name, in the order in which the documentation shows them.
    package static let all = StageCatalogue([
        Resize.self,
        Frame.self,
        Crop.self,
        Trim.self,
        Inset.self,
        Rotate.self,
        Flip.self,
        Flatten.self,
        Opacity.self,
        NineSlice.self,
        Tile.self,
        Viewport.self,
        Mask.self,
        Border.self,
        Shadow.self,
        Gradient.self,
        Overlay.self,
        Composite.self,
        Text.self,
        Caption.self,
        Sharpen.self,
        Blur.self,
        Adjust.self,
        Lut.self,
        Grayscale.self,
        Tint.self,
        Duotone.self,
        Stitch.self,
        ContactSheet.self,
        Animate.self,
    ])

    /// These, and those that only the program's own pipelines use.
    package static let complete = StageCatalogue(all.stages + [Markup.self])
}
