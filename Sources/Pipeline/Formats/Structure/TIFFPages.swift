// The pages of a TIFF: their size, and whether all that belongs to them is there.

enum TIFFPages: FileStructure {
    /// As many as libtiff reads.
    private static let mostDirectories = 65_535
    /// As many samples as a pixel can have.
    private static let mostExtraSamples = 65_535

    /// The size of the first page, as it is stored.
    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        let layout = try TIFFLayout(of: source)
        let page = try TIFFDirectory(at: layout.firstDirectory(in: source), in: source, layout)
        return (try page.needed(.imageWidth, in: source), try page.needed(.imageLength, in: source))
    }

    /// A page, from 1.
    private static func page(_ number: Int, _ source: ByteSource) throws(StructureError) -> TIFFDirectory {
        let layout = try TIFFLayout(of: source)
        var page = try TIFFDirectory(at: layout.firstDirectory(in: source), in: source, layout)
        for _ in 1..<max(1, min(number, mostDirectories)) where page.next != 0 {
            page = try TIFFDirectory(at: page.next, in: source, layout)
        }
        return page
    }

    /// The samples of a page that are no colors, in the order of the bands.
    static func extraSamples(page number: Int, _ source: ByteSource) throws(StructureError) -> [ExtraSample] {
        guard let field = try page(number, source).fields[.extraSamples] else { return [] }
        var numbers = try field.numbers(in: source)
        var samples: [ExtraSample] = []
        for _ in 0..<min(field.count, mostExtraSamples) {
            samples.append(ExtraSample(rawValue: try numbers.next()) ?? .alpha)
        }
        return samples
    }

    static func statements(of number: Int, in source: ByteSource) throws(StructureError) -> Statements {
        Statements(try page(number, source), in: source)
    }

    static func unreadMetadata(of number: Int, in source: ByteSource) throws(StructureError) -> String? {
        let fields = try page(number, source).fields
        let hasSome = fields[.exifDirectory] != nil || fields[.locationDirectory] != nil
        return hasSome ? "EXIF in directories of its own" : nil
    }

    /// libtiff gives the numbers of YCbCr without JPEG's compression as they are.
    static func refusal(of number: Int, in source: ByteSource) throws(StructureError) -> Failure? {
        let page = try page(number, source)
        let (ycbcr, jpegs) = (6, [6, 7])
        guard try page.needed(.photometricInterpretation, in: source) == ycbcr else { return nil }
        // Without the tag there is no compression.
        if page.fields[.compression] != nil, jpegs.contains(try page.needed(.compression, in: source)) { return nil }
        return Failure(
            .unsupportedColour, stage: "read", "expected gray, RGB, CMYK or Lab, found YCbCr without JPEG's compression"
        )
    }

    /// The strips or tiles that the pixels of a page are stored in.
    static func storedParts(of number: Int, in source: ByteSource) throws(StructureError) -> StoredParts? {
        let page = try page(number, source)
        func value(_ tag: TIFFTag, default usual: Int) throws(StructureError) -> Int {
            page.fields[tag] == nil ? usual : try page.needed(tag, in: source)
        }
        func side(_ number: Int) -> Int { max(1, min(number, maximumCoordinate)) }
        let width = try page.needed(.imageWidth, in: source)
        let height = try page.needed(.imageLength, in: source)
        let (isPlain, isApart) = (1, 2)
        let areTiles = page.fields[.tileWidth] != nil && page.fields[.tileLength] != nil
        // A strip may say that it has more rows than there are.
        let size =
            areTiles
            ? PixelSize(
                side(try page.needed(.tileWidth, in: source)), side(try page.needed(.tileLength, in: source)))
            : PixelSize(side(width), side(min(height, try value(.rowsPerStrip, default: height))))
        return StoredParts(
            size: size, areTiles: areTiles, arePacked: try value(.compression, default: isPlain) != isPlain,
            haveOneBand: try value(.planarConfiguration, default: 1) == isApart,
            sampleBytes: max(1, min(try value(.bitsPerSample, default: 1) / 8, StoredParts.mostSampleBytes)))
    }

    /// Looks whether all directories, their values and the pixels they list lie inside the file.
    static func walk(_ source: ByteSource) throws(StructureError) { try walk(source, needsPixels: true) }

    /// - Parameter needsPixels: the first directory is of a page, not of what belongs to all. Cameras that write others
    ///   also write fields of their own that lead nowhere.
    static func walk(_ source: ByteSource, needsPixels: Bool) throws(StructureError) {
        let layout = try TIFFLayout(of: source)
        var pending = [try layout.firstDirectory(in: source)]
        guard pending != [0] else { throw .endsEarly }
        // Nothing in a sound file is listed twice, so its lists are not longer than the file. Hostile ones may overlap,
        // or go round.
        var bytesLeft = source.count
        var directoriesLeft = mostDirectories
        while let offset = pending.popLast() {
            let directory = try TIFFDirectory(at: offset, in: source, layout)
            guard needsPixels ? directory.hasAllValues : directory.hasKnownValues else { throw .endsEarly }
            let isFirst = directoriesLeft == mostDirectories
            guard directory.pixelPlaces != nil || !isFirst || !needsPixels else { throw .malformed }
            bytesLeft -= directory.listedBytes
            directoriesLeft -= 1
            guard bytesLeft >= 0, directoriesLeft >= 0 else { throw .malformed }
            try directory.checkPixels(in: source)
            pending += try directory.others(in: source, atMost: directoriesLeft - pending.count)
        }
    }
}

