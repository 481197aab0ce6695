// Pictures made for tests: every pixel is known, so that a probe can tell where it came from.
import Foundation
package import Vips

package enum TestPicture {
    /// One colour, in as many bands as values: 1 grey, 2 grey + alpha, 3 RGB, 4 RGB + alpha.
    package static func solid(_ values: [UInt8], width: Int, height: Int) throws -> Image {
        try TestVips.start()
        let pixels = (0..<width * height).flatMap { _ in values }
        return try interpreted(Image(bytes: pixels, width: width, height: height, bands: values.count))
    }

    /// A picture whose pixels are given by a function of their place; 8 bit.
    package static func make(
        width: Int, height: Int, bands: Int = 3, _ value: (_ x: Int, _ y: Int) -> [UInt8]
    ) throws -> Image {
        try TestVips.start()
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * bands)
        for y in 0..<height { for x in 0..<width { pixels += value(x, y) } }
        return try interpreted(Image(bytes: pixels, width: width, height: height, bands: bands))
    }

    private static func interpreted(_ image: Image) throws -> Image {
        try image.copy(interpretation: image.bands <= 2 ? .bw : .srgb)
    }

    /// Saves a picture by one of libvips' savers, such as `pngsave_target`, and gives the path.
    @discardableResult
    package static func save(_ image: Image, as saver: String, _ options: [(String, Argument)] = [], to path: String)
        throws -> String
    {
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        defer { close(descriptor) }
        _ = try Operation(
            saver, [("in", .image(image)), ("target", .target(try Target(descriptor: descriptor)))] + options)
        return path
    }

    /// Loads a file by one of libvips' loaders, such as `pngload_source`, into memory.
    package static func load(_ path: String, by loader: String, _ options: [(String, Argument)] = []) throws -> Image {
        try TestVips.start()
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        return try Operation(loader, [("source", .source(try Source(descriptor: descriptor)))] + options).image()
            // libvips before 8.14.6 frees a HEIF's profile with the picture that was opened.
            .copyingBlobs().inMemory()
    }
}

extension TestPicture {
    /// A picture as the bytes of a JPEG.
    package static func jpeg(_ image: Image, quality: Int) throws -> [UInt8] {
        let target = try Target()
        _ = try Operation(
            "jpegsave_target",
            [("in", .image(image)), ("target", .target(target)), ("Q", .int(quality)), ("subsample_mode", "off")])
        return target.bytes
    }
}
