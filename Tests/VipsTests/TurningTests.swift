import TestSupport
import Testing

@testable import Vips

@Suite("Turning pictures in memory") struct TurningTests {
    init() throws { try TestVips.start() }

    /// Sizes at and beside a tile's; bands and formats of one to eight bytes, and of more.
    @Test(arguments: [
        (1, BandFormat.uchar), (2, .uchar), (3, .uchar), (4, .uchar), (5, .uchar), (3, .ushort), (4, .ushort),
        (3, .float),
    ])
    func `a picture is turned as libvips turns it, by each of EXIF's eight numbers`(bands: Int, format: BandFormat)
        throws
    {
        for (width, height) in [(1, 1), (1, 70), (31, 64), (33, 32), (100, 65)] {
            let noise = try TestPicture.make(width: width, height: height, bands: bands) { x, y in
                (0..<bands).map { UInt8(truncatingIfNeeded: x * 7 + y * 31 + (x ^ y) * 13 + $0 * 97) }
            }.cast(format).inMemory()
            for orientation in 1...8 {
                let expected =
                    switch orientation {
                    case 2: try noise.flip(.horizontal)
                    case 3: try noise.rot(.d180)
                    case 4: try noise.flip(.vertical)
                    case 5: try noise.rot(.d90).flip(.horizontal)
                    case 6: try noise.rot(.d90)
                    case 7: try noise.rot(.d270).flip(.horizontal)
                    case 8: try noise.rot(.d270)
                    default: noise
                    }
                let turned = try noise.turned(orientation: orientation)
                #expect(turned.isInMemory)
                #expect(turned.width == expected.width && turned.height == expected.height)
                #expect(try turned.pixels() == expected.pixels(), "\(width) × \(height), orientation \(orientation)")
            }
        }
    }
}
