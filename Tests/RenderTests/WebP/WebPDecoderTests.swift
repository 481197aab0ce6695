// WebP as it is decoded here: every pixel against libvips or exact arithmetic, and every file with a fault left to
// libvips.
import CWebP
import Foundation
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Render

@Suite(.quietVips) struct WebPDecoderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let sizes = [(1, 1), (1, 9), (7, 3), (16, 5), (33, 20), (2, 40), (131, 67)]

    /// Slopes and noise, and holes if there is alpha.
    private func picture(_ width: Int, _ height: Int, _ bands: Int, seed: UInt32 = 77) throws -> Image {
        var state = seed
        return try TestPicture.make(width: width, height: height, bands: bands) { x, y in
            (0..<bands).map { band in
                state = state &* 1_664_525 &+ 1_013_904_223
                guard band < 3 else { return x % 16 < 4 ? 0 : UInt8(truncatingIfNeeded: 100 + 9 * y) }
                return UInt8(truncatingIfNeeded: x * (band + 1) + 2 * y + Int(state >> 28))
            }
        }
    }

    private func file(_ image: Image, _ options: [(String, Argument)] = []) throws -> [UInt8] {
        let path = folder.path("a.webp")
        try TestPicture.save(image, as: "webpsave_target", options, to: path)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The picture that libvips reads, and the one that is decoded here.
    private func both(
        _ bytes: [UInt8], shrink: Int = 1, allFrames: Bool = false
    ) throws -> (libvips: Image, own: Image?) {
        let path = folder.path("b.webp")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let opened = try TestPicture.load(path, by: "webpload_source", allFrames ? [("n", -1)] : [])
        return (opened, try WebPDecoder(ByteSource(bytes))?.decoded(opened, shrink: shrink))
    }

    @Test(arguments: [3, 4], [false, true])
    func `a still comes out as libvips reads it, with and without losses and alpha`(bands: Int, isLossless: Bool) throws
    {
        for (width, height) in Self.sizes {
            let (libvips, own) = try both(file(picture(width, height, bands), [("lossless", .bool(isLossless))]))
            let found = try #require(own, "\(width)×\(height)")
            #expect(try found.pixels() == libvips.pixels(), "\(width)×\(height)")
            #expect((found.bands, found.interpretation) == (bands, libvips.interpretation))
        }
    }

    @Test func `metadata is what libvips reads`() throws {
        let image = try picture(20, 10, 3).editingMetadata { $0.set("xmp-data", blob: Array("<x/>".utf8)) }
        for shrink in [1, 2] {
            let (libvips, own) = try both(file(image), shrink: shrink)
            #expect(Set(try #require(own).fields) == Set(libvips.fields))
            #expect(own?.blob("xmp-data") == libvips.blob("xmp-data"))
        }
    }

    // MARK: - Shrunk

    private struct Plane {
        let bytes: [UInt8]
        let width, height: Int

        init(_ start: UnsafePointer<UInt8>, stride: CInt, width: Int, height: Int) {
            bytes = (0..<height).flatMap { y in (0..<width).map { start[y * Int(stride) + $0] } }
            (self.width, self.height) = (width, height)
        }

        /// The mean of a square, or of what is left of it at the edges.
        func mean(_ x: Int, _ y: Int, _ side: Int) -> Int {
            let rows = y * side..<min(height, (y + 1) * side)
            let square = rows.flatMap { row in
                (x * side..<min(width, (x + 1) * side)).map { Int(bytes[row * width + $0]) }
            }
            return (square.reduce(0, +) + square.count / 2) / square.count
        }
    }

    /// The planes of a file, as libwebp decodes them.
    private func planes(_ file: [UInt8]) -> [Plane]? {
        var (width, height, stride, colourStride): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
        var (u, v): (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?)
        guard let y = WebPDecodeYUV(file, file.count, &width, &height, &u, &v, &stride, &colourStride), let u, let v
        else { return nil }
        defer { WebPFree(y) }
        let (columns, rows) = (Int(width + 1) / 2, Int(height + 1) / 2)
        return [
            Plane(y, stride: stride, width: Int(width), height: Int(height)),
            Plane(u, stride: colourStride, width: columns, height: rows),
            Plane(v, stride: colourStride, width: columns, height: rows),
        ]
    }

    @Test(arguments: [2, 4, 8])
    func `shrunk, each pixel is the mean of a square of luma and of colors, converted as ITU-R BT.601 says`(shrink: Int)
        throws
    {
        for (width, height) in Self.sizes {
            let bytes = try file(picture(width, height, 3), [("Q", 90)])
            let found = try #require(try both(bytes, shrink: shrink).own)
            #expect((found.width, found.height) == ((width + shrink - 1) / shrink, (height + shrink - 1) / shrink))
            let planes = try #require(self.planes(bytes))
            let pixels = try found.pixels()
            for y in 0..<found.height {
                for x in 0..<found.width {
                    let luma = 1.164_383 * Double(planes[0].mean(x, y, shrink) - 16)
                    let blue = Double(planes[1].mean(x, y, shrink / 2) - 128)
                    let red = Double(planes[2].mean(x, y, shrink / 2) - 128)
                    let exact = [
                        luma + 1.596_027 * red, luma - 0.391_762 * blue - 0.812_968 * red, luma + 2.017_232 * blue,
                    ]
                    for band in 0..<3 {
                        let byte = Double(pixels[3 * (y * found.width + x) + band])
                        #expect(
                            abs(byte - min(max(exact[band], 0), 255)) < 1.1, "\(width)×\(height) at \(x), \(y), \(band)"
                        )
                    }
                }
            }
        }
    }

    @Test(arguments: [2, 4, 8])
    func `what has alpha or no losses is shrunk after it is decoded`(shrink: Int) throws {
        for (bands, isLossless) in [(3, true), (4, false), (4, true)] {
            let (libvips, own) = try both(
                file(picture(131, 67, bands), [("lossless", .bool(isLossless))]), shrink: shrink)
            #expect(try own?.pixels() == libvips.averaged(by: shrink).pixels())
        }
    }

    // MARK: - Animations

    /// A small square that moves, over a background that is transparent or not, so that the encoder stores parts of
    /// frames.
    private func animation(bands: Int, frames: Int, _ options: [(String, Argument)]) throws -> [UInt8] {
        let (width, height) = (60, 40)
        let stack = try TestPicture.make(width: width, height: height * frames, bands: bands) { x, y in
            let (frame, row) = (y / height, y % height)
            let isSquare = (5 * frame..<5 * frame + 12).contains(x) && (10..<22).contains(row)
            let colours: [UInt8] = isSquare ? [250, UInt8(20 * frame), 30] : [10, UInt8(3 * row), UInt8(4 * x)]
            return colours + (bands == 4 ? [isSquare ? 200 : x < 30 ? 255 : 0] : [])
        }
        return try file(stack.editingMetadata { $0.set("page-height", int: height) }, options)
    }

    @Test(arguments: [3, 4], [false, true])
    func `each frame of an animation comes out as libvips shows it`(bands: Int, isLossless: Bool) throws {
        for options: [(String, Argument)] in [
            [], [("min_size", true)], [("kmin", .int(3)), ("kmax", .int(4))], [("mixed", true)],
        ] {
            let bytes = try animation(bands: bands, frames: 8, options + [("lossless", .bool(isLossless))])
            let (libvips, own) = try both(bytes, allFrames: true)
            let (found, expected) = (try #require(own).pixels(), try libvips.pixels())
            // Blending is rounded once here and once there.
            let most = zip(found, expected).map { abs(Int($0) - Int($1)) }.max() ?? 0
            #expect(found.count == expected.count && most <= 2, "\(options): \(most)")
            #expect(Set(own?.fields ?? []) == Set(libvips.fields))
        }
    }

    @Test(arguments: [1, 2, 4, 8])
    func `an animation of one frame is a still, however far it is to be shrunk`(shrink: Int) throws {
        let still = try file(picture(33, 20, 3), [("lossless", true), ("strip", true)])
        // The same frame, as the only one of an animation: VP8X, ANIM and ANMF around the still's chunk of pixels.
        let start = try #require(still.indices.first { still[$0...].starts(with: "VP8L".utf8) })
        let length = still[start + 4..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
        let chunk = Array(still[start..<start + 8 + length + length % 2])
        func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        func named(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + bytes(content.count, 4) + content
        }
        let size = bytes(32, 3) + bytes(19, 3)
        let frame = [bytes(0, 6), size, bytes(100, 3), [0], chunk].flatMap(\.self)
        let chunks = [named("VP8X", [2, 0, 0, 0] + size), named("ANIM", bytes(0, 6)), named("ANMF", frame)].flatMap(
            \.self)
        let file = named("RIFF", Array("WEBP".utf8) + chunks)
        let (libvips, own) = try both(file, shrink: shrink, allFrames: true)
        #expect((libvips.width, libvips.height) == (33, 20))
        #expect(try own?.pixels() == libvips.averaged(by: shrink).pixels())
    }

    @Test(arguments: [3, 4], [1, 2, 8])
    func `the first frame of an animation is decoded alone, and shrunk`(bands: Int, shrink: Int) throws {
        let bytes = try animation(bands: bands, frames: 8, [("lossless", true)])
        let (libvips, own) = try both(bytes, shrink: shrink)
        #expect((libvips.width, libvips.height) == (60, 40))
        #expect(try own?.pixels() == libvips.averaged(by: shrink).pixels())
    }

    // MARK: - Faults

    @Test func `a file that ends early is left to libvips`() throws {
        for bytes in [
            try file(picture(33, 20, 3)), try file(picture(33, 20, 4), [("lossless", true)]),
            try animation(bands: 4, frames: 3, []),
        ] {
            let (libvips, own) = try both(bytes, allFrames: true)
            #expect(own != nil)
            for count in bytes.indices.dropLast() where count % 7 == 0 || count < 64 {
                let part = try WebPDecoder(ByteSource(Array(bytes.prefix(count))))?.decoded(libvips, shrink: 1)
                #expect(part == nil, "\(count) of \(bytes.count) bytes")
            }
        }
    }

    @Test
    func `a file with any byte changed is left to libvips, or has a picture of the size that the header promised`()
        throws
    {
        for bytes in [try file(picture(33, 20, 3)), try animation(bands: 4, frames: 3, [])] {
            let libvips = try both(bytes, allFrames: true).libvips
            for index in bytes.indices {
                for change: UInt8 in [1, 0x80, 0xFF] {
                    var mutant = bytes
                    mutant[index] ^= change
                    for shrink in [1, 2] {
                        guard let found = try WebPDecoder(ByteSource(mutant))?.decoded(libvips, shrink: shrink) else {
                            continue
                        }
                        let expected = ((libvips.width + shrink - 1) / shrink, (libvips.height + shrink - 1) / shrink)
                        #expect((found.width, found.height) == expected, "byte \(index)")
                    }
                }
            }
        }
    }

    @Test func `another picture than the header promised is left to libvips`() throws {
        let opened = try both(file(picture(33, 20, 3))).libvips
        for other in [try picture(33, 21, 3), try picture(34, 20, 3), try picture(33, 20, 4)] {
            #expect(try WebPDecoder(ByteSource(try file(other)))?.decoded(opened, shrink: 1) == nil)
        }
        #expect(WebPDecoder(ByteSource([])) == nil)
        #expect(WebPDecoder(ByteSource(Array("RIFFxxxxWEBPVP8 ".utf8))) == nil)
    }
}
