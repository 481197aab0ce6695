// The part of a JPEG that is its gain map.
import Glibc
import Pipeline
import Stages
import System
import Vips

/// A rendition's gain map as it goes into the file.
struct GainMapPart {
    /// A JPEG with the metadata of the source's map.
    private let map: [UInt8]
    private let metadata: GainMapMetadata

    /// Bytes that it adds to the picture's file at most.
    var bytes: Int { map.count + Self.words }
    /// Bytes of the segments that tell of it.
    private static let words = 2000

    fileprivate init?(_ pixels: GainMapPixels, _ source: GainMapMetadata) throws {
        let metadata = source.complete(power: pow)
        guard let map = try JPEGGainMapFile.adding(metadata, to: pixels.encoded()) else {
            return nil
        }
        (self.map, self.metadata) = (map, metadata)
    }

    /// Puts it behind the picture that was written.
    /// - Returns: why that could not be done.
    func add(to output: OpenFile, _ rendition: RenditionPlan) throws -> [Warning] {
        let picture = try output.bytes(at: 0, count: output.status().bytes)
        guard let joined = JPEGGainMapFile.joined(picture, map, metadata) else {
            return [rendition.hdrDropped("the XMP beside it cannot be read, or leaves no room")]
        }
        try output.empty()
        try output.append(joined, for: BytePath(rendition.title))
        return []
    }
}

extension Renderer {
    /// - Parameter own: the parts that the rendition's stages have drawn.
    /// - Returns: also a warning if it has none that was planned.
    func gainMap(
        of rendition: RenditionPlan, _ starts: Starts, _ own: DrawnParts
    ) throws -> (part: GainMapPart?, warnings: [Warning]) {
        guard let plan = rendition.gainMap, let source = starts.gainMap else { return (nil, []) }
        let parts =
            sharedDrawings.parts.map { $0.part.seen(by: plan.toStage[$0.step]) }
            + own.parts.map { $0.part.seen(by: plan.toStage[self.plan.shared.count + $0.step]) }
        guard let pixels = source.following(plan, drawn: parts) else { return (nil, [rendition.hdrDroppedForNeutral]) }
        guard let part = try GainMapPart(pixels, source.metadata) else {
            return (nil, [rendition.hdrDropped("its gain map's metadata are too long")])
        }
        return (part, [])
    }
}
