// The pictures that a pipeline draws: decoded once, and kept at the sizes that are asked for.
import Pipeline
import Stages
import Typesetting

final class AssetStore: AssetProvider {
    private(set) var facts: [String: AssetFacts] = [:]
    private var originals: [String: Picture] = [:]
    private var kept: [Key: Picture] = [:]
    private var keptBytes = 0
    /// By the path of a font file as the pipeline writes it; nil for the fonts that are installed.
    private var fonts: [String?: FontLibrary] = [:]
    /// Kept open for as long as their fonts are read.
    private var fontFiles: [OpenFile] = []
    /// Most pipelines draw an asset at one or two sizes, those with percentages at as many as there are sources.
    private static let mostKeptBytes = CostModel.keptAssets

    private enum Key: Hashable {
        case asset(String, PixelSize)
        case made(KeptPictureKey)
    }

    /// Decodes an asset: upright, in sRGB, with the bits that it has.
    func add(_ message: AssetMessage, _ file: OpenFile) throws {
        let source = try ProbedSource(file, format: message.format)
        let header = source.facts
        guard header.size.area <= Limits().maximumPixels else {
            throw Failure(
                .tooManyPixels, stage: "decode",
                "the asset has \(header.size) pixels; the limit is \(Limits().maximumPixels)")
        }
        let decoded = try source.decoded(source.reopened(shrink: 1, tolerance: .nothing), shrink: 1, .held)
        let converted = try ColourConversion(policy: .srgb, profiles: ProfileBook()).convert(
            decoded.upright(orientation: header.orientation)
        ).picture
        let picture = try converted.inMemory()
        originals[message.path] = picture
        facts[message.path] = AssetFacts(
            size: picture.size, pixelsPerPoint: message.pixelsPerPoint, isGrey: picture.pixels.colour == .grey,
            depth: picture.pixels.depth)
    }

    /// Reads a font. The file has no name, and must not be found by one.
    func add(font path: String, _ file: OpenFile) throws {
        guard let library = FontLibrary(file: "/proc/self/fd/\(file.descriptor)") else {
            throw Failure(.corrupt, stage: "read", "it is not a font that can be read")
        }
        fonts[path] = library
        fontFiles.append(file)
    }

    func fonts(_ file: AssetPath?) throws -> FontLibrary {
        if let known = fonts[file?.path] { return known }
        guard file == nil, let library = FontLibrary() else {
            throw Failure(.internal, stage: "read", "the fonts of this system cannot be read")
        }
        fonts[nil] = library
        return library
    }

    func picture(_ asset: AssetPath, size: PixelSize) throws -> Picture {
        try keeping(.asset(asset.path, size)) {
            guard let original = originals[asset.path] else {
                throw Failure(.internal, stage: "overlay", "the asset '\(asset.path)' was not opened")
            }
            return try original.scaled(to: size)
        }
    }

    func picture(_ key: KeptPictureKey, make: () throws -> Picture) throws -> Picture { try keeping(.made(key), make) }

    /// A picture that was made before, or is made now and kept if there is room.
    private func keeping(_ key: Key, _ make: () throws -> Picture) throws -> Picture {
        if let picture = kept[key] { return picture }
        let picture = try make().inMemory()
        let bytes = picture.size.area * picture.pixels.bytes
        guard bytes <= Self.mostKeptBytes else { return picture }
        if keptBytes + bytes > Self.mostKeptBytes { (kept, keptBytes) = ([:], 0) }
        kept[key] = picture
        keptBytes += bytes
        return picture
    }
}
