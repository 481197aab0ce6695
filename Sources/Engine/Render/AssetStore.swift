// The pictures that a pipeline draws: decoded once, and kept at the sizes that are asked for.
import Pipeline
import Stages
import Vips

final class AssetStore: AssetProvider {
    private(set) var facts: [String: AssetFacts] = [:]
    private var originals: [String: Image] = [:]
    private var scaled: [Key: Image] = [:]
    private var kept: [KeptImageKey: Image] = [:]
    /// Sizes to keep; most pipelines draw an asset at one or two, those with percentages at as many as there are sources.
    private static let keptSizes = 16

    private struct Key: Hashable {
        let path: String
        let size: PixelSize
    }

    /// Decodes an asset: upright, in sRGB with 8 bits.
    func add(_ message: AssetMessage, _ file: OpenFile) throws {
        let source = try ProbedSource(file, format: message.format)
        let header = source.facts
        guard header.size.area <= Limits().maximumPixels else {
            throw Failure(.tooManyPixels, stage: "decode", "the asset has \(header.size) pixels; the limit is \(Limits().maximumPixels)")
        }
        let decoded = try source.reopened(shrink: 1, tolerance: .nothing).inMemory()
        let converted = try ColourConversion(policy: .srgb, profiles: ProfileBook()).convert(decoded.upright(orientation: header.orientation)).image
        let image = try converted.colourspace(converted.bands <= 2 ? "b-w" : "srgb").inMemory()
        originals[message.path] = image
        let size = PixelSize(image.width, image.height)
        facts[message.path] = AssetFacts(size: size, pixelsPerPoint: message.pixelsPerPoint, isGrey: image.bands <= 2)
    }

    func image(_ asset: AssetPath, size: PixelSize) throws -> Image {
        let key = Key(path: asset.path, size: size)
        if let image = scaled[key] { return image }
        guard let original = originals[asset.path] else {
            throw Failure(.internal, stage: "overlay", "the asset '\(asset.path)' was not opened")
        }
        let image = try original.scaled(to: size).inMemory()
        if scaled.count >= Self.keptSizes { scaled.removeAll() }
        scaled[key] = image
        return image
    }

    func image(_ key: KeptImageKey, make: () throws -> Image) throws -> Image {
        if let image = kept[key] { return image }
        let image = try make().inMemory()
        if kept.count >= Self.keptSizes { kept.removeAll() }
        kept[key] = image
        return image
    }
}
