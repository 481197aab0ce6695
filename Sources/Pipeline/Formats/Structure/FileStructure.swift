// The reading of files by our own code, without decoding them.

/// A reader of the structure of files. It is given any bytes; those of another format are `malformed`.
package protocol FileStructure: Sendable {
    /// Width and height in pixels, of one frame.
    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int)
    /// Goes through the whole file, as far as its structure announces something.
    static func walk(_ source: ByteSource) throws(StructureError)
    /// The feature of a sound file that the decoder cannot read, worded to follow "found"; nil if none is known of the
    /// file. Asked only after a decoder has called a file damaged.
    static func unsupportedFeature(in source: ByteSource) throws(StructureError) -> String?
    /// Why a file is not given to the decoder, which would fall over it or give a wrong picture.
    /// - Parameter page: from 1.
    static func refusal(of page: Int, in source: ByteSource) throws(StructureError) -> Failure?
    /// Whether there is a color profile, good or bad: decoders drop some without a word. False if they give the profile
    /// as it is.
    static func hasProfile(_ source: ByteSource) throws(StructureError) -> Bool
    /// The colors of its numbers, as far as they are stated otherwise than by a profile; nil for sRGB too, if nothing
    /// else could be meant.
    /// - Parameter page: from 1.
    static func statedColor(of page: Int, in source: ByteSource) throws(StructureError) -> StatedColor?
    /// The picture besides a page that makes it HDR; nil if there is none.
    /// - Parameter page: from 1.
    static func gainMap(of page: Int, in source: ByteSource) throws(StructureError) -> GainMapFacts?
    /// The gain map as a file of its own.
    /// - Parameter format: of the source.
    static func gainMapFile(
        in source: ByteSource, of format: SourceFormat
    ) throws(StructureError) -> GainMapFile?
    /// The previews of the picture that are in its colors, whatever their shape.
    static func previews(in source: ByteSource) throws(StructureError) -> [EmbeddedPreview]
    /// A preview as a file of its own, in the source's format.
    static func file(of preview: EmbeddedPreview, in source: ByteSource) throws(StructureError) -> [UInt8]
    /// Whether there is an animation of which the decoder gives one picture only.
    static func hasHiddenFrames(_ source: ByteSource) throws(StructureError) -> Bool
    /// The first other file that it shows a part of, which is never read: the address as it is written.
    static func linkedFile(in source: ByteSource) -> String?
    /// The statements in a page's own tags, outside of all blocks of metadata.
    /// - Parameter page: from 1.
    static func statements(of page: Int, in source: ByteSource) throws(StructureError) -> Statements
    /// The texts of a PNG, and its EXIF.
    static func pngFacts(in source: ByteSource) throws(StructureError) -> PNGFacts
    /// The metadata of a page that neither libvips nor our own code reads, in words; nil if there are none.
    static func unreadMetadata(of page: Int, in source: ByteSource) throws(StructureError) -> String?
    /// Whether there is nothing but pixels and what decoders need for them, so that nothing has to be removed. False if
    /// that is not known.
    static func hasPixelsOnly(_ source: ByteSource) throws(StructureError) -> Bool
    /// The largest picture by the codec's own headers, if its decoder allocates by these.
    static func codedPicture(in source: ByteSource) throws(StructureError) -> CodedPicture?
    /// The strips or tiles that the pixels of a page are stored in, if its decoder holds some of them at a time.
    /// - Parameter page: from 1.
    static func storedParts(of page: Int, in source: ByteSource) throws(StructureError) -> StoredParts?
    /// How many passes over the picture there are, as far as the file goes.
    /// - Parameter limit: the count ends once it is above this.
    static func scans(in source: ByteSource, atMost limit: Int) -> Int
}

extension FileStructure {
    package static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        throw .malformed
    }
    package static func walk(_ source: ByteSource) throws(StructureError) { throw .malformed }
    package static func unsupportedFeature(in source: ByteSource) -> String? { nil }
    package static func refusal(of page: Int, in source: ByteSource) -> Failure? { nil }
    package static func hasProfile(_ source: ByteSource) -> Bool { false }
    package static func statedColor(of page: Int, in source: ByteSource) -> StatedColor? { nil }
    package static func gainMap(of page: Int, in source: ByteSource) -> GainMapFacts? { nil }
    package static func gainMapFile(in source: ByteSource, of format: SourceFormat) -> GainMapFile? { nil }
    package static func previews(in source: ByteSource) -> [EmbeddedPreview] { [] }
    package static func file(of preview: EmbeddedPreview, in source: ByteSource) throws(StructureError) -> [UInt8] {
        throw .malformed
    }
    package static func hasHiddenFrames(_ source: ByteSource) -> Bool { false }
    package static func linkedFile(in source: ByteSource) -> String? { nil }
    package static func statements(of page: Int, in source: ByteSource) -> Statements { Statements() }
    package static func pngFacts(in source: ByteSource) -> PNGFacts { PNGFacts() }
    package static func unreadMetadata(of page: Int, in source: ByteSource) -> String? { nil }
    package static func hasPixelsOnly(_ source: ByteSource) -> Bool { false }
    package static func codedPicture(in source: ByteSource) -> CodedPicture? { nil }
    package static func storedParts(of page: Int, in source: ByteSource) -> StoredParts? { nil }
    package static func scans(in source: ByteSource, atMost limit: Int) -> Int { 0 }
}

/// The structure of files that only their decoder knows.
enum UnreadStructure: FileStructure {}
