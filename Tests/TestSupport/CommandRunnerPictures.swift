// Encoded pictures and pipelines to feed the program with. Each picture is encoded once for all tests.
import Foundation
package import Vips

/// A small picture in one of the formats that are read, 64×48 pixels.
package enum SamplePicture: String, CaseIterable, Sendable {
    case jpeg, png, webp, gif, tiff, avif

    package static let width = 64
    package static let height = 48

    package var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .tiff: "tif"
        case .png, .webp, .gif, .avif: rawValue
        }
    }

    /// The sample's file.
    package var bytes: [UInt8] {
        get async throws { try await Self.samples.value[self]! }
    }

    private static let samples = Task {
        var samples: [SamplePicture: [UInt8]] = [:]
        for kind in allCases {
            samples[kind] = try await kind.encode(
                TestPicture.make(width: width, height: height) { x, y in
                    [UInt8(x * 3), UInt8(y * 5), UInt8((x * 7 + y * 13) % 256)]
                })
        }
        return samples
    }

    /// Encodes any picture in this format.
    package func encode(_ image: @autoclosure () throws -> Image) async throws -> [UInt8] {
        try await inVipsTurn {
            let folder = try TemporaryFolder()
            let options: [(String, Argument)] = self == .avif ? [("compression", "av1"), ("effort", 0)] : []
            let saver = self == .avif ? "heifsave_target" : "\(rawValue)save_target"
            let path = try TestPicture.save(try image(), as: saver, options, to: folder.path("picture"))
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
    }

    /// A JPEG of noise, which is slow to encode in any format.
    package static func noise(width: Int, height: Int) async throws -> [UInt8] {
        try await SamplePicture.jpeg.encode(
            Operation(
                "cast",
                [
                    (
                        "in",
                        .image(
                            try Operation(
                                "gaussnoise", [("width", .int(width)), ("height", .int(height)), ("seed", 7)]
                            ).image())
                    ),
                    ("format", "uchar"),
                ]
            ).image().copy(interpretation: .bw))
    }
}

/// Uses libvips in this process while no other test does: some count its objects and read its error buffer.
package func inVipsTurn<Value>(_ work: () throws -> Value) async throws -> Value {
    await VipsTurn.shared.take()
    defer { VipsTurn.shared.giveBack() }
    try TestVips.start()
    return try work()
}

extension CommandRunner {
    /// Makes the pictures and tables that a pipeline names.
    package func assets(of pipeline: String) async throws {
        let words = pipeline.split { " ,{}\n\"'".contains($0) }.map(String.init)
        for picture in words where picture.hasSuffix(".png") && !picture.contains("@") {
            try folder.write(try await SamplePicture.png.bytes, to: picture)
        }
        for table in words where table.hasSuffix(".cube") {
            try folder.write("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n", to: table)
        }
    }

    /// Writes a sample picture into the working folder; the extension says which.
    @discardableResult
    package func picture(_ name: String) async throws -> String {
        let kind = SamplePicture.allCases.first { name.hasSuffix("." + $0.fileExtension) } ?? .jpeg
        return try folder.write(try await kind.bytes, to: name)
    }

    /// Writes a pipeline with one rendition.
    @discardableResult
    package func pipeline(
        _ name: String = "p.yaml", size: String = "32x32", format: String = "webp", file: String? = nil
    ) throws -> String {
        let fileLine = file.map { "    file: \"\($0)\"\n" } ?? ""
        let text =
            "renditions:\n  small:\n    stages:\n      - resize: { size: \"\(size)\" }\n    save: { format: \(format) }\n"
            + fileLine
        return try folder.write(text, to: name)
    }

    /// The size of a rendition, by libvips. All of its pixels are decoded.
    package func size(of name: String) async throws -> [Int] {
        let loaders = [
            "jpg": "jpegload_source", "png": "pngload_source", "webp": "webpload_source", "gif": "gifload_source",
            "tif": "tiffload_source",
            "avif": "heifload_source",
        ]
        return try await inVipsTurn {
            let loader = loaders[URL(fileURLWithPath: name).pathExtension] ?? "jpegload_source"
            let image = try TestPicture.load(folder.path(name), by: loader, [("fail_on", "error")])
            return [image.width, image.height]
        }
    }
}
