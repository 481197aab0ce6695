// Finds out what libvips on this system can do, by trying it with a tiny picture.
import FoundationEssentials
import Pipeline
import Vips

/// Trials of codecs that a system may lack.
enum CodecTrial {
    /// Why no picture can be saved in a format, in libvips' words; nil if pictures can be saved.
    static func trouble(saving format: OutputFormat) -> String? {
        guard format.declaration.separateEncoder != nil else { return nil }
        return trouble { try save(by: format.encoder) }
    }

    /// Whether pictures of a format can be read at all.
    static func canRead(_ format: SourceFormat) -> Bool {
        guard let sample = Data(base64Encoded: format.decoder.sample) else { return false }
        return trouble { try format.decoder.readSample(Array(sample)) } == nil
    }

    private static func save<Encoder: OutputEncoder>(by type: Encoder.Type) throws {
        let pixel = try Image.black(width: 16, height: 16, bands: 3).copy(interpretation: .srgb)
        try Parameters.usual(type).saveByLibvips(
            pixel, as: PictureInfo(size: PixelSize(16, 16), hasAlpha: false), to: Target(), strip: true)
    }

    private static func trouble(_ work: () throws -> Void) -> String? {
        VipsLibrary.settingMessagesAside {
            do {
                try work()
                return nil
            } catch {
                return (error as? VipsError)?.message ?? "\(error)"
            }
        }
    }
}
