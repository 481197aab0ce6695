// Stages that draw the picture as many points large as it is, as an app does, and not scaled to a size that the user
// names.
import Pipeline

extension PictureInfo {
    /// The scaled picture, which is held in memory; nothing if the size is the same.
    func scaled(to size: PixelSize) -> [PictureInfo] { size == self.size ? [] : [resized(to: size)] }

    /// How a stage depends on the incoming pixels that draws the picture at its natural size × scale.
    func sizeDependence(drawnAt natural: PixelSize) -> SizeDependence {
        natural == size ? .sourcePixels : .scales(to: natural, by: .lanczos3)
    }
}
