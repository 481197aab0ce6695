// Smaller pictures of the same within a file, by its structure alone.
import TestSupport
import Testing

@testable import Pipeline

@Suite struct EmbeddedPreviewTests {
    /// A frame's header and nothing to decode.
    private func jpeg(_ width: Int, _ height: Int) -> [UInt8] {
        let frame: [UInt8] = [8] + SmallFiles.big(height, 2) + SmallFiles.big(width, 2) + [1, 1, 0x11, 0]
        return [0xFF, 0xD8, 0xFF, 0xC0, 0, 11] + frame + [0xFF, 0xDA, 0, 2, 1, 2, 3, 0xFF, 0xD9]
    }

    private func previews(_ file: [UInt8]) throws -> [PixelSize] {
        try JPEGMarkers.previews(in: ByteSource(file)).map(\.size)
    }

    @Test func `a JPEG has those of its list and that of its EXIF, as they are in the file`() throws {
        let (photo, thumbnail, preview) = (jpeg(600, 400), jpeg(160, 120), jpeg(300, 200))
        let file = CameraJPEG.file(CameraJPEG.file(photo, thumbnail: thumbnail), preview: preview)
        let found = try JPEGMarkers.previews(in: ByteSource(file))
        #expect(found.map(\.size) == [PixelSize(300, 200), PixelSize(160, 120)])
        let bytes = try found.map { try JPEGMarkers.file(of: $0, in: ByteSource(file)) }
        #expect(bytes == [preview, thumbnail])
        #expect(found.allSatisfy { $0.isPlausible })
        #expect(try previews(photo).isEmpty)
    }

    @Test func `what is cut off, no JPEG or in other colors is none`() throws {
        let (photo, preview) = (jpeg(600, 400), jpeg(300, 200))
        #expect(try previews(Array(CameraJPEG.file(photo, preview: preview).dropLast(1))).isEmpty)
        #expect(try previews(CameraJPEG.file(photo, preview: [1, 2, 3, 4])).isEmpty)
        #expect(try previews(CameraJPEG.file(photo, thumbnail: [0xFF, 0xD8])).isEmpty)
        let profile = Array("ICC_PROFILE\0\u{1}\u{1}colors".utf8)
        let colored = CameraJPEG.withSegment(0xE2, profile, photo)
        #expect(try previews(CameraJPEG.file(colored, preview: preview)).isEmpty)
        let alike = CameraJPEG.withSegment(0xE2, profile, preview)
        #expect(try previews(CameraJPEG.file(colored, preview: alike)) == [PixelSize(300, 200)])
        let other = CameraJPEG.withSegment(0xE2, Array("ICC_PROFILE\0\u{1}\u{1}others".utf8), preview)
        #expect(try previews(CameraJPEG.file(colored, preview: other)).isEmpty)
    }

    @Test func `any byte of a JPEG with previews may be another one`() {
        let file = CameraJPEG.file(CameraJPEG.file(jpeg(600, 400), thumbnail: jpeg(160, 120)), preview: jpeg(300, 200))
        for index in file.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var mutant = file
                mutant[index] = value
                for preview in (try? JPEGMarkers.previews(in: ByteSource(mutant))) ?? [] {
                    #expect(preview.place + preview.bytes <= mutant.count, "byte \(index), \(value)")
                    _ = try? JPEGMarkers.file(of: preview, in: ByteSource(mutant))
                }
            }
        }
    }

    private static let turned = HEIFBuilder.rotation(quarterTurns: 1)
    private static let p3 = HEIFBuilder.box("colr", Array("nclx".utf8) + [0, 12, 0, 13, 0, 6, 0x80])
    private static let standard = HEIFBuilder.box("colr", Array("nclx".utf8) + [0, 1, 0, 13, 0, 6, 0x80])
    private static let profile = HEIFBuilder.box("colr", Array("prof".utf8) + [1, 2, 3])

    @Test(
        arguments: [
            ([], [], true), ([turned], [turned], true), ([turned], [], false), ([], [turned], false),
            ([p3], [p3], true),
            ([p3], [], false), ([standard], [], true), ([profile], [profile], true), ([profile], [], false),
            ([], [p3], false), ([profile, turned], [profile, turned], true),
        ] as [([[UInt8]], [[UInt8]], Bool)])
    func `a HEIC has its thumbnail if that is turned as the picture is, and in its colors`(
        own: [[UInt8]], thumbnail: [[UInt8]], isFound: Bool
    ) throws {
        var builder = HEIFBuilder(thumbnailProperties: thumbnail, properties: [HEIFBuilder.extent(300, 200)] + own)
        #expect(try HEIFStructure.previews(in: ByteSource(builder.file())).isEmpty)
        builder.namesThumbnail = true
        let file = builder.file()
        let found = try HEIFStructure.previews(in: ByteSource(file))
        let size = thumbnail.contains(Self.turned) ? PixelSize(20, 30) : PixelSize(30, 20)
        #expect(found.map(\.size) == (isFound ? [size] : []))
        for preview in found {
            let bytes = try HEIFStructure.file(of: preview, in: ByteSource(file))
            #expect(bytes.count == file.count)
            #expect(try HEIFItems.primaryItem(in: ByteSource(bytes)) == 1)
            #expect(try HEIFStructure.previews(in: ByteSource(bytes)).isEmpty, "nobody calls it a thumbnail any more")
        }
    }

    @Test func `those of the picture's shape count, the smallest first, and the largest of many`() {
        let sizes = [
            (300, 200), (160, 120), (160, 107), (161, 107), (500, 333), (160, 105), (320, 212), (30, 20), (60, 40),
        ]
        let found = sizes.map { EmbeddedPreview(size: PixelSize($0.0, $0.1), place: 0, bytes: 0) }
            .showing(PixelSize(600, 400))
        #expect(found.map { [$0.size.width, $0.size.height] } == [[160, 107], [161, 107], [300, 200], [320, 212]])
    }
}
