// The markers of a JPEG: 0xFF, a code, and for most of them a length and that many bytes.
// ITU-T T.81 annex B: https://www.w3.org/Graphics/JPEG/itu-t81.pdf

/// The markers of a JPEG in their order. Bytes between two of them, such as entropy-coded data, are passed over.
struct JPEGMarkers: FileStructure {
    private static let startOfImage: UInt8 = 0xD8
    private static let endOfImage: UInt8 = 0xD9
    private static let startOfScan: UInt8 = 0xDA
    private static let applicationSegment1: UInt8 = 0xE1
    private static let applicationSegment2: UInt8 = 0xE2

    private var reader: ForwardReader
    private var segmentEnd: Int

    init(of source: ByteSource) throws(StructureError) {
        reader = ForwardReader(source)
        try reader.expect([0xFF, Self.startOfImage])
        segmentEnd = reader.position
    }

    /// The feature that decoders do not read: they know the processes baseline, extended and progressive, by Huffman or
    /// arithmetic codes, of 8 bits. Medicine uses lossless and hierarchical JPEG, and 12 bits.
    static func unsupportedFeature(in source: ByteSource) throws(StructureError) -> String? {
        var markers = try JPEGMarkers(of: source)
        while true {
            let code = try markers.next()
            if isStartOfFrame(code) {
                guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(code) else { return "a lossless or hierarchical JPEG" }
                let bits = try markers.reader.byte()
                return bits == 8 ? nil : "a JPEG of \(bits) bits a sample"
            }
            if code == startOfScan || code == endOfImage { throw .malformed }
        }
    }

    static func size(in source: ByteSource) throws(StructureError) -> (width: Int, height: Int) {
        var markers = try JPEGMarkers(of: source)
        while true {
            let code = try markers.next()
            if isStartOfFrame(code) { return try markers.frameSize() }
            if code == startOfScan || code == endOfImage { throw .malformed }
        }
    }

    /// The process of the picture, and its number of components.
    static func frame(in source: ByteSource) throws(StructureError) -> (isBaseline: Bool, components: Int) {
        var markers = try JPEGMarkers(of: source)
        while true {
            let code = try markers.next()
            if isStartOfFrame(code) {
                _ = try markers.frameSize()
                return (code == 0xC0, Int(try markers.reader.byte()))
            }
            if code == startOfScan || code == endOfImage { throw .malformed }
        }
    }

    /// Every sampling but 4:2:0 counts as full chroma: a bound for the decoder's memory.
    static func codedPicture(in source: ByteSource) throws(StructureError) -> CodedPicture? {
        let (width, height) = try size(in: source)
        var picture = CodedPicture(PixelSize(width, height))
        let halvedBothWays: [UInt8] = [0x22, 0x11, 0x11]
        picture.hasFullChroma = try samplingFactors(in: source) != halvedBothWays
        return picture
    }

    /// The horizontal and vertical factors of each component, four bits each.
    private static func samplingFactors(in source: ByteSource) throws(StructureError) -> [UInt8] {
        var markers = try JPEGMarkers(of: source)
        while try !isStartOfFrame(markers.next()) {}
        _ = try markers.frameSize()
        var factors: [UInt8] = []
        for _ in 0..<(try markers.reader.byte()) {
            try markers.reader.skip(1)
            factors.append(try markers.reader.byte())
            try markers.reader.skip(1)
        }
        return factors
    }

    /// Some segment before the pixels has a part of a colour profile.
    static func hasProfile(_ source: ByteSource) throws(StructureError) -> Bool {
        try hasSegment(applicationSegment2, named: "ICC_PROFILE", in: source)
    }

    /// XMP that does not fit one segment goes on in others, which libvips leaves out.
    static func unreadMetadata(of page: Int, in source: ByteSource) throws(StructureError) -> String? {
        let isExtended = try hasSegment(
            applicationSegment1, named: "http://ns.adobe.com/xmp/extension/", in: source)
        return isExtended ? "XMP above 64 KB" : nil
    }

    /// Tables, frames and scans, with the segments of JFIF, of color profiles, and Adobe's, which names the color space.
    static func hasPixelsOnly(_ source: ByteSource) throws(StructureError) -> Bool {
        var markers = try JPEGMarkers(of: source)
        while true {
            let code = try markers.next()
            if code == endOfImage { return markers.reader.remaining == 0 }
            let start = source.read(markers.reader.position, 12)
            let isKnown =
                switch code {
                case 0xC0...0xCF, 0xDA...0xDF: true
                // With two bytes for the size of a small picture within, which comes after them.
                case 0xE0: start.starts(with: "JFIF\0".utf8) && markers.segmentEnd - markers.reader.position == 14
                case applicationSegment2: start.starts(with: "ICC_PROFILE\0".utf8)
                case 0xEE: start.starts(with: "Adobe".utf8) && markers.segmentEnd - markers.reader.position == 12
                default: false
                }
            if !isKnown { return false }
        }
    }

