/// Raw files of cameras: what a sensor has measured, and beside it a finished picture. `guessFormat` knows them by their
/// makers' marks.
package enum RawSource: SourceFormatDeclaration {
    package static let name = "raw"
    package static let title = "camera raw"
    package static let mediaType = "image/x-dcraw"
    package static let fileExtensions = [
        "3fr", "arw", "cr2", "cr3", "crw", "dcr", "dng", "erf", "fff", "iiq", "kdc", "mef", "mos", "mrw", "nef", "nrw",
        "orf", "pef", "raf", "raw", "rw2", "rwl", "sr2", "srf", "srw", "x3f",
    ]
    package static let canHaveAlpha = false
    package static let structure: any FileStructure.Type = RawStructure.self
    package static let isOnRequest = true
    package static let module: CodecModule? = .raw

    /// LibRaw makes one pixel of 2 × 2 places of the sensor, and libjpeg shrinks previews.
    package static func shrinkFactors(of source: SourceFacts) -> [Int] {
        switch source.raw {
        case .preview: previewShrinkFactors
        case .development(canBeHalved: true): [1, 2]
        case .development, nil: [1]
        }
    }

    package static var previewShrinkFactors: [Int] { [1, 2, 4, 8] }

    package static func isDecodedAsAWhole(_ source: SourceFacts) -> Bool { source.isInterlaced || isDeveloped(source) }

    package static func isUnpackedAtOnce(_ source: SourceFacts) -> Bool { isDeveloped(source) }

    private static func isDeveloped(_ source: SourceFacts) -> Bool {
        if case .development = source.raw { true } else { false }
    }

    /// The file and its preview, or the preview twice; and LibRaw.
    package static func memory(keeping source: SourceFacts) -> Int { saturating(2 * source.bytes, 12 << 20) }

    /// Developing holds two bytes for each place of the sensor, as much again while they are unpacked, eight bytes for each
    /// pixel while colors are made, and the result twice. An interlaced preview has all of its coefficients in memory.
    package static func memory(decoding source: SourceFacts, shrink: Int, to delivered: PixelSize) -> Int {
        guard isDeveloped(source) else { return source.isInterlaced ? 6 * source.size.area : 0 }
        let sensor = source.coded?.size.area ?? source.size.area
        return [6 * sensor, 16 * delivered.area].reduce(24 << 20, saturating)
    }
}

extension SourceFormat {
    package static let raw = SourceFormat(RawSource.self)
}

/// The part of a raw file that its pixels are made of.
package enum RawReading: Hashable, Codable, Sendable {
    /// A preview as large as the photo.
    case preview
    /// The sensor's measurements.
    case development(canBeHalved: Bool)
}

/// The policy for raw files and the finished pictures in and beside them.
package enum RawUse: String, ParameterWord {
    /// The finished picture is used wherever it is large enough, and a JPEG of the same name is taken instead of the file.
    case preview
    /// The same, but a JPEG of the same name is passed over.
    case prefer
    /// Neither of them is used.
    case develop
}
