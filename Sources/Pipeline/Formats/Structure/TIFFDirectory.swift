// A directory of a TIFF: the fields of one page, sorted by their tags.

/// The fields of one page, or of something that belongs to it.
struct TIFFDirectory {
    /// As many as libtiff reads.
    private static let mostFields = 65_535

    /// The first field of each tag: libtiff ignores later ones too.
    let fields: [TIFFTag: TIFFField]
    /// Bytes that the directory itself takes, without values that are elsewhere.
    let bytes: Int
    /// The offset of the next page's directory; 0 after the last.
    let next: Int

    /// Whether the values of all fields, known here or not, are inside the file.
    let hasAllValues: Bool
    /// The same for fields that are known here.
    let hasKnownValues: Bool

    init(at offset: Int, in source: ByteSource, _ layout: TIFFLayout) throws(StructureError) {
        guard let count = source.integer(at: offset, bytes: layout.fieldCountBytes, layout.order), count > 0 else {
            throw .endsEarly
        }
        guard count <= Self.mostFields else { throw .malformed }
        bytes = layout.fieldCountBytes + count * layout.fieldBytes + layout.offsetBytes
        guard bytes <= source.count - offset else { throw .endsEarly }

        var reader = ForwardReader(source, in: offset + layout.fieldCountBytes..<offset + bytes)
        var fields: [TIFFTag: TIFFField] = [:]
        var (hasAllValues, hasKnownValues) = (true, true)
        for _ in 0..<count {
            let tag = TIFFTag(rawValue: try reader.integer(bytes: 2, layout.order))
            let field = try TIFFField(from: &reader, layout)
            let isInside = field.isInside(source)
            hasAllValues = hasAllValues && isInside
            hasKnownValues = hasKnownValues && (isInside || tag == nil)
            if let tag, fields[tag] == nil { fields[tag] = field }
        }
        self.fields = fields
        (self.hasAllValues, self.hasKnownValues) = (hasAllValues, hasKnownValues)
        next = try reader.integer(bytes: layout.offsetBytes, layout.order)
    }
}

extension TIFFDirectory {
    /// The first number of a field; nil if there is none.
    func number(_ tag: TIFFTag, in source: ByteSource) -> Int? {
        guard let field = fields[tag], field.count > 0, var numbers = try? field.numbers(in: source) else { return nil }
        return try? numbers.next()
    }
}

/// The tags that are read here.
enum TIFFTag: Int {
    /// In the directory of interoperability only.
    case interoperabilityIndex = 1
    case newSubfileType = 254
    case imageWidth = 256
    case imageLength = 257
    case bitsPerSample = 258
    case compression = 259
    case photometricInterpretation = 262
    case imageDescription = 270
    case make = 271
    case model = 272
    case stripOffsets = 273
    case orientation = 274
    case rowsPerStrip = 278
    case stripByteCounts = 279
    case planarConfiguration = 284
    case software = 305
    case artist = 315
    case tileWidth = 322
    case tileLength = 323
    case tileOffsets = 324
    case tileByteCounts = 325
    case subdirectories = 330
    case extraSamples = 338
    case sampleFormat = 339
    case thumbnailOffset = 513
    case thumbnailBytes = 514
    case xmp = 700
    case copyright = 33_432
    case iptc = 33_723
    case photoshop = 34_377
    case exifDirectory = 34_665
    case locationDirectory = 34_853
    case makerNote = 37_500
    case userComment = 37_510
    // Windows' own tags, in UTF-16.
    case windowsTitle = 40_091
    case windowsComment = 40_092
    case windowsAuthor = 40_093
    case windowsKeywords = 40_094
    case windowsSubject = 40_095
    case colorSpace = 40_961
    case pixelXDimension = 40_962
    case pixelYDimension = 40_963
    case interoperabilityDirectory = 40_965
    case cameraOwnerName = 42_032
    case bodySerialNumber = 42_033
    case lensModel = 42_036
    // In DNG only.
    case digitalNegativeVersion = 50_706
    case defaultCropSize = 50_720
    case previewColorSpace = 50_970
    case defaultUserCrop = 51_125
    /// In DNG too: a maker's notes.
    case privateData = 50_740
}
