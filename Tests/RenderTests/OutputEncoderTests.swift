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
        try usual(format.encoder).save(
            Image.black(width: 16, height: 8, bands: 3).copy(interpretation: .srgb), as: picture, to: output,
            strip: true)
        let bytes = try output.bytes(at: 0, count: 4096)
        #expect(guessFormat(bytes) == .readable(format.asSource))
        let size = headerSize(of: format.asSource, in: ByteSource(bytes))
        #expect(size?.width == 16 && size?.height == 8)
    }

    private func usual<Encoder: OutputEncoder>(_ type: Encoder.Type) -> any OutputEncoder { Parameters.usual(type) }

    @Test func `no two formats share a name or a file extension`() {
        let names = SaveFormat.allCases.flatMap(\.words)
        #expect(Set(names).count == names.count)
        #expect(Set(OutputFormat.allCases.map(\.fileExtension)).count == OutputFormat.allCases.count)
        for format in OutputFormat.allCases {
            #expect(format.asSource.fileExtensions.contains(format.fileExtension), "\(format.rawValue)")
        }
    }
}
