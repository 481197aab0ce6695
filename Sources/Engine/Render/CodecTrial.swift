// Finds out what libvips on this system can do, by trying it with a tiny picture.
import FoundationEssentials
import Pipeline
import Vips

/// Trials of codecs that a system may lack.
enum CodecTrial {
    /// Why no picture can be saved in a format, in libvips' words; nil if pictures can be saved.
    static func trouble(saving format: OutputFormat) -> String? {
        guard format == .avif else { return nil }
        return trouble {
            let pixel = try Image.black(width: 16, height: 16, bands: 3).copy(interpretation: "srgb")
            let arguments: [(String, Argument)] = [("in", .image(pixel)), ("target", .target(try Target())), ("compression", "av1"), ("effort", 0)]
            _ = try Operation("heifsave_target", arguments)
        }
    }

    /// Whether pictures of a format can be read at all.
    static func canRead(_ format: SourceFormat) -> Bool {
        guard let sample = sample(format).flatMap({ Data(base64Encoded: $0) }) else { return true }
        return trouble { try Operation("heifload_source", ["source": .source(try Source(bytes: Array(sample)))]).image().evaluated() } == nil
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

    /// A black picture of 16×16 pixels, in base64; nil for formats that libvips never lacks.
    private static func sample(_ format: SourceFormat) -> String? {
        switch format {
        case .avif: avif
        case .heic: heic
        case .jpeg, .png, .webp, .gif, .tiff: nil
        }
    }

    private static let avif = """
        AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAA\
        AAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAEOAAEAAAAAAAAAHAAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGF2MDEAAAAAamlwcnAA\
        AABLaXBjbwAAABNjb2xybmNseAACAAIABoAAAAAMYXYxQ4EADAAAAAAUaXNwZQAAAAAAAAAQAAAAEAAAABBwaXhpAAAAAAMICAgAAAAXaXBtYQ\
        AAAAAAAAABAAEEgYIDhAAAACRtZGF0EgAKCRgM/9ggQEDQgDINGAAKKKKEADlTjzRAoA==
        """

    private static let heic = """
        AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAA\
        AAAAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAAAIgACAAEAAAAAAAAAAQAAAAAAAAAIAAAAOGlp\
        bmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAAAADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAA\
        AAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAeugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubgQEDAgAAA\
        AwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbW\
        EAAAAAAAAAAgABAoECAAICA4QAAAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAACptZGF0AAAAHigBrwQSEkzg+AROY/7pVFUBIKzotHShyJcQ\
        k7tqwA==
        """
}
