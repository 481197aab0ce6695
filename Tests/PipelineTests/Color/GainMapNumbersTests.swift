// The numbers of gain maps, as files have them.
import Testing

@testable import Pipeline

@Suite struct GainMapNumbersTests {
    private func packet(_ inner: String, _ attributes: String = "") -> [UInt8] {
        Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/">
             <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
              <rdf:Description rdf:about=""
                xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"
               hdrgm:Version="1.0" \(attributes)>
               \(inner)
              </rdf:Description>
             </rdf:RDF>
            </x:xmpmeta>
            """.utf8)
    }

    @Test(arguments: ["\n     ", "\r\n     ", " "])
    func `lists, elements and attributes are read, whatever is between them`(space: String) throws {
        func list(_ name: String, _ numbers: [String]) -> String {
            let items = numbers.map { "<rdf:li>\($0)</rdf:li>" }.joined(separator: space)
            return "<hdrgm:\(name)>\(space)<rdf:Seq>\(space)\(items)\(space)</rdf:Seq>\(space)</hdrgm:\(name)>\(space)"
        }
        let inner =
            list("GainMapMin", ["-0.256907", "-0.261365", "-0.280284"])
            + list("GainMapMax", ["1.277177", "1.277203", "1.277969"]) + "<hdrgm:Gamma>0.95</hdrgm:Gamma>"
        let numbers = try #require(
            GainMapNumbers(packet: packet(inner, "hdrgm:OffsetSDR=\"0.5\" hdrgm:HDRCapacityMax='1.3'")))
        #expect(numbers.least == [-0.256907, -0.261365, -0.280284])
        #expect(numbers.most == [1.277177, 1.277203, 1.277969])
        #expect(numbers.gamma == [0.95] && numbers.baseOffset == [0.5] && numbers.otherOffset == [0.015625])
        #expect(numbers.leastHeadroom == 0 && numbers.mostHeadroom == 1.3 && numbers.isUsable)
        // As text and as bytes, it is the same.
        #expect(GainMapNumbers(packet: numbers.packet) == spread(numbers))
        let bytes = try #require(numbers.iso)
        let read = try #require(GainMapNumbers(iso: bytes))
        #expect(bytes[4] == 0xC0 && read == spread(numbers, also: true))
    }

    /// The same with a number for each band where one was for all.
    private func spread(_ numbers: GainMapNumbers, also all: Bool = false) -> GainMapNumbers {
        var spread = numbers
        for part in [\GainMapNumbers.least, \.most, \.gamma, \.baseOffset, \.otherOffset]
        where all && spread[keyPath: part].count == 1 {
            spread[keyPath: part] = [Double](repeating: spread[keyPath: part][0], count: 3)
        }
        return spread
    }

    @Test(arguments: [
        "GainMapMin=\"nan\"", "GainMapMax=\"inf\"", "Gamma=\"\u{2212}1\"", "OffsetSDR=\"x\"",
        "HDRCapacityMax=\"1e999\"",
        "GainMapMax=\"65\"", "Gamma=\"0\"", "OffsetHDR=\"3\"", "HDRCapacityMax=\"1e308\"", "GainMapMin=\"3\"",
    ])
    func `numbers that are none, or cannot be, make a map useless`(wrong: String) {
        let name = wrong.split(separator: "=")[0]
        let rest = ["GainMapMax=\"2\""].filter { !$0.hasPrefix(name) }
        let attributes = ([wrong] + rest).map { "hdrgm:\($0)" }.joined(separator: " ")
        #expect(GainMapNumbers(packet: packet("", attributes))?.isUsable != true)
    }

    @Test func `fractions of the binary form have 32 bits, without a sign below`() throws {
        func number(_ value: UInt32) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func iso(version: UInt8 = 0, below: UInt32 = 3_000_000_000) -> [UInt8] {
            let fractions: [UInt32] = [
                0, 1, 4_000_000_000, 2_000_000_000, UInt32(bitPattern: -1), 4, 1_288_490_189, below, 4_000_000_000,
                4_000_000_000, 0, 1, 0, 1,
            ]
            return [0, version, 0, 0, 0x40] + fractions.flatMap(number)
        }
        let numbers = try #require(GainMapNumbers(iso: iso()))
        #expect(numbers.least == [-0.25] && numbers.gamma == [1] && numbers.mostHeadroom == 2 && numbers.isUsable)
        #expect(abs(numbers.most[0] - 0.4294967296666667) < 1e-15)
        // A version that nobody knows yet, a division by zero, and an end before the last number.
        #expect(GainMapNumbers(iso: iso(version: 9)) == nil)
        #expect(GainMapNumbers(iso: iso(below: 0)) == nil)
        for end in iso().indices { #expect(GainMapNumbers(iso: Array(iso().prefix(end))) == nil) }
    }

    @Test func `a map in gray has one number that leaves light as it is, or none`() {
        func neutral(_ gamma: String, bands: Int) -> [Double]? {
            let metadata = GainMapMetadata(
                packet: packet(
                    "<hdrgm:Gamma><rdf:Seq>\(gamma)</rdf:Seq></hdrgm:Gamma>",
                    "hdrgm:GainMapMin=\"-1\" hdrgm:GainMapMax=\"1\""), iso: nil)
            return metadata.neutral(bands: bands) { part, exponent in exponent == 1 ? part : part * part }
        }
        let (alike, different) = (
            "<rdf:li>1</rdf:li><rdf:li>1</rdf:li><rdf:li>1</rdf:li>",
            "<rdf:li>1</rdf:li><rdf:li>2</rdf:li><rdf:li>1</rdf:li>"
        )
        #expect(neutral(alike, bands: 1) == [0.5] && neutral(alike, bands: 3) == [0.5, 0.5, 0.5])
        #expect(neutral(different, bands: 1) == nil && neutral(different, bands: 3) == [0.5, 0.25, 0.5])
    }

    @Test(arguments: [("4.532783", true), ("1", true), ("0", false), ("nan", false), ("", false), ("-3", false)])
    func `Apple's headroom is a number from 1 on`(text: String, isUsable: Bool) {
        for packet in [
            packet("", "HDRGainMap:HDRGainMapHeadroom=\"\(text)\""),
            packet("<HDRGainMap:HDRGainMapHeadroom>\(text)</HDRGainMap:HDRGainMapHeadroom>"),
        ] {
            #expect(GainMapNumbers.isAppleHeadroomUsable(packet: packet) == isUsable)
        }
        #expect(GainMapNumbers.isAppleHeadroomUsable(packet: packet("")) == nil)
    }

    @Test(arguments: [
        (
            "HDRGainMap:HDRGainMapVersion=\"65536\"",
            "HDRGainMap:HDRGainMapHeadroom=\"8.0\" HDRGainMap:HDRGainMapVersion=\"65536\""
        ),
        (
            "><HDRGainMap:HDRGainMapVersion>65536</HDRGainMap:HDRGainMapVersion",
            "><HDRGainMap:HDRGainMapHeadroom>8.0</HDRGainMap:HDRGainMapHeadroom><HDRGainMap:HDRGainMapVersion>65536</HDRGainMap:HDRGainMapVersion"
        ),
    ])
    func `Apple's headroom goes where the version is`(before: String, after: String) {
        #expect(
            GainMapNumbers.adding(appleHeadroom: 8, to: packet("", before)) == packet("", after),
            "\(String(decoding: GainMapNumbers.adding(appleHeadroom: 8, to: packet("", before)), as: UTF8.self))")
    }
}
