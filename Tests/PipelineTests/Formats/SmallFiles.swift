// Builds the smallest files that a format allows, with nothing after their structure's end.

import Testing

@testable import Pipeline

enum SmallFiles {
    /// A small file of each format and of each kind that is read differently; all are 300 × 200 pixels.
    static let all: [SmallFile] = [
        SmallFile("JPEG", .jpeg, jpeg()),
        SmallFile("progressive JPEG", .jpeg, jpeg(frame: 0xC2, scans: 3)),
        SmallFile("PNG", .png, png()),
        SmallFile("GIF", .gif, gif()),
        SmallFile("lossy WebP", .webp, webp(lossyWebP())),
        SmallFile("lossless WebP", .webp, webp(losslessWebP())),
        SmallFile("extended WebP", .webp, webp(extendedWebP() + losslessWebP())),
        SmallFile("little-endian TIFF", .tiff, TIFFBuilder(order: .little).file()),
        SmallFile("big-endian TIFF", .tiff, TIFFBuilder(order: .big).file()),
        SmallFile("little-endian BigTIFF", .tiff, TIFFBuilder(order: .little, isBig: true).file()),
        SmallFile("big-endian BigTIFF", .tiff, TIFFBuilder(order: .big, isBig: true).file()),
        SmallFile("HEIC", .heic, HEIFBuilder(brand: "heic").file()),
        SmallFile("AVIF", .avif, HEIFBuilder(brand: "avif").file()),
    ]

    // MARK: JPEG

    static func jpeg(
        frame code: UInt8 = 0xC0, scans: Int = 1, scan: [UInt8] = [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56]
    ) -> [UInt8] {
        let application = segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
        let frame = segment(code, [8] + big(200, 2) + big(300, 2) + [1, 1, 0x11, 0])
        let scanned = segment(0xDA, [1, 1, 0, 0, 63, 0]) + scan
        return [0xFF, 0xD8] + application + frame + Array(repeating: scanned, count: scans).joined() + [0xFF, 0xD9]
    }

    static func segment(_ code: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0xFF, code] + big(payload.count + 2, 2) + payload
    }

    // MARK: PNG

    static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    static func png() -> [UInt8] {
        pngSignature + chunk("IHDR", big(300, 4) + big(200, 4) + [8, 0, 0, 0, 0]) + chunk("IDAT", [1, 2, 3])
            + chunk("IEND", [])
    }

    /// With a checksum that is wrong, for nothing here looks at it.
    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        big(data.count, 4) + Array(type.utf8) + data + [1, 2, 3, 4]
    }

    // MARK: GIF

    /// A screen with a colour table of 2, a loop extension, and a frame with a colour table of 4.
    static func gif(between blocks: [UInt8] = []) -> [UInt8] {
        let screen = little(300, 2) + little(200, 2) + [0x80, 0, 0] + [UInt8](repeating: 7, count: 6)
        let loop: [UInt8] = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        let (place, table) = ([UInt8](repeating: 0, count: 8), [UInt8](repeating: 9, count: 12))
        let frame: [UInt8] = [0x2C] + place + [0x81] + table + [2, 2, 0x3B, 0x3B, 0]
        return [Array("GIF89a".utf8), screen, loop, blocks, frame, [0x3B]].flatMap(\.self)
    }

    // MARK: WebP

    static func webp(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + little(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
    }

    static func riffChunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        Array(type.utf8) + little(data.count, 4) + data + (data.count % 2 == 0 ? [] : [0])
    }

    /// The bits above the 14 of each side are scaling, which is not part of the size.
    static func lossyWebP() -> [UInt8] {
        riffChunk(
            "VP8 ", [0x10, 0, 0, 0x9D, 0x01, 0x2A] + little(300 | 0x4000, 2) + little(200 | 0xC000, 2) + [1, 2, 3])
    }

    static func losslessWebP() -> [UInt8] {
        riffChunk("VP8L", [0x2F] + little(299 | 199 << 14 | 1 << 28, 4) + [1, 2])
    }

    static func extendedWebP() -> [UInt8] {
        riffChunk("VP8X", [0x10, 0, 0, 0] + little(299, 3) + little(199, 3))
    }

    // MARK: Numbers

    static func big(_ number: Int, _ count: Int) -> [UInt8] {
        little(number, count).reversed()
    }

    static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

/// A file with a name for the test's report.
struct SmallFile: Sendable, CustomTestStringConvertible {
    let name: String
    let format: SourceFormat
    let bytes: [UInt8]

    init(_ name: String, _ format: SourceFormat, _ bytes: [UInt8]) {
        self.name = name
        self.format = format
        self.bytes = bytes
    }

    /// HEIC and AVIF differ in their brands and the coding of their pixels only.
    func isBuilt(like other: SourceFormat) -> Bool {
        format == other || SmallFile.heif.isSuperset(of: [format, other])
    }

    private static let heif: Set<SourceFormat> = [.heic, .avif]

    var testDescription: String { name }
    var size: (width: Int, height: Int)? { headerSize(of: format, in: ByteSource(bytes)) }
    var completeness: Completeness { Pipeline.completeness(of: format, in: ByteSource(bytes)) }
}
