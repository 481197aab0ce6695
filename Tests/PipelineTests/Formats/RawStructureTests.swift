// Raw files by their structure: whether they are whole.
import TestSupport
import Testing

@testable import Pipeline

@Suite struct RawStructureTests {
    @Test(arguments: [("IIRO", [0x49, 0x49, 42, 0]), ("IIU\0", [0x49, 0x49, 42, 0]), ("MMOR", [0x4D, 0x4D, 0, 42])])
    func `a maker's own mark is read as a TIFF's, wherever reading begins`(mark: String, tiff: [UInt8]) {
        let rest: [UInt8] = [8, 0, 0, 0, 1, 2, 3]
        let source = RawStructure.asTIFF(ByteSource(Array(mark.utf8) + rest))
        for offset in 0..<12 {
            #expect(source.read(offset, 5) == Array((tiff + rest).dropFirst(offset).prefix(5)), "at \(offset)")
        }
        #expect(source.count == 11)
    }

    @Test func `a DNG is whole with its last byte, and a TIFF is none`() {
        let file = CameraDNG(width: 32, height: 32).file { _, _ in [100, 100, 100] }
        #expect(completeness(of: .raw, in: ByteSource(file)) == .complete)
        for count in [file.count - 1, file.count - 2000, 200] {
            #expect(completeness(of: .raw, in: ByteSource(Array(file.prefix(count)))) != .complete, "\(count)")
        }
        #expect(completeness(of: .raw, in: ByteSource(Array(file.dropLast()))) == .incomplete)
        #expect(completeness(of: .raw, in: ByteSource(TIFFBuilder(order: .little).file())) == .unknown)
    }

    @Test func `a RAF ends where the last of its three parts does`() {
        var file = Array("FUJIFILMCCD-RAW ".utf8) + [UInt8](repeating: 0, count: 92)
        for (place, (offset, count)) in [(108, 10), (118, 4), (122, 30)].enumerated() {
            file[84 + 8 * place + 3] = UInt8(offset)
            file[84 + 8 * place + 7] = UInt8(count)
        }
        file += [UInt8](repeating: 1, count: 44)
        #expect(completeness(of: .raw, in: ByteSource(file)) == .complete)
        #expect(completeness(of: .raw, in: ByteSource(Array(file.dropLast()))) == .incomplete)
        #expect(completeness(of: .raw, in: ByteSource(Array(file.prefix(90)))) == .incomplete)
    }
}
