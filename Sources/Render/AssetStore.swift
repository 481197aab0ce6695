// The pictures that a pipeline draws: decoded once, or drawn from shapes, and kept at the sizes that are asked for. And
// its tables of colors.
import Messages
import Pipeline
import Stages
import System
import Typesetting
import Vips

final class AssetStore: AssetProvider {
    private(set) var facts: [String: AssetFacts] = [:]
    private var originals: [String: Picture] = [:]
    private var vectors: [String: ProbedSource] = [:]
    private var tables: [String: ColorTable] = [:]
    private(set) var profiles: [String: ICCProfile] = [:]
    private var kept: [Key: Picture] = [:]
    private var keptBytes = 0
    /// By the path of a font file as the pipeline writes it; nil for the fonts that are installed.
    private var fonts: [String?: FontLibrary] = [:]
    /// Kept open for as long as their fonts are read.
    private var fontFiles: [OpenFile] = []
    /// Limits `keptBytes`: with percentages, an asset is drawn at as many sizes as there are sources.
    private var mostKeptBytes = 0

    private enum Key: Hashable {
        case asset(String, PixelSize)
        case made(KeptPictureKey)
    }

    func add(_ message: AssetMessage, _ file: OpenFile) throws {
        switch message.content {
        case .picture(let format, let pixelsPerPoint):
            try addPicture(message.path, file, format, pixelsPerPoint: pixelsPerPoint)
        case .colorTable: try addTable(message.path, file)
        case .font: try addFont(message.path, file)
        case .profile:
            let profile = try file.profile()
            profiles[message.path] = profile
            facts[message.path] = .file(bytes: profile.bytes.count)
        }
    }

    private func addTable(_ path: String, _ file: OpenFile) throws {
        do {
            let bytes = try file.colorTableBytes()
            let table = try ColorTable(cube: bytes)
            tables[path] = table
            facts[path] = table.facts(reading: bytes.count)
        } catch let error as ColorTableError {
            throw Failure(.corrupt, stage: "decode", error.message)
        }
    }

    /// Decodes an asset: upright, in sRGB, with the bits that it has.
    private func addPicture(_ path: String, _ file: OpenFile, _ format: SourceFormat, pixelsPerPoint: Int) throws {
        let source = try ProbedSource(file, format: format)
        let header = source.facts
        guard header.size.area <= Limits().maximumPixels else {
            throw Failure(
                .tooManyPixels, stage: "decode",
                "the asset has \(header.size) pixels; the limit is \(Limits().maximumPixels)")
        }
        if format.isVector { return try addVector(path, source, pixelsPerPoint: pixelsPerPoint) }
        let decoded = try source.decoded(source.reopened(shrink: 1, tolerance: .nothing), shrink: 1, .held)
        let picture = try Self.standard(decoded.upright(orientation: header.orientation)).inMemory()
        originals[path] = picture
        facts[path] = AssetFacts(
            size: picture.size, pixelsPerPoint: pixelsPerPoint, isGrey: picture.pixels.colour == .grey,
            depth: picture.pixels.depth, decoding: header.decodingBytes(to: picture.size.area * picture.pixels.bytes))
    }

    /// Measures a vector picture, and draws it once, to find out whether that can be done at all.
    private func addVector(_ path: String, _ source: ProbedSource, pixelsPerPoint: Int) throws {
        try source.reopened(shrink: 1, tolerance: .nothing).image.evaluated()
        let factor = Double(AssetFacts.measuringFactor)
        let size = try source.reopened(shrink: 1, factor: factor, tolerance: .nothing).size
        vectors[path] = source
        facts[path] = AssetFacts(
            size: size, pixelsPerPoint: pixelsPerPoint, isGrey: false, decoding: source.facts.decodingBytes(to: 0),
            isVector: true)
    }

    private static func standard(_ picture: Picture) throws -> Picture {
        try ColourConversion(profiles: ProfileBook()).convert(picture).picture
    }

    /// Keeps no more than so many bytes of pictures at the sizes at which they were drawn.
    func keep(atMost bytes: Int) {
        mostKeptBytes = bytes
        if keptBytes > bytes { (kept, keptBytes) = ([:], 0) }
    }

    /// Reads a font. The file has no name, and must not be found by one.
    private func addFont(_ path: String, _ file: OpenFile) throws {
        guard let library = FontLibrary(file: "/proc/self/fd/\(file.descriptor)") else {
            throw Failure(.corrupt, stage: "read", "it is not a font that can be read")
        }
        fonts[path] = library
        fontFiles.append(file)
        facts[path] = .file(bytes: try file.status().bytes)
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
            if let vector = vectors[asset.path] { return try draw(vector, asset, size) }
            guard let original = originals[asset.path] else {
                throw Failure(.internal, stage: "overlay", "the asset '\(asset.path)' was not opened")
            }
            return try original.scaled(to: size)
        }
    }

    private func draw(_ vector: ProbedSource, _ asset: AssetPath, _ size: PixelSize) throws -> Picture {
        let factor = facts[asset.path]?.drawingFactor(filling: size)
        let drawn = try Self.standard(vector.reopened(shrink: 1, factor: factor, tolerance: .nothing))
        // A side may be rounded the other way.
        guard abs(drawn.width - size.width) <= 1, abs(drawn.height - size.height) <= 1 else {
            return try drawn.scaled(to: size)
        }
        return try drawn.extended(to: size)
    }

    func table(_ path: ColorTablePath) throws -> ColorTable {
        guard let table = tables[path.path] else {
            throw Failure(.internal, stage: "lut", "the table '\(path.path)' was not opened")
        }
        return table
    }

    func picture(_ key: KeptPictureKey, make: () throws -> Picture) throws -> Picture { try keeping(.made(key), make) }

    /// A picture that was made before, or is made now and kept if there is room.
    private func keeping(_ key: Key, _ make: () throws -> Picture) throws -> Picture {
        if let picture = kept[key] { return picture }
        let picture = try make().inMemory()
        let bytes = picture.size.area * picture.pixels.bytes
        guard bytes <= mostKeptBytes else { return picture }
        if keptBytes + bytes > mostKeptBytes { (kept, keptBytes) = ([:], 0) }
        kept[key] = picture
        keptBytes += bytes
        return picture
    }
}
