import Foundation
import TestSupport
import Testing

@testable import Vips

@Suite("Loading and saving through descriptors") struct LoadingTests {
    let folder: TemporaryFolder

    init() throws {
        try TestVips.start()
        folder = try TemporaryFolder()
    }

    private func solid(_ value: UInt8) throws -> Image {
        try TestPicture.solid([value, value, value], width: 32, height: 24)
    }

    @Test func `a file whose name looks like libvips' options is just a file`() throws {
        let path = try TestPicture.save(try solid(200), as: "jpegsave_target", to: folder.path("a[b=1].jpg"))
        let image = try TestPicture.load(path, by: "jpegload_source")
        #expect(image.width == 32 && image.height == 24)
    }

    @Test func `a file that is replaced under its name shows its new pixels`() throws {
        let path = try TestPicture.save(try solid(10), as: "pngsave_target", to: folder.path("a.png"))
        #expect(try TestPicture.load(path, by: "pngload_source").getpoint(x: 3, y: 3) == [10, 10, 10])
        try TestPicture.save(try solid(240), as: "pngsave_target", to: folder.path("b.png"))
        #expect(rename(folder.path("b.png"), path) == 0)
        #expect(try TestPicture.load(path, by: "pngload_source").getpoint(x: 3, y: 3) == [240, 240, 240])
    }

    @Test func `pixels survive a lossless file`() throws {
        let picture = try TestPicture.make(width: 17, height: 13) { x, y in
            [UInt8(x * 15), UInt8(y * 19), UInt8(x * y)]
        }
        let path = try TestPicture.save(picture, as: "pngsave_target", to: folder.path("a.png"))
        #expect(try TestPicture.load(path, by: "pngload_source").pixels() == picture.pixels())
    }

    @Test func `a descriptor is read from its beginning, wherever its position was`() throws {
        let path = try TestPicture.save(try solid(77), as: "pngsave_target", to: folder.path("a.png"))
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        lseek(descriptor, 100, SEEK_SET)
        let image = try Operation("pngload_source", ["source": .source(try Source(descriptor: descriptor))]).image()
        #expect(try image.getpoint(x: 0, y: 0) == [77, 77, 77])
    }

    @Test(arguments: ["png", "jpeg", "tiff"])
    func `two pictures that are read from one descriptor at once do not disturb each other`(format: String) throws {
        let picture = try TestPicture.make(width: 64, height: 1200) { x, y in
            (1...3).map { UInt8(truncatingIfNeeded: (x * 7919 + y * 104_729) >> $0) }
        }
        let path = try TestPicture.save(picture, as: "\(format)save_target", to: folder.path("a"))
        let whole = try TestPicture.load(path, by: "\(format)load_source").pixels()
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        let opened = {
            try Operation(
                "\(format)load_source",
                [("source", .source(try Source(descriptor: descriptor))), ("access", "sequential")]
            ).image()
        }
        let first = try opened()
        let rows = try Region(of: first)
        try rows.prepare(rows: 0..<8)
        #expect(try opened().pixels() == whole)
        for y in stride(from: 8, to: first.height, by: 8) {
            try rows.prepare(rows: y..<y + 8)
            let isEqual = UnsafeRawBufferPointer(start: rows.row(y), count: 64 * 3).elementsEqual(
                whole[y * 64 * 3..<(y + 1) * 64 * 3])
            #expect(isEqual, "row \(y)")
        }
    }

    @Test func `metadata is edited on a copy`() throws {
        let picture = try solid(1)
        let edited = try picture.editingMetadata { editor in
            editor.set("page-height", int: 12)
            editor.set("delay", ints: [10, 20])
            editor.set("exif-ifd0-Artist", string: "Ann")
            editor.set("xmp-data", blob: [1, 2, 3])
        }
        #expect(edited.pageHeight == 12)
        #expect(edited.ints("delay") == [10, 20])
        #expect(edited.string("exif-ifd0-Artist") == "Ann")
        #expect(edited.blob("xmp-data") == [1, 2, 3])
        #expect(picture.blob("xmp-data") == nil && picture.string("exif-ifd0-Artist") == nil)
        let removed = try edited.editingMetadata { $0.remove("xmp-data") }
        #expect(removed.blob("xmp-data") == nil && edited.blob("xmp-data") == [1, 2, 3])
    }
}
