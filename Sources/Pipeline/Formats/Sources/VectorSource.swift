// Drawings, which have pixels only when they are drawn.

package protocol VectorSource: SourceFormatDeclaration {}

extension VectorSource {
    package static var isOnRequest: Bool { true }
    package static var isVector: Bool { true }
    package static var previewShrinkFactors: [Int] { [1, 2, 4, 8] }

    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        memory(drawing: delivered)
    }

    /// Tiles, and layers of the drawing, which may be as large as the whole: three of them. A drawing with more, or with
    /// filters, may need more; then the worker is stopped.
    package static func memory(drawing size: PixelSize) -> Int { saturating(24 << 20, 16 * size.area) }
}
