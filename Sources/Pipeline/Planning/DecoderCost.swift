// What the decoders of sources hold in memory: bounds, measured with noise, which packs worst.

extension SourceFacts {
    /// Bytes of a WebP up to which it is decoded from memory by libwebp itself.
    package static let mostBytesOfWebP = 64 << 20

    /// The decoder is one of this program: it delivers all pixels at once, and holds nothing afterwards. Decoders of
    /// libvips hold what they need until the last row was read.
    package var isUnpackedAtOnce: Bool {
        switch format {
        case .png: !isInterlaced && isDecodedAsAWhole
        case .webp: page == nil && bytes <= Self.mostBytesOfWebP
        case .jpeg, .gif, .tiff, .heic, .avif, .svg, .pdf, .jxl, .jp2: false
        }
    }

    /// Bytes that the decoder holds at most while it works, besides what it delivers.
    /// - Parameters:
    ///   - shrink: how many pixels of the source, along a side, it makes one of.
    ///   - drawn: the size at which a vector picture is drawn.
    func decoderBytes(shrink: Int, drawn: PixelSize) -> Int {
        let pixels = size.area
        switch format {
        // The coefficients of the whole picture, 16 bits each, whatever the size of the result.
        case .jpeg: return isInterlaced ? 2 * bands * pixels : 0
        case .png:
            guard isUnpackedAtOnce else { return isInterlaced ? pixelBytes : 0 }
            // The file, its pixels as they are packed, in one piece, and the rows with their filters. The result comes
            // after the second of these.
            let file = bytes == 0 ? pixelBytes : min(bytes, 17 * pixelBytes / 16)
            return file + max(0, file - pixelBytes) + pixelBytes + (128 << 10)
        case .webp: return saturating(bytes, webPBytes(shrink: shrink))
        // The file, and two frames.
        case .gif: return saturating(bytes, 4 * 2 * (pixels / (shrink * shrink)))
        case .tiff: return tiffBytes
        // The decoder's planes, and the same as RGB: as wide samples, and as many in a pixel, as its header says.
        case .heic, .avif:
            return (coded?.depth ?? depth).bytes * (coded?.hasFullChroma == false && !hasAlpha ? 10 : 13)
                * max(pixels, coded?.size.area ?? 0)
        // Tiles, and layers of the drawing, which may be as large as the whole: three of them. A drawing with more, or
        // with filters, may need more; then the worker is stopped.
        case .svg, .pdf: return saturating(24 << 20, 16 * drawn.area)
        case .jxl, .jp2: return 24 * pixels
        }
    }

    private func webPBytes(shrink: Int) -> Int {
        // The frame that is drawn, the one before, and the part that has changed.
        guard !isAnimated, let coded else { return (isAnimated ? 12 : 13) * size.area }
        // All pixels, of which means are made afterwards, unless these are made of the planes of colors.
        let whole = shrink > 1 ? bands : 0
        if coded.hasFullChroma { return (9 + whole) * size.area }
        return hasAlpha ? (5 + whole) * size.area : (shrink > 1 ? 2 : 1) * size.area
    }

    private var tiffBytes: Int {
        guard let parts else { return pixelBytes }
        let part = parts.size.area * pixelBytes / size.area
        // Noise becomes larger than it was.
        let packed = parts.arePacked ? min(bytes == 0 ? .max : bytes, part / 2 * 3) : 0
        if parts.areTiles {
            // Two rows of them.
            let across = (size.width + parts.size.width - 1) / parts.size.width
            return saturating(2 * across * part, packed)
        }
        // A single strip is read row by row.
        let unpacked = parts.size.height >= size.height ? 0 : part * (parts.haveOneBand ? 2 : 1)
        return saturating(unpacked, packed)
    }
}
