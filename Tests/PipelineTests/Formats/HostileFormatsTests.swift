// Files made to break their reader. Most would trap or hang; a test that ends has passed, and says besides what it
// read.

import Synchronization
import Testing

@testable import Pipeline

@Suite(.timeLimit(.minutes(1)))
struct HostileFormatsTests {
    /// Whether all readers come back, and what they say belongs together.
    private func isSound(_ format: SourceFormat, _ bytes: [UInt8]) -> Bool {
        _ = guessFormat(bytes)
        let structure = format.declaration.structure
        _ = try? structure.hasPixelsOnly(ByteSource(bytes))
        _ = try? structure.hasProfile(ByteSource(bytes))
        _ = try? structure.statedColor(of: 2, in: ByteSource(bytes))
        _ = try? structure.gainMap(of: 1, in: ByteSource(bytes))
        _ = try? structure.hasHiddenFrames(ByteSource(bytes))
        _ = try? structure.codedPicture(in: ByteSource(bytes))
        for preview in (try? structure.previews(in: ByteSource(bytes))) ?? [] {
            _ = try? structure.file(of: preview, in: ByteSource(bytes))
        }
        _ = completeness(of: format, in: ByteSource(bytes))
        guard let size = headerSize(of: format, in: ByteSource(bytes)) else { return true }
        return size.width > 0 && size.height > 0
    }

    @Test(arguments: SmallFiles.all)
    func `every beginning of a small file has the whole file's size or none`(file: SmallFile) {
        for length in file.bytes.indices {
            let size = headerSize(of: file.format, in: ByteSource(Array(file.bytes[..<length])))
            #expect(size.map { [$0.width, $0.height] } ?? [300, 200] == [300, 200], "at \(length)")
        }
    }

