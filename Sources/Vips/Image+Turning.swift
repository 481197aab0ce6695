// A picture in memory is turned at once: libvips would turn it in threads, region by region, for each who reads it.
import CResample

extension Image {
    /// The picture in memory, turned and mirrored.
    /// - Parameter orientation: EXIF's number of how this one is stored, 1…8.
    package func turned(orientation: Int) throws -> Image {
        guard (2...8).contains(orientation) else { return self }
        let pixel = bytes / (width * height)
        let (swapsSides, line) = (orientation >= 5, width * pixel)
        // Steps through this picture, in bytes, for one pixel to the right and for one down in the result.
        let endsRight = [2, 3, 7, 8].contains(orientation)
        let endsBottom = [3, 4, 6, 7].contains(orientation)
        let right = endsRight ? -pixel : pixel
        let down = endsBottom ? -line : line
        let first = (endsRight ? line - pixel : 0) + (endsBottom ? (height - 1) * line : 0)
        let size = swapsSides ? (height, width) : (width, height)
        let made = try withPixels { pixels in
            try withPixels(width: size.0, height: size.1) {
                cresample_turn(
                    pixels.baseAddress! + first, swapsSides ? down : right, swapsSides ? right : down, CInt(pixel),
                    CInt(size.0), CInt(size.1), $0.baseAddress!)
                return true
            }
        }
        guard let made else { throw VipsError.failed(operation: "turn") }
        return made
    }
}
