// The part of a picture that is worth seeing, for anchors that look for it.
import Pipeline
import Vips

extension Picture {
    /// The part of a size in pixels that shows most, as fractions of the picture.
    func part(of size: PixelSize, by anchor: Anchor) throws -> Measurement {
        // A small picture shows it as well, and is looked at in no time.
        let longest = max(width, height)
        let factor = min(1, 512 / Double(longest))
        let small = PixelSize(rounded(Double(width) * factor), rounded(Double(height) * factor))
        let cut = PixelSize(
            min(small.width, rounded(Double(size.width) * factor)),
            min(small.height, rounded(Double(size.height) * factor)))
        let picture = try scaled(to: small).inMemory()
        let shown =
            picture.hasAlpha
            ? try picture.image.flatten(background: picture.nearestNumbers(to: .white), maximumAlpha: white)
            : picture.image
        let opaque = try Picture(shown, PixelFormat(pixels.colour, pixels.depth), profile: profile).inLibvipsNumbers
        let interesting: Interesting = anchor.kind == .entropy ? .entropy : .attention
        let corner = try opaque.colourspace(.srgb).smartcrop(
            width: cut.width, height: cut.height, interesting: interesting)
        let (wide, high) = (Double(small.width), Double(small.height))
        return .box(
            left: Double(corner.left) / wide, top: Double(corner.top) / high, width: Double(cut.width) / wide,
            height: Double(cut.height) / high)
    }
}
