import Foundation
import FoundationXML
import Testing

@testable import Pipeline

@Suite struct MetadataEditTests {
    private static let withoutLocation = MetadataEdit(stating: Statements(), removesLocation: true)

    private static let packet = """
        <?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
         xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
         xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" xmlns:drone-dji="http://www.dji.com/drone-dji/1.0/"
         exif:GPSLatitude="52,31.1N" xmp:Rating="4" photoshop:City='Berlin' drone-dji:AbsoluteAltitude="+34.50">
        <exif:GPSLongitude>13,24.2E</exif:GPSLongitude><!-- taken in Berlin -->
        <dc:subject><rdf:Bag><rdf:li>harbor &amp; ships</rdf:li><rdf:li>Köln</rdf:li></rdf:Bag></dc:subject>
        <Iptc4xmpExt:LocationShown><rdf:Bag><rdf:li rdf:parseType="Resource">
        <Iptc4xmpExt:Sublocation>Pier 52,31</Iptc4xmpExt:Sublocation></rdf:li></rdf:Bag></Iptc4xmpExt:LocationShown>
        <dc:description><rdf:Alt><rdf:li xml:lang="x-default">Old caption</rdf:li></rdf:Alt></dc:description>
        </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>
        """

    @Test(arguments: [
        "geo:lat_long", "geo:alt", "photo:Coordinates", "photo:SubLocality", "photo:GPS-Position", "g:image",
    ])
    func `names of places are known in any namespace and spelling, and prefixes stay`(name: String) {
        let text = """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
            xmlns:geo="http://www.w3.org/2003/01/geo/wgs84_pos#" xmlns:photo="http://example.org/gps/"
            xmlns:g="http://ns.adobe.com/xap/1.0/g/img/"><rdf:Description \(name)="Secret" photo:Mood="calm">
            <\(name)>Secret</\(name)></rdf:Description></rdf:RDF>
            """
        let edited = String(decoding: Self.withoutLocation.xmp(Array(text.utf8)).bytes, as: UTF8.self)
        #expect(!edited.contains("Secret") && edited.contains("photo:Mood=\"calm\""), "\(edited)")
        #expect(XMLReading.isWellFormed(edited))
    }

    private static let places = ["52,31", "13,24", "Berlin", "34.50", "Pier", "GPS", "City", "LocationShown"]

    @Test func `XMP keeps all but what says where the picture was taken`() {
        let text = String(decoding: Self.withoutLocation.xmp(Array(Self.packet.utf8)).bytes, as: UTF8.self)
        for place in Self.places { #expect(!text.contains(place), "\(place)") }
        #expect(text.contains("xmp:Rating=\"4\"") && text.contains("harbor &amp; ships"))
        #expect(text.hasPrefix("<?xpacket begin=") && text.hasSuffix("<?xpacket end=\"w\"?>"))
        #expect(
            Statements(xmp: Array(text.utf8))
                == Statements(caption: "Old caption", keywords: ["harbor & ships", "Köln"]))
        // Another parser finds it well-formed.
        #expect(XMLReading.isWellFormed(text))
    }

