// The decoders of source formats: libvips' operations, and decoders of this program.
import Pipeline
import Stages
import Vips

/// A format with its decoder.
protocol SourceDecoder: SourceFormatDeclaration {
    /// libvips' operation that decodes it.
    static var operation: String { get }
    /// libvips' class of that operation, if the format is on request: it is blocked unless a worker is of that kind.
    static var blockedClass: String? { get }
    /// A picture of 16×16 pixels, in base64.
    static var sample: String { get }

    /// A picture, of which no pixel was read yet, with its metadata. Rows come once, from top to bottom.
    static func opened(_ file: ReceivedFile, _ opening: Loader.Opening, tolerance: Tolerance) throws -> Image
    /// A preview in a picture's file, at full size or shrunk.
    static func preview(_ load: PreviewLoad, in file: ReceivedFile, of format: SourceFormat) throws -> Picture?
    /// Reads the sample; throws if the decoder is missing.
    static func readSample(_ bytes: [UInt8]) throws
    /// Options of the operation.
    /// - Parameters:
    ///   - shrink: it delivers one pixel for so many along a side.
    ///   - factor: how many times as wide and high as its own size a vector picture is drawn.
    ///   - allFrames: all frames of an animation below each other, instead of the first picture of the file.
    static func options(shrink: Int, factor: Double, allFrames: Bool) -> [(String, Argument)]
    /// Puts right what libvips gets wrong when it opens a picture.
    /// - Parameter page: from 1.
    static func corrected(_ opened: Image, of file: ReceivedFile, page: Int, tolerance: Tolerance) throws -> Image
    /// The pixels of an opened picture by a decoder of this program, which leaves to libvips what it does not know and
    /// what is not without a fault.
    /// - Returns: nil if libvips decodes, row by row when they are asked for.
    static func pixels(
        of opened: Image, in file: ReceivedFile, _ facts: SourceFacts, shrink: Int, _ beginning: Beginning
    ) throws -> Image?

    /// Whether `pixels` may find a fault only when its rows are read. Then libvips decodes, and they are read once more.
    static var findsFaultsLate: Bool { get }
    /// Whether libvips survives a truncated file.
    static func canBeTruncated(_ facts: SourceFacts) -> Bool
    /// Whether the decoder turns the picture, by what the file says besides EXIF, which repeats it.
    static var turnsPicture: Bool { get }
    /// Whether the pages of a file are smaller sizes of one picture.
    static var pagesAreSizes: Bool { get }
    /// Whether a good file leaves something in libvips' error buffer when it is opened.
    static var leavesMessages: Bool { get }
}

extension SourceDecoder {
    static var operation: String { "\(name)load_source" }
    static var blockedClass: String? { nil }

    static func opened(_ file: ReceivedFile, _ opening: Loader.Opening, tolerance: Tolerance) throws -> Image {
        var arguments: [(String, Argument)] = [
            ("source", .source(try Source(descriptor: file.descriptor))), ("access", "sequential"),
            ("fail_on", .string(tolerance == .truncated ? "none" : "error")),
        ]
        if let page = opening.page, page > 1 { arguments.append(("page", .int(page - 1))) }
        arguments += options(shrink: opening.shrink, factor: opening.factor, allFrames: opening.allFrames)
        return try Operation(operation, arguments).image()
    }

    static func preview(_ load: PreviewLoad, in file: ReceivedFile, of format: SourceFormat) throws -> Picture? {
        let bytes = try file.structureForDecoding { try? structure.file(of: load.preview, in: $0) }
        return try bytes.map { try Loader.open($0, of: file, format: format, shrink: load.shrink) }
    }

    static func readSample(_ bytes: [UInt8]) throws {
        try Operation(operation, ["source": .source(try Source(bytes: bytes))]).image().evaluated()
    }

    static func options(shrink: Int, factor: Double, allFrames: Bool) -> [(String, Argument)] {
        isVector ? [("scale", .double(factor))] : hasFrames && allFrames ? [("n", -1)] : []
    }
    static func corrected(_ opened: Image, of file: ReceivedFile, page: Int, tolerance: Tolerance) -> Image { opened }
    static func pixels(
        of opened: Image, in file: ReceivedFile, _ facts: SourceFacts, shrink: Int, _ beginning: Beginning
    ) -> Image? { nil }
    static var findsFaultsLate: Bool { false }
    static func canBeTruncated(_ facts: SourceFacts) -> Bool { true }
    static var turnsPicture: Bool { false }
    static var pagesAreSizes: Bool { false }
    static var leavesMessages: Bool { false }
}

extension SourceFormat {
    /// Every format has one.
    var decoder: any SourceDecoder.Type {
        guard let decoder = declaration as? any SourceDecoder.Type else {
            preconditionFailure("the format \(rawValue) has no decoder")
        }
        return decoder
    }
}
