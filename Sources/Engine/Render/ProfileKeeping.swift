// Whether a file will really have the colour profile that a pipeline keeps: some formats have none, and libpng drops
// those that it dislikes.
import Pipeline
import Stages
import Vips

extension Image {
    /// The picture with a profile that the format keeps, or in sRGB if it would keep none: numbers without their
    /// profile mean other colours.
    /// - Parameter output: empty, and empty afterwards.
    func keepingColours(in format: OutputFormat, _ output: OpenFile) throws -> (image: Image, warnings: [Warning]) {
        guard let profile = blob("icc-profile-data"), try !isKept(profile, in: format, output) else {
            return (self, [])
        }
        let (standard, warnings) = try ColourConversion(policy: .srgb, profiles: ProfileBook()).convert(
            Picture(decoded: self))
        // A profile that is good for nothing was taken for sRGB.
        guard !warnings.contains(where: { $0.code == .badProfile }) else { return (standard.image, warnings) }
        let message = "\(format.rawValue) cannot hold the picture's profile; its colors were converted to sRGB"
        return (standard.image, warnings + [Warning(.profileConverted, message)])
    }

    private func isKept(_ profile: [UInt8], in format: OutputFormat, _ output: OpenFile) throws -> Bool {
        switch format {
        case .jpeg, .webp, .avif, .tiff: return true
        case .gif: return false
        case .png:
            let bands = bands - (hasAlpha ? 1 : 0)
            let pixel = try Image(bytes: [UInt8](repeating: 0, count: bands), width: 1, height: 1, bands: bands)
                .copy(interpretation: bands == 1 ? .bw : .srgb).editingMetadata {
                    $0.set("icc-profile-data", blob: profile)
                }
            // Our own warning replaces what libpng logs about the profile.
            try VipsLibrary.settingMessagesAside {
                _ = try Operation(
                    "pngsave_target",
                    [("in", .image(pixel)), ("target", .target(Target(descriptor: output.descriptor)))])
            }
            let header = try output.bytes(at: 0, count: 256)
            try output.empty()
            return header.contains("iCCP".utf8)
        }
    }
}