    @Test(arguments: [
        // An element that does not end, one that ends twice, and XML that is none.
        packet.replacing("</exif:GPSLongitude>", with: ""),
        packet.replacing("</rdf:Bag></dc:subject>", with: "</dc:subject>"),
        packet.replacing("</x:xmpmeta>", with: ""), packet.replacing("xmp:Rating=\"4\"", with: "xmp:Rating=\"4"),
        "exif:GPSLatitude 52,31 Berlin",
    ])
    func `of XMP that is not well-formed only what is understood stays`(text: String) {
        let edited = String(decoding: Self.withoutLocation.xmp(Array(text.utf8)).bytes, as: UTF8.self)
        for place in Self.places { #expect(!edited.contains(place), "\(place) in \(edited)") }
        #expect(XMLReading.isWellFormed(edited))
    }

    @Test func `XMP in UTF-16, which is not read, does not stay`() throws {
        let bytes = try #require(Self.packet.data(using: .utf16LittleEndian))
        #expect(Self.withoutLocation.xmp(Array(bytes)).bytes.firstRange(of: Array("B\0e\0r\0l\0i\0n\0".utf8)) == nil)
    }

    @Test func `what is stated anew replaces what the packet says, in all its forms`() {
        let stated = Statements(
            rights: Rights(creator: ["Zoë"], copyright: "© 2026 Müller & Söhne", credit: "Agency <A>"), caption: "New",
            keywords: ["one", "two"])
        let twice = Self.packet.replacing(
            "</rdf:RDF>",
            with: """
                <rdf:Description rdf:about="" xmlns:d="http://purl.org/dc/elements/1.1/" d:rights="Somebody"
                xmlns:p="http://ns.adobe.com/photoshop/1.0/" p:Credit="Nobody"><d:creator><rdf:Seq><rdf:li>Somebody</rdf:li></rdf:Seq></d:creator></rdf:Description></rdf:RDF>
                """)
        let edited = MetadataEdit(stating: stated, removesLocation: false).xmp(Array(twice.utf8)).bytes
        let text = String(decoding: edited, as: UTF8.self)
        #expect(Statements(xmp: edited) == stated)
        for old in ["Old caption", "harbor", "Somebody", "Nobody"] { #expect(!text.contains(old), "\(old)") }
        #expect(text.contains("Berlin") && text.contains("xmp:Rating=\"4\"") && XMLReading.isWellFormed(text))
    }

    /// A block with an owner, a camera, a place, and a maker's notes, in either order of bytes.
    private static func exif(isBig: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isBig ? little.reversed() : little
        }
        func field(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + number(value, 4)
        }
        // Header 8, first directory 2 + 4 × 12 + 4, texts, inner directory, notes, place.
        let texts = Array("Secret Camera\0Old owner\0".utf8)
        let (start, inner) = (8 + 2 + 48 + 4, 8 + 2 + 48 + 4 + 24)
        let notes = inner + 2 + 24 + 4
        let place = notes + 16
        let first =
            number(4, 2) + field(0x0110, 2, 14, start) + field(0x8298, 2, 10, start + 14)
            + field(0x8769, 4, 1, inner) + field(0x8825, 4, 1, place) + number(0, 4)
        let second =
            number(2, 2) + field(0x8827, 3, 1, isBig ? 100 << 16 : 100) + field(0x927C, 7, 16, notes) + number(0, 4)
        let third = number(1, 2) + field(2, 5, 3, place + 2 + 12 + 4) + number(0, 4)
        let rationals = [52, 1, 31, 1, 7, 1].flatMap { number($0 * 0x0101_0101, 4) }
        return Array("Exif\0\0".utf8) + (isBig ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]) + number(8, 4)
            + first + texts + second + Array("Landmark: Pier 9".utf8) + third + rationals
    }

