// Color profiles that a pipeline keeps: an encoder may drop one.
import Pipeline
import Stages
import System
import Vips

extension Image {
    /// The picture with a profile that the encoder keeps, or in sRGB if it would keep none: numbers without their
    /// profile mean other colours.
    /// - Parameter output: empty, and empty afterwards.
    func keepingColours(
        by encoder: any OutputEncoder, _ output: OpenFile
    ) throws -> (image: Image, warnings: [Warning]) {
        guard let profile = blob("icc-profile-data"), try !encoder.keeps(profile, of: self, output) else {
            return (self, [])
        }
        let (standard, warnings) = try ColourConversion(profiles: ProfileBook()).convert(
            Picture(decoded: self))
        // A profile that is good for nothing was taken for sRGB.
        guard !warnings.contains(where: { $0.code == .badProfile }) else { return (standard.image, warnings) }
        let message = "\(type(of: encoder).name) cannot hold the picture's profile; its colors were converted to sRGB"
        return (standard.image, warnings + [Warning(.profileConverted, message)])
    }
}
