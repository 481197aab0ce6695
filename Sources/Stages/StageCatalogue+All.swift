package import Pipeline

extension StageCatalogue {
    /// Every stage there is, in the order in which the documentation shows them.
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
        Overlay.self,
        Composite.self,
        Sharpen.self,
        Blur.self,
        Grayscale.self,
        Tint.self,
        Stitch.self,
        ContactSheet.self,
        Animate.self,
    ])
}
