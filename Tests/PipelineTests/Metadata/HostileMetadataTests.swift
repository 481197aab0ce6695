// Metadata made to break its reader. Most of these would trap, hang or run out of stack; a test that ends has passed,
// and says besides that nothing untrue was read.

import Testing

@testable import Pipeline

struct HostileMetadataTests {
    private func rights(_ packet: String) -> Rights {
        Rights(xmp: Array(packet.utf8))
    }

    /// True when each value of `part` is missing or is the one of `whole`.
    private func agrees(_ part: Rights, with whole: Rights) -> Bool {
        part.merged(over: whole) == whole
    }

    @Test func `every beginning of a good packet gives some of its rights and no others`() {
        for packet in [XMPPackets.lightroom, XMPPackets.foreignPrefixes, XMPPackets.creativeCommons] {
            let bytes = Array(packet.utf8)
            let whole = Rights(xmp: bytes)
            let untrue = bytes.indices.filter { !agrees(Rights(xmp: Array(bytes[..<$0])), with: whole) }
            #expect(untrue == [])
        }
    }

    @Test func `every end of a good packet gives some of its rights and no others`() {
        let bytes = Array(XMPPackets.exifTool.utf8)
        let untrue = bytes.indices.filter { !agrees(Rights(xmp: Array(bytes[$0...])), with: Rights(xmp: bytes)) }
        #expect(untrue == [])
    }

    @Test func `a good packet with one byte changed keeps the bounds`() {
        var generator = FixedGenerator(state: 20_240_601)
        let bytes = Array(XMPPackets.lightroom.utf8)
        for position in bytes.indices {
            var broken = bytes
            broken[position] = UInt8.random(in: 0...255, using: &generator)
            #expect(isBounded(Rights(xmp: broken)))
        }
    }

    @Test func `random bytes give nothing`() {
        var generator = FixedGenerator(state: 1)
        for length in 0..<500 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Rights(xmp: bytes).isEmpty)
            #expect(isBounded(Rights(iptc: bytes)))
        }
    }

    @Test func `random pieces of markup keep the bounds`() {
        let pieces = [
            "<", ">", "/", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "<!D [", "]", "=", "\"", "'", " ",
            "&", "&#x", ";",
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'", "<rdf:Description ", "<rdf:Alt>",
            "<rdf:li", "</rdf:li>",
            "xmlns:dc='http://purl.org/dc/elements/1.1/'", "<dc:rights>", "</dc:rights>", "<dc:creator ",
            "rdf:resource=", "é",
            "xml:lang='x-default'",
        ]
        var generator = FixedGenerator(state: 7)
        for _ in 0..<3000 {
            let packet = (0..<60).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            #expect(isBounded(rights(packet)))
        }
    }

    @Test(arguments: [
        "<a>", "<rdf:li>", "<dc:rights>", "<a xmlns:b='c'>", "<a b='c'/>", "</a>", "<!", "<?", "<!--", "<a b='",
        "<![CDATA[",
    ])
    func `a hundred thousand of the same thing give nothing`(piece: String) {
        #expect(rights(XMPPackets.around("<dc:rights>" + String(repeating: piece, count: 100_000))).isEmpty)
    }

    @Test func `a property around a hundred thousand nested elements is still closed by its own end`() {
        let deep = String(repeating: "<b>", count: 100_000) + "deep" + String(repeating: "</b>", count: 100_000)
        #expect(rights(XMPPackets.around("<dc:rights>a\(deep)b</dc:rights>")) == Rights(copyright: "ab"))
    }

    @Test func `a description below the deepest level is not looked at`() {
        let deep = String(repeating: "<b>", count: 32) + XMPPackets.lightroom + String(repeating: "</b>", count: 32)
        #expect(rights(deep).isEmpty)
        #expect(rights(deep + XMPPackets.creativeCommons) == rights(XMPPackets.creativeCommons))
    }

    @Test(arguments: ["<!--", "<![CDATA[", "<?", "<!", "<!DOCTYPE [", "<a b='", "<a b=\"", "</", "<", "&", "&#"])
    func `what never ends takes nothing down that came before it`(opening: String) {
        let credit = XMPPackets.around("", attributes: "photoshop:Credit='before'")
        let endless = opening + String(repeating: "x ", count: 100_000)
        #expect(rights(credit + endless) == Rights(credit: "before"))
        #expect(rights(credit + XMPPackets.around("<dc:creator>" + endless + "<dc:creator>")).credit == "before")
    }

    @Test func `a million laughs stay one word`() {
        let entities = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }.joined()
        let packet = "<!DOCTYPE x [<!ENTITY l0 \"lol\">\(entities)]>" + XMPPackets.around("<dc:rights>&l9;</dc:rights>")
        #expect(rights(packet) == Rights(copyright: "&l9;"))
    }

    @Test func `every beginning of a good IPTC block gives some of its rights and no others`() {
        for block in [IPTCBlocks.agency, IPTCBlocks.jpegSegment] {
            for end in block.indices {
                let part = Rights(iptc: Array(block[..<end]))
                #expect(IPTCBlocks.agencyRights.creator.starts(with: part.creator))
                #expect(agrees(Rights(copyright: part.copyright, credit: part.credit), with: IPTCBlocks.agencyRights))
            }
        }
    }

    @Test func `an IPTC block with one byte changed keeps the bounds`() {
        var generator = FixedGenerator(state: 3)
        for position in IPTCBlocks.jpegSegment.indices {
            for _ in 0..<20 {
                var broken = IPTCBlocks.jpegSegment
                broken[position] = UInt8.random(in: 0...255, using: &generator)
                #expect(isBounded(Rights(iptc: broken)))
            }
        }
    }

    private func isBounded(_ rights: Rights) -> Bool {
        let single = [rights.copyright, rights.credit, rights.usageTerms, rights.webStatement, rights.licence]
            .compactMap(\.self)
        return rights.creator.count <= Rights.mostCreators
            && (rights.creator + single).allSatisfy { Rights.cleaned($0) == $0 }
    }
}

/// SplitMix64: the same numbers on every run. https://prng.di.unimi.it/splitmix64.c
struct FixedGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
