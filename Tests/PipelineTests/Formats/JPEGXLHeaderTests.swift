// The facts of a JPEG XL that its decoder does not give. The codestreams were written by libjxl.
import Testing

@testable import Pipeline

@Suite struct JPEGXLHeaderTests {
    private static let still: [UInt8] = [
        0xFF, 0x0A, 0xE8, 0x30, 0x90, 0x50, 0xB9, 0xB7, 0x8A, 0x20, 0x00, 0x12, 0x88, 0x02, 0x00, 0x04,
    ]
    private static let animation: [UInt8] = [
        0xFF, 0x0A, 0xE8, 0x30, 0x41, 0x00, 0x16, 0x14, 0x97, 0x04, 0x08, 0x08, 0xA0, 0x02, 0x00, 0x00,
    ]

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(8 + content.count)] + Array(type.utf8) + content
    }

    private static func container(_ boxes: [UInt8]) -> [UInt8] {
        box("JXL ", [13, 10, 0x87, 10]) + box("ftyp", Array("jxl \0\0\0\0jxl ".utf8)) + boxes
    }

    @Test(
        arguments: [
            (still, false), (animation, true), (container(box("jxlc", still)), false),
            (container(box("jxlc", animation)), true), ([0xFF, 0x0A, 0xFB, 0x06, 0x01], false),
        ])
    func `frames are in the header of the codestream`(bytes: [UInt8], hasFrames: Bool) throws {
        #expect(try JPEGXLHeader.hasHiddenFrames(ByteSource(bytes)) == hasFrames)
    }

    // The size takes 15 bits after the mark, and the bit for an animation is the 23rd.
    @Test(arguments: 0..<16) func `a header that is cut before the bit for an animation tells nothing`(length: Int) {
        let found = try? JPEGXLHeader.hasHiddenFrames(ByteSource(Array(Self.animation.prefix(length))))
        #expect(found == (length < 5 ? nil : true))
    }

    @Test(
        arguments: [
            (still, nil), (container(box("jxlc", still)), nil),
            (container(box("Exif", [0, 0, 0, 0]) + box("jxlc", still)), "EXIF"),
            (container(box("jxlc", still) + box("xml ", [0x3C]) + box("brob", Array("Exif123".utf8))), "EXIF and XMP"),
        ] as [([UInt8], String?)])
    func `EXIF and XMP are boxes, plain or packed`(bytes: [UInt8], expected: String?) throws {
        #expect(try JPEGXLHeader.unreadMetadata(of: 1, in: ByteSource(bytes)) == expected)
    }
}
