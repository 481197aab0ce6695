package import Pipeline

extension StageCatalogue {
    /// Every stage there is, in the order in which the documentation shows them.
    package static let all = StageCatalogue([
        Resize.self,
        Frame.self,
        Crop.self,
        Inset.self,
        Rotate.self,
        Flip.self,
        Flatten.self,
        Opacity.self,
        Mask.self,
        Overlay.self,
        Sharpen.self,
        Blur.self,
        Grayscale.self,
        Tint.self,
    ])
}
