/// TIFF, and what its decoder does. `guessFormat` tells it from the camera formats that are built on it.
package enum TIFFSource: SourceFormatDeclaration {
    package static let name = "tiff"
    package static let title = "TIFF"
    package static let fileExtensions = ["tif", "tiff"]
    package static let structure: any FileStructure.Type = TIFFPages.self

    private static let largestPart = 1e11

    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        guard let parts = source.parts else { return source.pixelBytes }
        // A file may claim parts of any size; those beyond what any machine has count as that.
        let bytesForPixel = Double(source.pixelBytes) / Double(source.size.area)
        let wider = Double(max(1, parts.sampleBytes / source.depth.bytes))
        let part = Int(min(Double(parts.size.area) * bytesForPixel * wider, Self.largestPart))
        // Noise becomes larger than it was.
        let packed = parts.arePacked ? min(source.bytes == 0 ? .max : source.bytes, part / 2 * 3) : 0
        if parts.areTiles {
            // Two rows of them.
            let across = (source.size.width + parts.size.width - 1) / parts.size.width
            return saturating(2 * across * part, packed)
        }
        // A single strip is read row by row.
        let unpacked = parts.size.height >= source.size.height ? 0 : part * (parts.haveOneBand ? 2 : 1)
        return saturating(unpacked, packed)
    }
}

extension SourceFormat {
    package static let tiff = SourceFormat(TIFFSource.self)
}
