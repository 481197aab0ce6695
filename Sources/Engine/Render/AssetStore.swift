// The pictures that a pipeline draws: decoded once, and kept at the sizes that are asked for.
import Pipeline
import Stages
import Vips

final class AssetStore: AssetProvider {
    private(set) var facts: [String: AssetFacts] = [:]
    private var originals: [String: Image] = [:]
    private var kept: [Key: Image] = [:]
    private var keptBytes = 0
    /// Most pipelines draw an asset at one or two sizes, those with percentages at as many as there are sources.
    private static let mostKeptBytes = 64 << 20

    private enum Key: Hashable {
        case asset(String, PixelSize)
        case made(KeptImageKey)
    }

    /// Decodes an asset: upright, in sRGB, with the bits that it has.
    func add(_ message: AssetMessage, _ file: OpenFile) throws {
        let source = try ProbedSource(file, format: message.format)
        let header = source.facts
        guard header.size.area <= Limits().maximumPixels else {
            throw Failure(.tooManyPixels, stage: "decode", "the asset has \(header.size) pixels; the limit is \(Limits().maximumPixels)")
        }
        let decoded = try source.reopened(shrink: 1, tolerance: .nothing).inMemory()
        let converted = try ColourConversion(policy: .srgb, profiles: ProfileBook()).convert(decoded.upright(orientation: header.orientation)).image
        let image = try converted.inMemory()
        originals[message.path] = image
        let size = PixelSize(image.width, image.height)
        facts[message.path] = AssetFacts(
            size: size, pixelsPerPoint: message.pixelsPerPoint, isGrey: image.bands <= 2, depth: image.format == .uchar ? .eight : .sixteen)
    }

    func image(_ asset: AssetPath, size: PixelSize) throws -> Image {
        try keeping(.asset(asset.path, size)) {
            guard let original = originals[asset.path] else {
                throw Failure(.internal, stage: "overlay", "the asset '\(asset.path)' was not opened")
            }
            return try original.scaled(to: size)
        }
    }

    func image(_ key: KeptImageKey, make: () throws -> Image) throws -> Image { try keeping(.made(key), make) }

    /// A picture that was made before, or is made now and kept if there is room.
    private func keeping(_ key: Key, _ make: () throws -> Image) throws -> Image {
        if let image = kept[key] { return image }
        let image = try make().inMemory()
        let bytes = image.width * image.height * image.bands * (image.format == .uchar ? 1 : 2)
        guard bytes <= Self.mostKeptBytes else { return image }
        if keptBytes + bytes > Self.mostKeptBytes { (kept, keptBytes) = ([:], 0) }
        kept[key] = image
        keptBytes += bytes
        return image
    }
}
