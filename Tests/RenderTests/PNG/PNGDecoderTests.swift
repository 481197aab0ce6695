// PNG as libdeflate unpacks it: every pixel against libpng, and every file with a fault left to libpng.
import CPNGFilter
import Foundation
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Render

@Suite(.quietVips) struct PNGDecoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func picture(_ width: Int, _ height: Int, _ bands: Int, isDeep: Bool) throws -> Image {
        var state: UInt32 = 77
        let image = try TestPicture.make(width: width, height: height, bands: bands) { x, y in
            (0..<bands).map { band in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(truncatingIfNeeded: (x * (band + 3)) + y * y + Int(state >> 29))
            }
        }
        // Both bytes of a number differ.
        return isDeep
            ? try image.linear([257.3], [11]).cast(.ushort).copy(interpretation: bands < 3 ? .grey16 : .rgb16) : image
    }

    private func file(_ image: Image, _ options: [(String, Argument)] = []) throws -> [UInt8] {
        let path = folder.path("a.png")
        try TestPicture.save(image, as: "pngsave_target", options, to: path)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The picture that libpng reads, and the one that is decoded here.
    private func both(_ bytes: [UInt8]) throws -> (libpng: Image, own: Image?) {
        let path = folder.path("b.png")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let opened = try TestPicture.load(path, by: "pngload_source")
        return (opened, try PNGDecoder(ByteSource(bytes))?.decoded(opened))
    }

    /// The same picture with a filter of our choice, by the words of the specification; 5 for another one in each row.
    private func filtered(_ image: Image, _ filter: Int) throws -> [UInt8] {
        let isDeep = image.format == .ushort
        var bytes = try image.pixels()
        if isDeep { for index in stride(from: 0, to: bytes.count, by: 2) { bytes.swapAt(index, index + 1) } }
        let (step, count) = (image.bands * (isDeep ? 2 : 1), bytes.count / image.height)
        var rows: [UInt8] = []
        for y in 0..<image.height {
            let kind = filter < 5 ? filter : y % 5
            rows.append(UInt8(kind))
            for x in 0..<count {
                let left = x < step ? 0 : Int(bytes[y * count + x - step])
                let above = y == 0 ? 0 : Int(bytes[(y - 1) * count + x])
                let corner = x < step || y == 0 ? 0 : Int(bytes[(y - 1) * count + x - step])
                let guess = left + above - corner
                let nearest = [left, above, corner].min { abs(guess - $0) < abs(guess - $1) } ?? 0
                let predicted = [0, left, above, (left + above) / 2, nearest][kind]
                rows.append(bytes[y * count + x] &- UInt8(predicted))
            }
        }
        return try replacing(rows, in: file(image))
    }

    /// A file with other rows.
    /// - Parameter after: bytes that follow the packed rows.
    private func replacing(_ rows: [UInt8], after: [UInt8] = [], in file: [UInt8]) -> [UInt8] {
        let chunks = PNGChunk.all(in: file).map { $0.type == "IDAT" ? PNGChunk("IDAT", zlib(rows) + after) : $0 }
        return PNGChunk.signature + chunks.flatMap(\.bytes)
    }

    @Test(arguments: 0...5)
    func `every filter, kind and width comes out as libpng reads it`(filter: Int) throws {
        for bands in 1...4 {
            for isDeep in [false, true] {
                for (width, height) in [(1, 1), (1, 9), (7, 3), (16, 5), (33, 20), (200, 2)] {
                    let image = try picture(width, height, bands, isDeep: isDeep)
                    let (libpng, own) = try both(filtered(image, filter))
                    let found = try #require(own, "\(bands) bands of \(width)×\(height)")
                    #expect(
                        try found.pixels() == libpng.pixels(), "\(bands) bands of \(width)×\(height), 16 bit: \(isDeep)"
                    )
                    #expect(
                        (found.interpretation, found.format, found.bands) == (
                            libpng.interpretation, libpng.format, libpng.bands
                        ))
                    #expect(try restored(image) && restoredTwo(image))
                }
            }
        }
    }

    /// Plain and wide instructions give the same bytes.
    private func restored(_ image: Image) throws -> Bool {
        let instructions = cinstructions_best()
        let (count, step) = (image.width * image.bands, image.bands)
        let bytes = try image.cast(.uchar).pixels()
        let (above, row) = (Array(bytes.prefix(count)), Array(bytes.suffix(count)))
        return (0...4).allSatisfy { filter in
            var results = [CINSTRUCTIONS_BASELINE, instructions].map { use in
                var out = [UInt8](repeating: 0, count: count)
                cpngfilter_restore(use, CInt(filter), row, above, count, CInt(step), &out)
                return out
            }
            // In place, too.
            var same = row
            same.withUnsafeMutableBufferPointer {
                cpngfilter_restore(instructions, CInt(filter), $0.baseAddress, above, count, CInt(step), $0.baseAddress)
            }
            results.append(same)
            return results.allSatisfy { $0 == results[0] }
        }
    }

    /// Two rows at once come out as one after the other, in place too.
    private func restoredTwo(_ image: Image) throws -> Bool {
        let (count, step) = (image.width * image.bands, image.bands)
        let bytes = try image.cast(.uchar).pixels()
        let (above, row, below) = (
            Array(bytes.prefix(count)), Array(bytes.suffix(count)), Array(bytes.reversed().prefix(count))
        )
        var (first, second) = (row, below)
        cpngfilter_restore(CINSTRUCTIONS_BASELINE, 4, row, above, count, CInt(step), &first)
        cpngfilter_restore(CINSTRUCTIONS_BASELINE, 4, below, first, count, CInt(step), &second)
        return [CINSTRUCTIONS_BASELINE, cinstructions_best()].allSatisfy { use in
            var (out, outBelow) = (row, below)
            out.withUnsafeMutableBufferPointer { out in
                outBelow.withUnsafeMutableBufferPointer { below in
                    cpngfilter_restore_two(
                        use, out.baseAddress, below.baseAddress, above, count, CInt(step), out.baseAddress,
                        below.baseAddress)
                }
            }
            return out == first && outBelow == second
        }
    }

    @Test func `metadata is what libpng reads, also if it comes after the pixels`() throws {
        let image = try picture(20, 10, 3, isDeep: false).editingMetadata {
            $0.set("xmp-data", blob: Array("<x/>".utf8))
        }
        let (libpng, own) = try both(file(image))
        #expect(Set(try #require(own).fields) == Set(libpng.fields))
        #expect(own?.blob("xmp-data") == libpng.blob("xmp-data"))
    }

    @Test func `interlaced files, palettes and one transparent color are left to libpng`() throws {
        let image = try picture(30, 20, 3, isDeep: false)
        #expect(try PNGDecoder(ByteSource(file(image, [("interlace", true)]))) == nil)
        #expect(try PNGDecoder(ByteSource(file(image, [("palette", true)]))) == nil)
        #expect(try PNGDecoder(ByteSource(file(image, [("bitdepth", 1)]))) == nil)
        let plain = try file(image)
        let end = plain.count - 12
        let transparent = PNGChunk("tRNS", [0, 1, 0, 2, 0, 3]).bytes
        let place = try #require(PNGChunk.Place(at: 8, in: plain)).content.upperBound + 4
        func inserting(_ chunk: [UInt8], at place: Int) -> [UInt8] {
            [Array(plain[..<place]), chunk, Array(plain[place...])].flatMap(\.self)
        }
        #expect(PNGDecoder(ByteSource(inserting(transparent, at: place))) == nil)
        #expect(PNGDecoder(ByteSource(inserting(PNGChunk("CgBI", []).bytes, at: end))) == nil)
        #expect(PNGDecoder(ByteSource(Array(plain[..<end]))) == nil)
        #expect(PNGDecoder(ByteSource([])) == nil)
        // The pixels need more memory than is planned for a picture that is unpacked as a whole.
        var header = Array(plain.prefix(33))
        header.replaceSubrange(16..<24, with: PNGChunk.bigEndian(60_000) + PNGChunk.bigEndian(60_000))
        #expect(PNGDecoder(ByteSource(header + plain[33...])) == nil)
    }

    @Test(arguments: [1, 4])
    func `a file with any byte changed is left to libpng, or comes out as before`(bands: Int) throws {
        let image = try picture(13, 9, bands, isDeep: false)
        let bytes = try filtered(image, 5)
        let (libpng, own) = try both(bytes)
        let pixels = try libpng.pixels()
        #expect(try own?.pixels() == pixels)
        for index in bytes.indices {
            for change: UInt8 in [1, 0x80, 0xFF] {
                var mutant = bytes
                mutant[index] ^= change
                // A reader of the header sees another one if that is not checked.
                guard let found = try PNGDecoder(ByteSource(mutant))?.decoded(libpng) else { continue }
                #expect(try found.pixels() == pixels, "byte \(index)")
            }
            #expect(PNGDecoder(ByteSource(Array(bytes.prefix(index)))) == nil)
        }
    }

    @Test func `rows with an unknown filter, too few rows, too many, and bytes after them are left to libpng`() throws {
        let bytes = try file(picture(6, 4, 3, isDeep: false))
        let (libpng, own) = try both(bytes)
        #expect(own != nil)
        func replaced(_ rows: [UInt8], after: [UInt8] = []) -> [UInt8] { replacing(rows, after: after, in: bytes) }
        let row = [UInt8](repeating: 7, count: 18)
        let good = (0..<4).flatMap { [UInt8($0)] + row }
        #expect(try PNGDecoder(ByteSource(replaced(good)))?.decoded(libpng) != nil)
        #expect(try PNGDecoder(ByteSource(replaced([5] + row + Array(good.dropFirst(19)))))?.decoded(libpng) == nil)
        #expect(try PNGDecoder(ByteSource(replaced(Array(good.dropLast()))))?.decoded(libpng) == nil)
        #expect(try PNGDecoder(ByteSource(replaced(good + [0])))?.decoded(libpng) == nil)
        #expect(try PNGDecoder(ByteSource(replaced(good, after: [0])))?.decoded(libpng) == nil)
    }
}
