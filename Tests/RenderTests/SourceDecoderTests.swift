// The contract of every source format with its decoder. Each brings a small picture of itself along.
import Foundation
import Pipeline
import Stages
import TestSupport
import Testing
import Vips

@testable import Render
@testable import System

@Suite(.quietVips) struct SourceDecoderTests {
    private func sample(_ decoder: any SourceDecoder.Type) throws -> [UInt8] {
        Array(try #require(Data(base64Encoded: decoder.sample), "the sample is no base64"))
    }

    @Test(arguments: SourceFormat.allCases)
    func `every format that is declared has a decoder, whose sample is recognized and read`(
        format: SourceFormat
    ) throws {
        let decoder = try #require(
            format.declaration as? any SourceDecoder.Type, "write the decoder in Sources/Render/Decoders")
        let bytes = try sample(decoder)
        let guess = guessFormat(bytes)
        #expect(guess == (format == .raw ? .cameraRaw("RAW: DNG") : .readable(format)))
        // LibRaw reads nothing that is smaller.
        let side = format == .raw ? 24 : 16
        if let (width, height) = headerSize(of: format, in: ByteSource(bytes)) {
            #expect(width == side && height == side)
        }
        #expect(completeness(of: format, in: ByteSource(bytes)) != .incomplete)
        // Other codecs are part of libvips.
        guard CodecTrial.canRead(format) else {
            #expect(format.mayBeMissing)
            return
        }
        let folder = try TemporaryFolder()
        let file = try OpenFile.reading(BytePath(try folder.write(bytes, to: "a")))
        let source = try ProbedSource(file, format: format)
        #expect(source.facts.format == format && source.facts.size == PixelSize(side, side) && source.facts.isPlausible)
        let picture = try source.decoded(source.reopened(shrink: 1, tolerance: .nothing), shrink: 1, .held)
        #expect(picture.size == PixelSize(side, side))
        #expect(try source.warnings(.nothing) == [])
        // The sample of AVIF says by numbers what its colors are, which libvips passes over.
        #expect(GLibLog.shared.take().allSatisfy { $0.contains("nclx") })
    }

    @Test(arguments: SourceFormat.allCases)
    func `a sample is none of another format`(format: SourceFormat) throws {
        let source = ByteSource(try sample(format.decoder))
        for other in SourceFormat.allCases where other.declaration.structure != format.declaration.structure {
            // A DNG is a TIFF too, as far as its structure goes.
            if format == .raw && other == .tiff { continue }
            #expect(headerSize(of: other, in: source) == nil && completeness(of: other, in: source) != .complete)
        }
    }

    /// libvips marks these libraries as not meant for files from strangers. It knows nothing of LibRaw.
    @Test(arguments: SourceFormat.allCases)
    func `a format is blocked in other workers if and only if it is on request`(format: SourceFormat) {
        #expect((format.decoder.blockedClass != nil) == (format.isOnRequest && format != .raw))
    }

    @Test func `no two formats share a name, a title, a media type, a mark or a brand`() {
        let formats = SourceFormat.allCases.map(\.declaration)
        func areUnique<Value: Hashable>(_ values: [Value]) -> Bool { Set(values).count == values.count }
        #expect(areUnique(formats.map { $0.name }) && areUnique(formats.map { $0.title }))
        #expect(areUnique(formats.map { $0.mediaType }) && areUnique(formats.flatMap { $0.brands }))
        #expect(areUnique(formats.compactMap { $0.rootElement }))
        for format in formats {
            #expect(format.fileExtensions.allSatisfy { $0 == $0.lowercased() } && areUnique(format.fileExtensions))
            #expect(
                format.previewShrinkFactors.first == 1
                    && format.previewShrinkFactors == format.previewShrinkFactors.sorted())
        }
    }
}
