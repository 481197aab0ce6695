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

    @Test func `what the list does not call a large thumbnail is none, nor what is turned otherwise`() throws {
        let (photo, preview) = (jpeg(600, 400), jpeg(300, 200))
        for kind in [0, 0x03_0000, 0x02_0001, 0x02_0002, 0x02_0003] {
            #expect(try previews(CameraJPEG.file(photo, preview: preview, kind: kind)).isEmpty, "\(kind)")
        }
        // Flags in front of the kind tell who depends on whom.
        #expect(try previews(CameraJPEG.file(photo, preview: preview, kind: 0x4001_0001)).count == 1)
        let turned = CameraJPEG.file(preview, thumbnail: [], orientation: 3)
        #expect(try previews(CameraJPEG.file(photo, preview: turned)).isEmpty)
        let both = CameraJPEG.file(photo, thumbnail: [], orientation: 3)
        #expect(try previews(CameraJPEG.file(both, preview: turned)).count == 1)
        for (own, count) in [(6, 1), (1, 0)] {
            let file = CameraJPEG.file(photo, thumbnail: preview, orientation: 6, thumbnailOrientation: own)
            #expect(try previews(file).count == count)
        }
    }

    @Test func `what takes much to decode is none: progressive, or with other components`() throws {
        let photo = jpeg(600, 400)
        var progressive = jpeg(300, 200)
        progressive[3] = 0xC2
        #expect(try previews(CameraJPEG.file(photo, preview: progressive)).isEmpty)
        let colored: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8] + SmallFiles.big(200, 2) + SmallFiles.big(300, 2)
            + [3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xFF, 0xDA, 0, 2, 1, 0xFF, 0xD9]
        #expect(try previews(CameraJPEG.file(photo, preview: colored)).isEmpty)
    }

    @Test func `any byte of a JPEG with previews may be another one`() {
        let file = CameraJPEG.file(CameraJPEG.file(jpeg(600, 400), thumbnail: jpeg(160, 120)), preview: jpeg(300, 200))
        for index in file.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var mutant = file
                mutant[index] = value
                for preview in (try? JPEGMarkers.previews(in: ByteSource(mutant))) ?? [] {
                    let bytes = try? JPEGMarkers.file(of: preview, in: ByteSource(mutant))
                    #expect(bytes?.starts(with: [0xFF, 0xD8]) == true, "byte \(index), \(value)")
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
        #expect((try? HEIFStructure.previews(in: ByteSource(builder.file())))?.isEmpty ?? true)
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
        let far = PixelSize(maximumCoordinate + 1, Int(UInt32.max))
        #expect([EmbeddedPreview(size: far, place: .item(1))].showing(far).isEmpty)
        let found = sizes.map { EmbeddedPreview(size: PixelSize($0.0, $0.1), place: .item(1)) }
            .showing(PixelSize(600, 400))
        #expect(found.map { [$0.size.width, $0.size.height] } == [[160, 107], [161, 107], [300, 200], [320, 212]])
    }
}
