/// How much one source may cost. Checked from the header, before any pixel exists.
package struct Limits: Hashable, Sendable, Codable {
    /// Pixels of a source, all frames that are loaded together, and of every picture made of it.
    package var maximumPixels = 100_000_000
    package var maximumFrames = 500
    /// Passes of a progressive JPEG, each of which is decoded over all pixels. Programs make some ten.
    package var maximumScans = 500
    package var maximumSourceBytes = 512 << 20
    /// Bytes of memory for all workers together.
    package var maximumMemory = 2 << 30
    /// Bytes of one rendition's file.
    package var maximumOutputBytes = 2 << 30

    package init() {}
}
