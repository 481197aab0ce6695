import Testing

@testable import Pipeline

struct IPTCRightsTests {
    @Test func `bare IIM gives by-lines, copyright and credit`() {
        #expect(Rights(iptc: IPTCBlocks.agency) == IPTCBlocks.agencyRights)
    }

    @Test func `a JPEG's Photoshop segment gives the same`() {
        #expect(Rights(iptc: IPTCBlocks.jpegSegment) == IPTCBlocks.agencyRights)
    }

    @Test func `Photoshop resources without the segment's heading give the same`() {
        #expect(Rights(iptc: Array(IPTCBlocks.jpegSegment.dropFirst(14))) == IPTCBlocks.agencyRights)
    }

    @Test func `resources without an IPTC block give nothing`() {
        #expect(Rights(iptc: IPTCBlocks.resource(0x0425, IPTCBlocks.agency)).isEmpty)
        #expect(Rights(iptc: Array("Photoshop 3.0\0".utf8)).isEmpty)
    }

    /// libvips 8.14 gives `iptc-data` like this for tag 33723 of type LONG in a big-endian TIFF.
    @Test func `a block from a big-endian TIFF has its bytes swapped back`() {
        var block = IPTCBlocks.agency
        while block.count % 4 != 0 { block.append(0) }
        let swapped = stride(from: 0, to: block.count, by: 4).flatMap { block[$0..<$0 + 4].reversed() }
        #expect(Rights(iptc: swapped) == IPTCBlocks.agencyRights)
    }

    @Test func `text that is not UTF-8 is Latin-1`() {
        let block = IPTCBlocks.dataset(2, 116, [0xA9, 0x20, 0x4D, 0xFC, 0x6C, 0x6C, 0x65, 0x72])
        #expect(Rights(iptc: block) == Rights(copyright: "© Müller"))
    }

    @Test func `padding and control characters are dropped`() {
        let block =
            IPTCBlocks.dataset(80, "Ana \0\0") + IPTCBlocks.dataset(80, "\0\0") + IPTCBlocks.dataset(116, "a\rb")
        #expect(Rights(iptc: block) == Rights(creator: ["Ana"], copyright: "a\nb"))
    }

    @Test func `the first copyright and the first credit count`() {
        let block = ["one", "two"].flatMap { IPTCBlocks.dataset(116, $0) + IPTCBlocks.dataset(110, $0) }
        #expect(Rights(iptc: block) == Rights(copyright: "one", credit: "one"))
    }

    @Test func `other records with the same numbers do not count`() {
        #expect(Rights(iptc: IPTCBlocks.dataset(3, 116, [0x61]) + IPTCBlocks.dataset(1, 80, [0x61])).isEmpty)
    }

    @Test func `an extended length is followed`() {
        let preview = [UInt8](repeating: 0x1C, count: 70_000)
        let block = IPTCBlocks.extendedDataset(202, preview, lengthBytes: 4) + IPTCBlocks.dataset(116, "after")
        #expect(Rights(iptc: block) == Rights(copyright: "after"))
    }

    @Test(arguments: [5, 8, 0x7FFF])
    func `an extended length of absurd size ends the reading`(lengthBytes: Int) {
        let block =
            IPTCBlocks.dataset(116, "before") + IPTCBlocks.extendedDataset(202, [1], lengthBytes: lengthBytes)
            + IPTCBlocks.dataset(110, "after")
        #expect(Rights(iptc: block) == Rights(copyright: "before"))
    }

    @Test func `a length past the end gives no value`() {
        #expect(
            Rights(iptc: IPTCBlocks.dataset(110, "whole") + [0x1C, 2, 116, 0x7F, 0xFF, 0x61]) == Rights(credit: "whole")
        )
        #expect(Rights(iptc: [0x1C, 2, 116, 0x80, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0x61]).isEmpty)
    }

    @Test func `by-lines and values are bounded`() {
        let people = (0..<1000).flatMap { _ in IPTCBlocks.dataset(80, "A") }
        let long = String(repeating: "x", count: 30_000)
        let expected = Rights(creator: Array(repeating: "A", count: 64), copyright: String(long.prefix(4096)))
        #expect(Rights(iptc: people + IPTCBlocks.dataset(116, long)) == expected)
    }
}
