// Stages that draw the picture as many points large as it is, as an app does, and not scaled to a size that the user
// names.
import Pipeline

extension PictureInfo {
    /// The scaled picture, which is held in memory; nothing if the size is the same.
    func scaled(to size: PixelSize) -> [PictureInfo] { size == self.size ? [] : [resized(to: size)] }
}
