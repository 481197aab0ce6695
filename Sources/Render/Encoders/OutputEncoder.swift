// The encoders of output formats: `save` in libvips' terms.
import Pipeline
import System
import Vips

/// A format with its encoder.
protocol OutputEncoder: OutputFormatDeclaration {
    /// libvips' operation that saves a picture, and its options.
    /// - Parameter picture: as planned.
    func operation(for picture: PictureInfo) -> (name: String, options: [(String, Argument)])

    /// Encodes a picture into a descriptor. All frames are stacked below each other, with `page-height` set.
    /// - Parameters:
    ///   - planned: the picture that memory was reserved for.
    ///   - strip: leaves all metadata out.
    func save(_ image: Image, as planned: PictureInfo, to output: OpenFile, strip: Bool) throws

    /// Whether the encoder writes this profile of a picture.
    /// - Parameter output: empty, and empty afterwards.
    func keeps(_ profile: [UInt8], of image: Image, _ output: OpenFile) throws -> Bool

    /// Whether the encoder rounds 16 bits to 8 by itself.
    var reducesDepth: Bool { get }
    /// Whether the encoder needs no more than `strip` to write no metadata.
    static var leavesMetadataOut: Bool { get }
    /// libvips' class of its operation, if that is marked untrusted and so blocked unless a worker may save the format.
    static var blockedClass: String? { get }
}

extension OutputEncoder {
    func save(_ image: Image, as planned: PictureInfo, to output: OpenFile, strip: Bool) throws {
        try saveByLibvips(image, as: planned, to: Target(descriptor: output.descriptor), strip: strip)
    }

    func saveByLibvips(_ image: Image, as planned: PictureInfo, to target: Target, strip: Bool) throws {
        let (name, options) = operation(for: planned)
        let common: [(String, Argument)] = [
            ("in", .image(image)), ("target", .target(target)), ("strip", .bool(strip)),
        ]
        _ = try Operation(name, common + options)
    }

    func keeps(_ profile: [UInt8], of image: Image, _ output: OpenFile) -> Bool { Self.holdsProfile }

    var reducesDepth: Bool { true }
    static var leavesMetadataOut: Bool { false }
    static var blockedClass: String? { nil }
}

extension OutputFormat {
    /// Every format has one.
    var encoder: any OutputEncoder.Type {
        guard let encoder = declaration as? any OutputEncoder.Type else {
            preconditionFailure("the format \(rawValue) has no encoder")
        }
        return encoder
    }
}

extension SaveSettings {
    /// The encoder with the options of this rendition.
    var encoder: any OutputEncoder {
        guard let encoder = encoding as? any OutputEncoder else {
            preconditionFailure("the format \(format.rawValue) has no encoder")
        }
        return encoder
    }
}

/// The fewest bits of an index into a palette.
func bits(for colors: Int) -> Int {
    var bits = 1
    while 1 << bits < colors { bits += 1 }
    return bits
}
