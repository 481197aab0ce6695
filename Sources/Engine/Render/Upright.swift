// EXIF orientation: how the camera was held.
import Vips

extension Image {
    /// The picture as a person sees it.
    /// - Parameter orientation: EXIF's number, 1…8. From 3 on the rows are needed out of order.
    func upright(orientation: Int) throws(VipsError) -> Image {
        let turned: Image
        switch orientation {
        case 2: turned = try flip("horizontal")
        case 3: turned = try rot("d180")
        case 4: turned = try flip("vertical")
        case 5: turned = try rot("d90").flip("horizontal")
        case 6: turned = try rot("d90")
        case 7: turned = try rot("d270").flip("horizontal")
        case 8: turned = try rot("d270")
        default: turned = self
        }
        return try turned.removingMetadata(["orientation", "exif-ifd0-Orientation"])
    }
}
