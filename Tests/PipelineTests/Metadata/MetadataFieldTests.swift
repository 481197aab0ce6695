// Fields of metadata that a pipeline asks for by name.
import Testing

@testable import Pipeline

@Suite struct MetadataFieldTests {
    private func value(
        _ field: String, _ blocks: [MetadataBlock: [UInt8]], own: Statements = Statements(),
        _ facts: SourceFacts = SourceFacts(format: .jpeg, size: PixelSize(400, 300))
    ) throws -> String? {
        let found = MetadataBlocks(blocks, telling: [], texts: [], own: own, unwritable: [])
            .values(of: [try #require(MetadataField(field))], in: facts)
        return found.first?.text
    }

    @Test(arguments: [
        ("xmp:dc:creator", "Erika Müller, Jean-Luc d'Été"),
        ("xmp:dc:rights", "© 2024 Müller, all rights reserved"),
        ("xmp:photoshop:Credit", "Studio Müller & Söhne"),
        ("xmp:xmpRights:UsageTerms", "One use only.\nNo <re-sale>."),
        ("xmp:xmpRights:WebStatement", "https://example.com/rights?a=1&b=2"),
        ("xmp:exif:GPSLatitude", "48,12.345N"), ("xmp:dc:title", nil), ("xmp:dc:cre", nil), ("xmp:regions", nil),
    ])
    func `properties of XMP are those of the picture, not of what it was made of`(field: String, text: String?) throws {
        #expect(try value(field, [.xmp: Array(XMPPackets.lightroom.utf8)]) == text)
    }

    @Test(arguments: [
        ("iptc:Caption-Abstract", "A caption"), ("iptc:By-line", "Erika Müller, Ana Ruiz"), ("iptc:City", "Köln"),
        ("iptc:Headline", nil),
    ])
    func `datasets of IPTC are found in their wrapping too`(field: String, text: String?) throws {
        #expect(try value(field, [.iptc: IPTCBlocks.agency]) == text)
        #expect(try value(field, [.photoshop: IPTCBlocks.resource(0x0404, IPTCBlocks.agency)]) == text)
    }

    /// A block in the byte order of Motorola: two directories, values of four bytes and less in them.
    private static let exif: [UInt8] = {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(value >> (8 * $0) & 255) }
        }
        let comment = Array("UNICODE\0".utf8) + Array("Zoë".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let title = Array("Ah!\0".utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let (camera, values) = (8 + 2 + 3 * 12 + 4, 8 + 2 + 3 * 12 + 4 + 2 + 12 + 4)
        let first =
            bytes(3, 2) + bytes(271, 2) + bytes(2, 2) + bytes(3, 4) + Array("Ka\0\0".utf8)
            + bytes(34_665, 2) + bytes(4, 2) + bytes(1, 4) + bytes(camera, 4)
            + bytes(40_091, 2) + bytes(1, 2) + bytes(title.count, 4) + bytes(values + comment.count, 4) + bytes(0, 4)
        let second =
            bytes(1, 2) + bytes(37_510, 2) + bytes(7, 2) + bytes(comment.count, 4) + bytes(values, 4) + bytes(0, 4)
        return Array("Exif\0\0MM".utf8) + bytes(42, 2) + bytes(8, 4) + first + second + comment + title
    }()

    @Test func `tags of EXIF are texts in the encodings that they have`() throws {
        let blocks = [MetadataBlock.exif: Self.exif]
        #expect(try value("exif:Make", blocks) == "Ka")
        #expect(try value("exif:UserComment", blocks) == "Zoë")
        #expect(try value("exif:XPTitle", blocks) == "Ah!")
        #expect(try value("exif:Artist", blocks) == nil)
        let own = Statements(rights: Rights(creator: ["Ann"]), caption: "A page")
        #expect(try value("exif:Artist", [:], own: own) == "Ann")
        #expect(try value("exif:ImageDescription", blocks, own: own) == "A page")
    }

    /// As Lightroom writes them, and as other programs do, with elements for attributes.
    private func packet(_ regions: String, width: Int = 400, height: Int = 300) -> [UInt8] {
        let text = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
             xmlns:stDim="http://ns.adobe.com/xap/1.0/sType/Dimensions#" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#">
            <mwg-rs:Regions rdf:parseType="Resource">
            <mwg-rs:AppliedToDimensions stDim:w="\(width)" stDim:h="\(height)" stDim:unit="pixel"/>
            <mwg-rs:RegionList><rdf:Bag>\(regions)</rdf:Bag></mwg-rs:RegionList>
            </mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>
            """
        return Array(text.utf8)
    }

    private static let small = """
        <rdf:li><rdf:Description mwg-rs:Type="Face" mwg-rs:Name="Ann">
        <mwg-rs:Area stArea:x="0.2" stArea:y="0.3" stArea:w="0.1" stArea:h="0.1" stArea:unit="normalized"/>
        </rdf:Description></rdf:li>
        """
    private static let large = """
        <rdf:li rdf:parseType="Resource"><mwg-rs:Type>Pet</mwg-rs:Type><mwg-rs:Area rdf:parseType="Resource">
        <stArea:x>0.75</stArea:x><stArea:y>0.5</stArea:y><stArea:w>0.3</stArea:w><stArea:h>0.2</stArea:h>
        </mwg-rs:Area></rdf:li>
        """
    private static let focus = small.replacing("Face", with: "Focus")

    @Test func `the region in focus counts, or the largest`() throws {
        let regions = { (list: String) in [MetadataBlock.xmp: self.packet(list)] }
        #expect(try value("xmp:regions", regions(Self.small)) == "20% 30%")
        #expect(try value("xmp:regions", regions(Self.small + Self.large)) == "75% 50%")
        #expect(try value("xmp:regions", regions(Self.large + Self.focus)) == "20% 30%")
        #expect(try value("xmp:regions", regions(Self.large.replacing("Pet", with: "BarCode"))) == nil)
        #expect(try value("xmp:regions", regions(Self.small.replacing("0.3", with: "NaN"))) == nil)
        #expect(try value("xmp:regions", regions(Self.small.replacing("0.2", with: "1.2"))) == nil)
        let pixels = Self.small.replacing("normalized", with: "pixel").replacing("\"0.2\"", with: "\"100\"")
            .replacing("\"0.3\"", with: "\"150\"")
        #expect(try value("xmp:regions", regions(pixels)) == "25% 50%")
        #expect(try value("xmp:regions", regions(Self.small.replacing("0.3", with: "0.33333"))) == "20% 33.33%")
    }

    /// Where the place (0.2, 0.3) of a stored picture is seen.
    @Test(arguments: [
        (1, "20% 30%"), (2, "80% 30%"), (3, "80% 70%"), (4, "20% 70%"), (5, "30% 20%"),
        (6, "70% 20%"), (7, "70% 80%"), (8, "30% 80%"),
    ])
    func `regions turn with the picture`(orientation: Int, place: String) throws {
        let facts = SourceFacts(format: .jpeg, size: PixelSize(400, 300), orientation: orientation)
        #expect(try value("xmp:regions", [.xmp: packet(Self.small)], facts) == place)
        guard orientation > 4 else { return }
        let upright = packet(Self.small, width: 300, height: 400)
        #expect(try value("xmp:regions", [.xmp: upright], facts) == "20% 30%")
    }

    @Test func `hostile packets end, and say nothing or something`() throws {
        let deep = String(repeating: "<a>", count: 100_000)
        let wide =
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            + String(repeating: "<a/>", count: 100_000)
        for text in [deep, wide, "</a></a>", "<rdf:RDF", ""] {
            #expect(try value("xmp:dc:title", [.xmp: Array(text.utf8)]) == nil)
        }
        #expect(try value("exif:Make", [.exif: Array(Self.exif.prefix(40))]) == nil)
    }

    @Test func `a name is what it was written as`() throws {
        for name in MetadataField.names + ["xmp:dc:description"] { #expect(MetadataField(name)?.written == name) }
        for name in ["", "xmp", "xmp:dc", "xmp:dc:", "xmp:no:title", "xmp:dc:a b", "iptc:120", "exif:", "dc:title"] {
            #expect(MetadataField(name) == nil, "\(name)")
        }
    }
}
