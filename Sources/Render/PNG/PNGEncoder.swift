// PNG by libdeflate, which is several times as fast as zlib, for pictures that are held in memory as a whole. libpng,
// through libvips, saves what is larger, interlaced or has a palette.
import CDeflate
import Pipeline
import System
import Vips

/// Encodes one picture.
///
/// Rows are packed plain or as differences from their neighbours (filtered). Differences halve photos and gradients,
/// and make drawings larger. The number of pixels that repeat a neighbor, and the size of the differences, tell which
/// picture this is; where they do not, rows are packed both ways.
struct PNGEncoder {
    private let picture: Image
    private let rows: PNGRows
    /// 0 to 9.
    private let compression: Int

    /// Computes the picture, unless it is in memory.
    /// - Parameter planned: the picture that memory was reserved for.
    /// - Returns: nil if libpng has to save it.
    init?(_ picture: Image, _ options: PNGOutput, planned: PictureInfo) throws(VipsError) {
        let kinds: Set<Interpretation> = [.bw, .grey16, .srgb, .rgb16]
        guard options.takesWhole(bytes: max(planned.bytes, picture.bytes)), kinds.contains(picture.interpretation),
            let depth = BitDepth(picture.format)
        else {
            return nil
        }
        self.picture = try picture.inMemory()
        rows = PNGRows(width: picture.width, height: picture.height, bands: picture.bands, bytesPerSample: depth.bytes)
        compression = options.compression
    }

    /// - Parameter strip: leaves all metadata out but the resolution.
    func save(to output: OpenFile, strip: Bool) throws {
        let metadata = strip ? try PNGMetadata(resolutionOf: picture) : try PNGMetadata(of: picture)
        let packed = try picture.withPixels { try pack($0) }
        let header = PNGChunk("IHDR", PNGChunk.bigEndian(rows.width) + PNGChunk.bigEndian(rows.height) + rows.kind)
        let pixels = PNGChunk("IDAT", packed)
        let end = PNGChunk("IEND", [])
        // The packed pixels, which may be large, are not copied once more.
        for part in [
            PNGChunk.signature + header.bytes + metadata.first + pixels.head, packed,
            pixels.tail + metadata.last + end.bytes,
        ] {
            try output.append(part, for: BytePath("rendition"))
        }
    }

    // MARK: - Packing

    /// libdeflate's levels for `compression` 0 to 9.
    private static let plainLevels: [CInt] = [0, 1, 2, 4, 5, 6, 7, 8, 9, 9]
    private static let filteredLevels: [CInt] = [0, 1, 1, 2, 3, 4, 5, 6, 8, 9]
    /// The same for photos. Their filtered rows are mostly noise, so a higher level makes them hardly smaller.
    private static let noiseLevels: [CInt] = [0, 1, 1, 1, 1, 1, 1, 5, 8, 9]

    private func pack(_ pixels: UnsafeRawBufferPointer) throws -> [UInt8] {
        let all = [0..<rows.height]
        guard compression > 0 else { return try packed(rows.plain(pixels, all), 0) }
        let sample = rows.sample
        let repeats = rows.repeats(pixels, sample ?? all)
        let (judged, difference) = rows.filtered(pixels, sample ?? all)
        let isSmooth = difference < (rows.bytesPerSample == 1 ? 16 : 40)
        // Not both at a time: rows of both kinds would be as much again in memory.
        let known = sample == nil ? judged : nil
        let differences = { try self.packed(known ?? self.rows.filtered(pixels, all).rows, $0) }
        let plain = { try self.packed(self.rows.plain(pixels, all), Self.plainLevels[self.compression]) }

        if isSmooth && repeats.either < 0.2 { return try differences(Self.noiseLevels[compression]) }
        let level = Self.filteredLevels[compression]
        // In a small picture, packing finds again by itself where the like was; in a large one that may be too far.
        if isSmooth && repeats.either < (sample == nil ? 0.5 : 0.8) { return try differences(level) }
        let asIs = try plain()
        let isFlat = sample == nil && repeats.either >= 0.8 && repeats.both >= 0.5
        if isFlat && asIs.count * 6 < pixels.count { return asIs }
        let asDifferences = try differences(level)
        return asIs.count < asDifferences.count ? asIs : asDifferences
    }

    private func packed(_ bytes: [UInt8], _ level: CInt) throws -> [UInt8] {
        guard let compressor = libdeflate_alloc_compressor(level) else {
            throw Failure(.encodingFailed, stage: "save", "no memory to pack a PNG")
        }
        defer { libdeflate_free_compressor(compressor) }
        let bound = libdeflate_zlib_compress_bound(compressor, bytes.count)
        return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            count = libdeflate_zlib_compress(compressor, bytes, bytes.count, buffer.baseAddress, bound)
        }
    }
}

extension BitDepth {
    /// nil for numbers that PNG cannot hold.
    fileprivate init?(_ format: BandFormat) {
        switch format {
        case .uchar: self = .eight
        case .ushort: self = .sixteen
        default: return nil
        }
    }
}