    @Test(arguments: SmallFiles.all)
    func `a small file with any byte changed does not trap`(file: SmallFile) {
        for position in file.bytes.indices {
            for value: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
                var bytes = file.bytes
                bytes[position] = value
                #expect(isSound(file.format, bytes))
            }
        }
    }

    @Test(arguments: SmallFiles.all)
    func `a small file with several bytes changed does not trap`(file: SmallFile) {
        var generator = SeededGenerator(state: 20_240_917)
        for _ in 0..<500 {
            var bytes = file.bytes
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let start = Int.random(in: 0..<bytes.count, using: &generator)
                let value =
                    [0x00, 0xFF, UInt8.random(in: 0...255, using: &generator)].randomElement(using: &generator) ?? 0
                for position in start..<min(bytes.count, start + Int.random(in: 1...4, using: &generator)) {
                    bytes[position] = value
                }
            }
            #expect(isSound(file.format, bytes))
        }
    }

    @Test(arguments: SourceFormat.allCases)
    func `random bytes do not trap, with and without a beginning of the format`(format: SourceFormat) {
        var generator = SeededGenerator(state: 4)
        let beginnings = SmallFiles.all.filter { $0.format == format }.map { Array($0.bytes.prefix(12)) } + [[]]
        for length in 0..<300 {
            let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for beginning in beginnings { #expect(isSound(format, beginning + noise)) }
        }
    }

    @Test(arguments: SmallFiles.all, [1, 10, 50, 1000])
    func `a source that is shorter than it says has the whole file's size or none`(file: SmallFile, missing: Int) {
        let source = ByteSource(count: file.bytes.count) {
            ByteSource(Array(file.bytes.dropLast(missing))).read($0, $1)
        }
        let size = headerSize(of: file.format, in: source)
        #expect(size.map { [$0.width, $0.height] } ?? [300, 200] == [300, 200])
        #expect(missing < 1000 || completeness(of: file.format, in: source) == .incomplete)
    }

    @Test(
        arguments: [
            ("JPEG fill bytes", .jpeg, [0xFF, 0xD8], [0xFF]),
            ("JPEG stuffed bytes", .jpeg, [0xFF, 0xD8], [0xFF, 0x00]),
            ("JPEG empty segments", .jpeg, [0xFF, 0xD8], [0xFF, 0xFE, 0, 2]),
            ("PNG empty chunks", .png, SmallFiles.pngSignature, [0, 0, 0, 0, 0x61, 0x61, 0x61, 0x61, 0, 0, 0, 0]),
            ("GIF empty extensions", .gif, Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0], [0x21, 0xF9, 0]),
            ("GIF sub-blocks of one byte", .gif, Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x21, 0xF9], [1]),
            (
                "WebP empty chunks", .webp, Array("RIFF".utf8) + [0, 0, 0x10, 0] + Array("WEBP".utf8),
                [0x61, 0x61, 0x61, 0x61, 0, 0, 0, 0]
            ),
            ("ISO media empty boxes", .heic, HEIFBuilder.box("ftyp", []), HEIFBuilder.box("free", [])),
            ("TIFF directory of anything", .tiff, [0x49, 0x49, 42, 0, 8, 0, 0, 0], [0xFF, 0x00]),
        ] as [(String, SourceFormat, [UInt8], [UInt8])])
    func `no byte is read twice, however the file is made up`(
        what: String, format: SourceFormat, start: [UInt8], unit: [UInt8]
    ) {
        var bytes = start
        while bytes.count < 1_000_000 { bytes += unit }
        let read = Mutex(0)
        let source = ByteSource(count: bytes.count) { [bytes] offset, count in
            let part = bytes.dropFirst(offset).prefix(count)
            read.withLock { $0 += part.count }
            return Array(part)
        }
        _ = completeness(of: format, in: source)
        #expect(read.withLock(\.self) <= bytes.count + ForwardReader.blockSize)
    }

    @Test(arguments: [0, 1, 15, 16, 17])
    func `a WebP's frame that ends within its own header is not taken for pixels`(bytes: Int) throws {
        let frame = SmallFiles.riffChunk("ANMF", [UInt8](repeating: 0, count: bytes))
        let file = ByteSource(SmallFiles.webp(SmallFiles.extendedWebP() + frame))
        #expect(try WebPChunks.hasPixelsOnly(file) == (bytes == 16))
    }

    @Test func `TIFF pages that follow each other in a ring end`() {
        let builder = TIFFBuilder(order: .little)
        let fields: [TIFFBuilder.Field] = [.init(273, 4, [0]), .init(279, 4, [0])]
        let ring =
            [0x49, 0x49, 42, 0, 8, 0, 0, 0] + builder.directory(fields, at: 8, isLast: true).dropLast(4) + [8, 0, 0, 0]
        #expect(completeness(of: .tiff, in: ByteSource(ring + [UInt8](repeating: 0, count: 5_000_000))) == .unknown)
    }

    @Test func `a TIFF page that leads to itself very often ends`() {
        let builder = TIFFBuilder(order: .little)
        let itself = [Int](repeating: 8, count: 60_000)
        let fields: [TIFFBuilder.Field] = [.init(273, 4, [0]), .init(279, 4, [0]), .init(330, 1, itself)]
        let bytes = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + builder.directory(fields, at: 8, isLast: true)
        #expect(completeness(of: .tiff, in: ByteSource(bytes + [UInt8](repeating: 0, count: 5_000_000))) == .unknown)
    }

    @Test func `very many extents of no bytes end`() {
        let item: [UInt8] = [0, 1, 0, 0, 0xFF, 0xFF]
        let items = Array(repeating: item, count: 60_000).joined()
        let locations = HEIFBuilder.fullBox("iloc", [0, 0] + SmallFiles.big(60_000, 2) + items)
        let bytes = HEIFBuilder.box("ftyp", Array("heic\0\0\0\0".utf8)) + HEIFBuilder.fullBox("meta", locations)
        #expect(completeness(of: .heic, in: ByteSource(bytes)) == .complete)
    }

    @Test(arguments: [[0x7F], [0xFF]] as [[UInt8]])
    func `numbers of eight bytes at their largest do not overflow`(first: [UInt8]) {
        let huge = first + [UInt8](repeating: 0xFF, count: 7)
        let fileType = HEIFBuilder.box("ftyp", Array("heic\0\0\0\0".utf8))
        let box = [0, 0, 0, 1] + Array("mdat".utf8) + huge
        #expect(completeness(of: .heic, in: ByteSource(fileType + box)) == .incomplete)
        let extents: [UInt8] = [0x88, 0x80, 0, 1, 0, 1, 0, 0] + huge + [0, 1] + huge + huge
        let meta = HEIFBuilder.fullBox("meta", HEIFBuilder.fullBox("iloc", extents))
        #expect(completeness(of: .heic, in: ByteSource(fileType + meta)) == .incomplete)
        #expect(completeness(of: .tiff, in: ByteSource([0x4D, 0x4D, 0, 43, 0, 8, 0, 0] + huge)) == .incomplete)
        let field = [1, 1, 0, 16] + huge + huge
        let directory = [0x4D, 0x4D, 0, 43, 0, 8, 0, 0] + SmallFiles.big(16, 8) + SmallFiles.big(1, 8) + field + huge
        #expect(completeness(of: .tiff, in: ByteSource(directory)) == .incomplete)
        #expect(headerSize(of: .tiff, in: ByteSource(directory)) == nil)
    }
}

/// SplitMix64: the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
