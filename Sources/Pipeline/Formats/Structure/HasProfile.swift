// Whether a file has a colour profile, good or bad: decoders drop some without a word.

/// Whether a PNG or a JPEG has something for a colour profile. False for other formats, whose decoders give the profile
/// as it is.
package func hasProfile(_ format: SourceFormat, in source: ByteSource) -> Bool {
    switch format {
    case .png: (try? PNGChunks.hasProfile(source)) == true
    case .jpeg: (try? JPEGMarkers.hasProfile(source)) == true
    case .webp, .gif, .tiff, .heic, .avif, .svg, .pdf, .jxl, .jp2: false
    }
}
