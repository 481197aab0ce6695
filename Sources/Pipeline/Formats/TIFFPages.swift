// The pixels of a TIFF: strips or tiles, whose places in the file each page's directory lists.

enum TIFFPages {
    /// As many as libtiff reads.
    private static let mostPages = 65_535

    /// Looks whether the strips or tiles of all pages lie inside the file.
    static func walk(_ source: ByteSource) throws(StructureError) {
        let layout = try TIFFLayout(of: source)
        var next = try layout.firstDirectory(in: source)
        guard next > 0 else { throw .endsEarly }
        // Nothing in a sound file is listed twice, so its lists are not longer than the file. Hostile ones may overlap, or go round.
        var bytesLeft = source.count
        var pagesLeft = mostPages
        while next > 0 {
            let page = try TIFFDirectory(at: next, in: source, layout)
            let pixels = try PixelPlaces(of: page)
            bytesLeft -= page.bytes
            pagesLeft -= 1
            guard pagesLeft >= 0, pixels.listBytes <= bytesLeft else { throw .malformed }
            bytesLeft -= pixels.listBytes
            try pixels.check(source, layout.order)
            next = page.next
        }
    }
}

/// Where the strips or tiles of a page are, and how long.
private struct PixelPlaces {
    private let offsets: TIFFField
    private let byteCounts: TIFFField

    init(of page: TIFFDirectory) throws(StructureError) {
        guard let offsets = page.fields[.stripOffsets] ?? page.fields[.tileOffsets],
            let byteCounts = page.fields[.stripByteCounts] ?? page.fields[.tileByteCounts]
        else { throw .malformed }
        self.offsets = offsets
        self.byteCounts = byteCounts
    }

    /// Bytes of the two lists; too many for an `Int` become the largest.
    var listBytes: Int {
        let (bytes, overflow) = count.multipliedReportingOverflow(by: offsets.valueBytes + byteCounts.valueBytes)
        return overflow ? .max : bytes
    }

    private var count: Int { min(offsets.count, byteCounts.count) }

    /// A strip of no bytes is one that was left out, wherever it is said to be.
    func check(_ source: ByteSource, _ order: ByteOrder) throws(StructureError) {
        var offsets = try self.offsets.values(in: source)
        var byteCounts = try self.byteCounts.values(in: source)
        for _ in 0..<count {
            let offset = try offsets.integer(bytes: self.offsets.valueBytes, order)
            let byteCount = try byteCounts.integer(bytes: self.byteCounts.valueBytes, order)
            guard byteCount == 0 || offset <= source.count && byteCount <= source.count - offset else { throw .endsEarly }
        }
    }
}
