/// JPEG XL, and what its decoder does.
package enum JPEGXLSource: SourceFormatDeclaration {
    package static let name = "jxl"
    package static let title = "JPEG XL"
    package static let signatures = [
        [mark(0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A)], [mark(0xFF, 0x0A)],
    ]
    package static let structure: any FileStructure.Type = JPEGXLHeader.self
    package static let unreadAnimation = title
    package static let deliveredFrame = "last"
    package static let isOnRequest = true
    package static let module: CodecModule? = .jxl

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { true }

    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        // Alpha beside lossy colors has buffers of its own for each of its passes.
        (source.hasAlpha ? 66 : source.depth == .eight ? 24 : 34) * source.size.area
    }
}

extension SourceFormat {
    package static let jxl = SourceFormat(JPEGXLSource.self)
}
