// Stages that draw the picture as many points large as it is, as an app does, and not scaled to a size that the user names.
import Pipeline

extension PictureInfo {
    /// How a stage depends on the incoming pixels that draws the picture at its natural size × scale.
    func footing(drawnAt natural: PixelSize) -> Footing {
        natural == size ? .sourcePixels : .scales(to: natural, by: .lanczos3)
    }
}
