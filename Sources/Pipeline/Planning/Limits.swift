// The limits of one source: how much it may cost.

/// Checked from the header, before any pixel exists, and again while the work goes on.
package struct Limits: Hashable, Sendable, Codable {
    /// The formats on request that are read.
    package var allowed: Set<SourceFormat> = []
    /// Pixels of a source, all frames that are loaded together, and of every picture made of it.
    package var maximumPixels = 100_000_000
    /// Pixels of a side of a source.
    package var maximumSide = 100_000
    /// Bands of a source, alpha among them. CMYK with alpha has as many.
    package var maximumBands = 5
    package var maximumFrames = 500
    /// Passes of a progressive JPEG, each of which is decoded over all pixels. Programs make some ten.
    package var maximumScans = 500
    package var maximumSourceBytes = 512 << 20
    /// Bytes of a source's EXIF, XMP, IPTC and texts.
    package var maximumMetadataBytes = 32 << 20
    /// Bytes of a source's colour profile. Those of presses have up to 3 MB.
    package var maximumProfileBytes = 4 << 20
    /// Bytes of one rendition's file.
    package var maximumOutputBytes = 2 << 30
    /// Wall time for a source, besides what its pixels may take.
    package var maximumMilliseconds = 60_000
    /// Processor time for a source, of all threads together, besides what its pixels may take.
    package var maximumProcessorMilliseconds = 120_000
    /// Bytes of memory for all workers together.
    package var maximumMemory = 2 << 30

    package init() {}
}
