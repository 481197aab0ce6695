// Animations whose decoders give one picture only: APNG, and the sequences of AVIF and HEIF.

/// Whether a file holds an animation that its decoder does not show.
package func hasHiddenFrames(_ format: SourceFormat, in source: ByteSource) -> Bool {
    switch format {
    case .png: (try? PNGChunks.isAnimated(source)) == true
    // Single pictures are items in `meta`; a sequence is a track, as in a film.
    case .avif, .heic: (try? ISOBoxes.first("moov", in: source)) != nil
    case .jpeg, .webp, .gif, .tiff, .svg, .pdf, .jxl, .jp2: false
    }
}