/// The parts that a TIFF's pixels are stored in. Its decoder holds some of them at a time.
package struct StoredParts: Hashable, Sendable, Codable {
    /// The size of a tile, or of a strip, which is as wide as the picture.
    package let size: PixelSize
    package let areTiles: Bool
    /// They are compressed.
    package let arePacked: Bool
    /// Each has the numbers of one band only.
    package let haveOneBand: Bool
    /// Bytes of a number, which may be more than those of the picture's depth: floating point is made 16 bits.
    package let sampleBytes: Int
    /// Complex numbers of double precision.
    package static let mostSampleBytes = 16

    package init(
        size: PixelSize, areTiles: Bool = false, arePacked: Bool = false, haveOneBand: Bool = false,
        sampleBytes: Int = 1
    ) {
        (self.size, self.areTiles, self.arePacked, self.haveOneBand) = (size, areTiles, arePacked, haveOneBand)
        self.sampleBytes = sampleBytes
    }
}

/// A sample of a TIFF's pixels that is no color, by TIFF's numbers.
package enum ExtraSample: Int {
    /// Nothing that is known: a saved selection, a mask, depth.
    case unspecified
    /// Alpha that the colors are multiplied by.
    case multipliedAlpha
    case alpha

    package var isAlpha: Bool { self != .unspecified }
}

extension TIFFSource {
    /// The samples of a page that are no colors, in the order of the bands; empty if the file does not say.
    package static func extraSamples(page: Int, _ source: ByteSource) -> [ExtraSample] {
        (try? TIFFPages.extraSamples(page: page, source)) ?? []
    }
}

extension TIFFDirectory {
    fileprivate func needed(_ tag: TIFFTag, in source: ByteSource) throws(StructureError) -> Int {
        guard let field = fields[tag], field.count > 0 else { throw .malformed }
        var numbers = try field.numbers(in: source)
        return try numbers.next()
    }

    /// Where the strips or tiles are, and how long.
    fileprivate var pixelPlaces: (offsets: TIFFField, byteCounts: TIFFField)? {
        guard let offsets = fields[.stripOffsets] ?? fields[.tileOffsets],
            let byteCounts = fields[.stripByteCounts] ?? fields[.tileByteCounts]
        else { return nil }
        return (offsets, byteCounts)
    }

    /// The offsets of directories that belong to this one.
    private var pointers: [TIFFField] {
        [fields[.subdirectories], fields[.exifDirectory], fields[.locationDirectory]].compactMap(\.self)
    }

    /// Bytes of the directory and of the lists that are gone through, all of which are inside the file.
    fileprivate var listedBytes: Int {
        let lists = pointers + [pixelPlaces?.offsets, pixelPlaces?.byteCounts].compactMap(\.self)
        return lists.reduce(bytes) { $0 + $1.count * $1.valueBytes }
    }

    /// A strip of no bytes is one that was left out, wherever it is said to be.
    fileprivate func checkPixels(in source: ByteSource) throws(StructureError) {
        guard let places = pixelPlaces else { return }
        var offsets = try places.offsets.numbers(in: source)
        var byteCounts = try places.byteCounts.numbers(in: source)
        for _ in 0..<min(offsets.count, byteCounts.count) {
            let offset = try offsets.next()
            let byteCount = try byteCounts.next()
            guard byteCount == 0 || offset <= source.count && byteCount <= source.count - offset else {
                throw .endsEarly
            }
        }
    }

    /// The offsets of the directories that this one leads to.
    fileprivate func others(in source: ByteSource, atMost most: Int) throws(StructureError) -> [Int] {
        var offsets = [next]
        for pointer in pointers {
            var numbers = try pointer.numbers(in: source)
            guard numbers.count <= most else { throw .malformed }
            for _ in 0..<numbers.count { offsets.append(try numbers.next()) }
        }
        return offsets.filter { $0 != 0 }
    }
}
