// The contract of every output format with its encoder.
import Glibc
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Render
@testable import System

@Suite(.quietVips) struct OutputEncoderTests {
    @Test(arguments: OutputFormat.allCases)
    func `every format that is declared has an encoder`(format: OutputFormat) {
        #expect(format.declaration is any OutputEncoder.Type, "write the encoder in Sources/Render/Encoders")
    }

    @Test(arguments: OutputFormat.allCases)
    func `the files of a format are recognized as what it says`(format: OutputFormat) throws {
        guard CodecTrial.trouble(saving: format) == nil else { return }
        let folder = try TemporaryFolder()
        let output = OpenFile(owning: open(try folder.write("", to: "a"), O_RDWR | O_CLOEXEC))
        let picture = PictureInfo(size: PixelSize(16, 8))
        let encoder = usual(format.encoder)
        try encoder.save(
            Image.black(width: 16, height: 8, bands: 3).copy(interpretation: .srgb), as: picture, to: output,
            strip: true)
        let bytes = ByteSource(try output.bytes(at: 0, count: output.status().bytes))
        let isRecognized = format.declaration.recognizes(bytes)
        #expect(isRecognized)
        let size = encoder.size(in: bytes, said: PixelSize(16, 8))
        #expect(size?.width == 16 && size?.height == 8)
    }

    private func usual<Encoder: OutputEncoder>(_ type: Encoder.Type) -> any OutputEncoder { Parameters.usual(type) }

    @Test func `no two formats share a name or a file extension`() {
        let names = SaveFormat.allCases.flatMap(\.words)
        #expect(Set(names).count == names.count)
        #expect(Set(OutputFormat.allCases.map(\.fileExtension)).count == OutputFormat.allCases.count)
        for format in OutputFormat.allCases {
            let known = format.asSource?.fileExtensions ?? [format.fileExtension]
            #expect(known.contains(format.fileExtension), "\(format.rawValue)")
        }
    }
}