    static func gainMap(of page: Int, in source: ByteSource) throws(StructureError) -> GainMapFacts? {
        try JPEGPictures.gainMap(in: source)
    }

    static func gainMapFile(
        in source: ByteSource, of format: SourceFormat
    ) throws(StructureError) -> GainMapFile? {
        guard let facts = try JPEGPictures.gainMap(in: source), facts.isReadable else { return nil }
        let bytes = source.read(facts.offset, facts.bytes)
        return GainMapFile(
            bytes: bytes, format: format,
            metadata: GainMapMetadata(ofMap: ByteSource(bytes), appleStops: facts.appleStops))
    }

    static func previews(in source: ByteSource) throws(StructureError) -> [EmbeddedPreview] {
        try JPEGPictures.previews(in: source)
    }

    static func file(of preview: EmbeddedPreview, in source: ByteSource) throws(StructureError) -> [UInt8] {
        guard case .bytes(let start, let count) = preview.place else { throw .malformed }
        let bytes = source.read(start, count)
        guard bytes.count == count else { throw .endsEarly }
        return bytes
    }

    /// The application's segments before the first scan, by their codes; the ranges are those of their content.
    static func applicationSegments(
        in source: ByteSource
    ) throws(StructureError) -> [(code: UInt8, content: Range<Int>)] {
        var markers = try JPEGMarkers(of: source)
        var segments: [(code: UInt8, content: Range<Int>)] = []
        while segments.count < mostSegments {
            let code = try markers.next()
            if code == startOfScan || code == endOfImage { break }
            guard (0xE0...0xEF).contains(code) else { continue }
            segments.append((code, markers.reader.position..<max(markers.reader.position, markers.segmentEnd)))
        }
        return segments
    }

    /// More than any program writes; ICC profiles and XMP take some tens.
    private static let mostSegments = 1000

    private static func hasSegment(
        _ segment: UInt8, named name: String, in source: ByteSource
    ) throws(StructureError) -> Bool {
        let name = Array(name.utf8) + [0]
        var markers = try JPEGMarkers(of: source)
        while true {
            let code = try markers.next()
            if code == startOfScan || code == endOfImage { return false }
            if code == segment, source.read(markers.reader.position, name.count) == name { return true }
        }
    }

    static func walk(_ source: ByteSource) throws(StructureError) {
        _ = try end(of: source)
        // They may be on their way; or a program that knows nothing of them has left them out, and they never come.
        try JPEGPictures.checkEnds(in: source)
    }

    /// The bytes up to the end of the picture, behind which others may be.
    static func end(of source: ByteSource) throws(StructureError) -> Int {
        var markers = try JPEGMarkers(of: source)
        while try markers.next() != endOfImage {}
        return markers.reader.position
    }

    static func scans(in source: ByteSource, atMost limit: Int) -> Int {
        guard var markers = try? JPEGMarkers(of: source) else { return 0 }
        var count = 0
        while count <= limit, let code = try? markers.next(), code != endOfImage {
            if code == startOfScan { count += 1 }
        }
        return count
    }

    /// The code of the next marker; the reader is then after its length.
    private mutating func next() throws(StructureError) -> UInt8 {
        try reader.skip(segmentEnd - reader.position)
        while true {
            try reader.skip(past: 0xFF)
            var code = try reader.byte()
            while code == 0xFF { code = try reader.byte() }
            if code == Self.endOfImage { return code }
            if Self.standsAlone(code) { continue }
            try beginSegment()
            return code
        }
    }

    /// The length counts its own two bytes. 0 is a hole that nobody has written to yet.
    private mutating func beginSegment() throws(StructureError) {
        let start = reader.position
        let length = try reader.integer(bytes: 2)
        if length < 2 { throw length == 0 ? .endsEarly : .malformed }
        segmentEnd = start + length
    }

    /// Precision, then height and width. A height of 0, to be told after the first scan, is read by no decoder that we
    /// use.
    private mutating func frameSize() throws(StructureError) -> (width: Int, height: Int) {
        guard segmentEnd - reader.position >= 6 else { throw .malformed }
        try reader.skip(1)
        let height = try reader.integer(bytes: 2)
        return (try reader.integer(bytes: 2), height)
    }

    /// SOF0 to SOF15, except for three codes in this range that mean something else: DHT, JPG and DAC.
    private static func isStartOfFrame(_ code: UInt8) -> Bool {
        (0xC0...0xCF).contains(code) && ![0xC4, 0xC8, 0xCC].contains(code)
    }

    /// No length follows: stuffed 0xFF00 of entropy-coded data, TEM, RST0 to RST7, SOI.
    private static func standsAlone(_ code: UInt8) -> Bool {
        code <= 0x01 || (0xD0...0xD8).contains(code)
    }
}
