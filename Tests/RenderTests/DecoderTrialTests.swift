// Whose fault it is that an operation failed.
import Pipeline
import TestSupport
import Testing
import Vips

@testable import Render

@Suite struct DecoderTrialTests {
    private static let refusal = VipsError(reason: .failed, operation: "save", message: "the encoder refuses")
    private static let failed = FailedOperation(.encodingFailed, stage: "save", "it cannot be encoded", refusal)

    @Test
    func `an operation that fails over a source without a fault keeps its failure`() async throws {
        let failure = try await inVipsTurn { DecoderTrial {}.failure(after: Self.failed) }
        #expect(failure.code == .encodingFailed && failure.detail == "the encoder refuses")
    }

    @Test
    func `an operation that fails over a source that cannot be decoded does so for damage`() async throws {
        let failure = try await inVipsTurn {
            DecoderTrial { throw VipsError(reason: .failed, operation: "load", message: "read error") }
                .failure(after: Self.failed)
        }
        #expect(failure.code == .corrupt && failure.stage == "decode" && failure.detail == "read error")
    }

    @Test
    func `an operation that fails over a source whose decoder warns does so for damage`() async throws {
        var bytes = try await SamplePicture.jpeg.bytes
        // Bytes before the quantisation table, over which libjpeg complains and goes on.
        let table = try #require((0..<bytes.count - 1).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDB })
        bytes.insert(contentsOf: [0, 0, 0, 0], at: table)
        let damaged = bytes
        let failure = try await inVipsTurn {
            DecoderTrial {
                try Operation("jpegload_source", ["source": .source(try Source(bytes: damaged))]).image().evaluated()
            }
            .failure(after: Self.failed)
        }
        #expect(failure.code == .corrupt && failure.stage == "decode")
        #expect(failure.detail?.contains("4 extraneous bytes") == true, "\(failure.detail ?? "")")
    }
}
