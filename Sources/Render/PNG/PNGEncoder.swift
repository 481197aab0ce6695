// PNG by libdeflate, which is several times as fast as zlib, for pictures that are held in memory as a whole. libpng,
// through libvips, saves what is larger, interlaced or has a palette.
import CDeflate
import Pipeline
import System
import Vips

/// Encodes one picture.
///
/// Rows are packed plain or as differences from their neighbours (filtered). Differences halve photos and gradients,
/// and make drawings larger; a sample of the rows tells which picture this is.
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
    private static let filteredLevels: [CInt] = [0, 1, 1, 1, 1, 2, 2, 5, 8, 9]
    /// The same for photos, which the sample recognizes. Their filtered rows are mostly noise, so a higher level makes
    /// them hardly smaller.
    private static let noiseLevels: [CInt] = [0, 1, 1, 1, 1, 1, 1, 5, 8, 9]
    private static let trialLevel: CInt = 4

    private func pack(_ pixels: UnsafeRawBufferPointer) throws -> [UInt8] {
        let plain = { (rows: [Range<Int>]) in self.rows.plain(pixels, rows) }
        let filtered = { (rows: [Range<Int>]) in self.rows.filtered(pixels, rows) }
        let plainLevel = Self.plainLevels[compression]
        let all = [0..<rows.height]
        guard compression > 0 else { return try packed(plain(all), 0) }
        if let sample = rows.sample {
            let (asIs, asDifferences) = (try packed(plain(sample), 1).count, try packed(filtered(sample), 1).count)
            let bytes = sample.map(\.count).reduce(0, +) * (rows.bytes + 1)
            // A picture that packs well is packed fast, so it is looked at as a whole; else the sample is believed if
            // it is clear.
            let isClear =
                min(asIs, asDifferences) * 4 > bytes && max(asIs, asDifferences) * 8 > min(asIs, asDifferences) * 9
            if isClear {
                return asIs < asDifferences
                    ? try packed(plain(all), plainLevel) : try packed(filtered(all), Self.noiseLevels[compression])
            }
        }
        // One after the other: rows of both kinds would be as much again in memory.
        let asDifferences = try packed(filtered(all), Self.filteredLevels[compression])
        let asIs = plain(all)
        // Higher levels make plain rows some hundredths smaller than this one, seldom a tenth.
        if plainLevel > Self.trialLevel, compression <= 6,
            try packed(asIs, Self.trialLevel).count * 10 > asDifferences.count * 11
        {
            return asDifferences
        }
        let thorough = try packed(asIs, plainLevel)
        return thorough.count < asDifferences.count ? thorough : asDifferences
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
