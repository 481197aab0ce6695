import Pipeline
import System
import Vips

extension PNGOutput: OutputEncoder {
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)]) {
        (
            "pngsave_target",
            [
                ("compression", .int(compression)), ("interlace", .bool(progressive)),
                // All filters cost much time and help photos only; libvips' default is none.
                ("palette", .bool(paletteColors != nil)), ("dither", .double(dither)),
            ] + (paletteColors.map { [("bitdepth", .int(bits(for: $0)))] } ?? [])
        )
    }

    func save(_ image: Image, as planned: PictureInfo, to output: OpenFile, strip: Bool) throws {
        if let encoder = try PNGEncoder(image, self, planned: planned) {
            return try encoder.save(to: output, strip: strip)
        }
        try saveByLibvips(image, as: planned, to: Target(descriptor: output.descriptor), strip: strip)
    }

    /// libpng drops profiles that it dislikes; and one for gray is not for a palette, which is RGB.
    func keeps(_ profile: [UInt8], of image: Image, _ output: OpenFile) throws -> Bool {
        let bands = image.bands - (image.hasAlpha ? 1 : 0)
        guard paletteColors == nil || bands > 1 else { return false }
        let pixel = try Image(bytes: [UInt8](repeating: 0, count: bands), width: 1, height: 1, bands: bands)
            .copy(interpretation: bands == 1 ? .bw : .srgb).editingMetadata {
                $0.set("icc-profile-data", blob: profile)
            }
        // Our own warning replaces what libpng logs about the profile.
        try VipsLibrary.settingMessagesAside {
            _ = try Operation(
                "pngsave_target", [("in", .image(pixel)), ("target", .target(Target(descriptor: output.descriptor)))])
        }
        let header = try output.bytes(at: 0, count: 256)
        try output.empty()
        return header.contains("iCCP".utf8)
    }

    /// libvips' search for a palette cuts what is above 8 bits.
    var reducesDepth: Bool { false }
}