    @Test(arguments: [false, true])
    func `EXIF keeps all but the place and the maker's notes, of which no byte stays`(isBig: Bool) throws {
        let block = Self.exif(isBig: isBig)
        let edited = Self.withoutLocation.exif(block).bytes
        #expect(edited.firstRange(of: Array("Pier".utf8)) == nil)
        #expect(edited.firstRange(of: [52, 52, 52, 52]) == nil && block.firstRange(of: [52, 52, 52, 52]) != nil)
        let source = ByteSource(Array(edited.dropFirst(6)))
        let layout = try TIFFLayout(of: source)
        let first = try TIFFDirectory(at: try layout.firstDirectory(in: source), in: source, layout)
        #expect(first.fields[.locationDirectory] == nil && first.hasAllValues)
        #expect(
            first.fields[.copyright]?.text(in: source, limit: 100).map { String(decoding: $0, as: UTF8.self) }
                == "Old owner\0")
        var place = try #require(try first.fields[.exifDirectory]?.numbers(in: source))
        let inner = try TIFFDirectory(at: try place.next(), in: source, layout)
        #expect(inner.fields[.makerNote] == nil && inner.hasAllValues)
        #expect(edited.firstRange(of: Array("Secret Camera\0".utf8)) != nil)
    }

    @Test(arguments: [false, true])
    func `EXIF states the owner and the caption anew, and keeps the rest`(isBig: Bool) throws {
        let stated = Statements(rights: Rights(creator: ["Zoë"], copyright: "© Müller"), caption: "A")
        let edited = MetadataEdit(stating: stated, removesLocation: false).exif(Self.exif(isBig: isBig)).bytes
        #expect(Statements(exif: edited) == stated)
        #expect(edited.firstRange(of: Array("Secret Camera\0".utf8)) != nil)
        #expect(edited.firstRange(of: Array("Landmark: Pier 9".utf8)) != nil)
    }

    private static func dataset(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        [0x1C, 2, number, 0, UInt8(value.count)] + value
    }

    @Test func `IPTC keeps its captions and keywords, as UTF-8, and no place`() {
        let latin1: [UInt8] = Array("M".utf8) + [0xFC] + Array("ller".utf8)
        let block =
            Self.dataset(80, latin1) + Self.dataset(25, Array("harbor".utf8)) + Self.dataset(90, Array("Berlin".utf8))
            + Self.dataset(101, Array("Germany".utf8)) + Self.dataset(116, Array("Old".utf8))
        let stated = Statements(rights: Rights(copyright: "© 2026"), title: "Ships")
        let edited = MetadataEdit(stating: stated, removesLocation: true).iptc(block)
        #expect(
            Statements(iptc: edited)
                == Statements(
                    rights: Rights(creator: ["Müller"], copyright: "© 2026"), title: "Ships", keywords: ["harbor"]))
        for place in ["Berlin", "Germany", "Old"] { #expect(edited.firstRange(of: Array(place.utf8)) == nil) }
        #expect(edited.starts(with: [0x1C, 1, 90, 0, 3, 0x1B, 0x25, 0x47]))
    }

    @Test func `Photoshop's resources keep all but copies of EXIF and XMP, and small pictures`() {
        func resource(_ identifier: UInt16, _ data: String) -> [UInt8] {
            let bytes = Array(data.utf8)
            return Array("8BIM".utf8) + [
                UInt8(identifier >> 8), UInt8(identifier & 255), 0, 0, 0, 0, 0, UInt8(bytes.count),
            ]
                + bytes + (bytes.count % 2 == 0 ? [] : [0])
        }
        let iptc = String(decoding: Self.dataset(120, Array("A ship".utf8)), as: UTF8.self)
        let block =
            Array("Photoshop 3.0\0".utf8) + resource(0x0404, iptc) + resource(0x0422, "EXIF: Berlin")
            + resource(0x040C, "as it was") + resource(0x03ED, "resolution")
        let edited = Self.withoutLocation.iptc(block)
        #expect(edited.starts(with: Array("Photoshop 3.0\0".utf8)))
        #expect(Statements(iptc: edited).caption == "A ship")
        #expect(edited.firstRange(of: Array("resolution".utf8)) != nil)
        for gone in ["Berlin", "as it was"] { #expect(edited.firstRange(of: Array(gone.utf8)) == nil) }
    }

    /// Blocks that are damaged anywhere end neither the program nor the promise.
    @Test func `no damage anywhere keeps a place`() {
        var random = FixedGenerator(state: 33)
        let (xmp, exif) = (Array(Self.packet.utf8), Self.exif(isBig: false))
        for _ in 0..<3000 {
            var (one, other) = (xmp, exif)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                one[Int.random(in: 0..<one.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                other[Int.random(in: 6..<other.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: Self.withoutLocation.xmp(one).bytes, as: UTF8.self)
            #expect(text.hasPrefix("<?xpacket begin="))
            let edited = Self.withoutLocation.exif(other).bytes
            #expect(edited.isEmpty || edited.starts(with: Array("Exif\0\0".utf8)))
            _ = Self.withoutLocation.iptc(other)
        }
    }
}

/// Foundation's parser.
private enum XMLReading {
    static func isWellFormed(_ text: String) -> Bool { XMLParser(data: Data(text.utf8)).parse() }
}
