// The metadata of a source that a rendition has, and the metadata that does not fit, moves, or is lost.
import Testing

@testable import Pipeline

@Suite struct MetadataSelectionTests {
    private let owner = Statements(rights: Rights(copyright: "(c) Ann"))

    private func source(
        _ blocks: [MetadataBlock: [UInt8]], texts: [PNGText] = [], own: Statements = Statements(),
        unwritable: [String] = []
    ) -> MetadataBlocks {
        MetadataBlocks(blocks, telling: Set(blocks.keys), texts: texts, own: own, unwritable: unwritable)
    }

    /// XMP of so many bytes, most of which are in a property that nobody knows.
    private func xmp(_ statements: Statements, bytes: Int) -> [UInt8] {
        let packet = statements.xmpPacket()
        let end = packet.firstRange(of: Array("</rdf:RDF>".utf8))?.lowerBound ?? packet.count
        let (opening, closing) = ("<rdf:Description xmlns:a=\"a:\"><a:b>", "</a:b></rdf:Description>")
        let rest = bytes - packet.count - opening.utf8.count - closing.utf8.count
        let words = Array((opening + String(repeating: "x", count: rest) + closing).utf8)
        return packet[..<end] + words + packet[end...]
    }

    private func dataset(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        [0x1C, 2, number, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
    }

    @Test func `XMP that libvips would leave out of a JPEG is cut down to what is known, and that is said`() {
        let found = source([.xmp: xmp(owner, bytes: 61_000)])
        let selection = found.selection(.all, stating: Statements(), for: JPEGOutput.self)
        #expect(selection.blocks[.xmp].map { Statements(xmp: $0) } == owner)
        #expect(selection.loss == "XMP, which is damaged or too long, as a whole")
        let all = found.selection(.all, stating: Statements(), for: WebPOutput.self)
        #expect(all.blocks[.xmp] == found.blocks[.xmp] && all.loss == nil)
    }

    @Test func `a caption does not push XMP out of a JPEG that would fit without it`() {
        let packet = xmp(owner, bytes: 59_900)
        let found = source([.xmp: packet], own: Statements(caption: "A ship"))
        let selection = found.selection(.all, stating: Statements(), for: JPEGOutput.self)
        #expect(selection.blocks[.xmp] == packet)
        #expect(selection.loss == "caption")
    }

    @Test(arguments: [
        // Ultra HDR, with attributes and a list of the pictures in the file.
        """
        <rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"
         xmlns:Container="http://ns.google.com/photos/1.0/container/"
         xmlns:Item="http://ns.google.com/photos/1.0/container/item/"><Container:Directory><rdf:Seq><rdf:li
         rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li><rdf:li
         rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg"
         Item:Length="9"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>
        """,
        // With a map's numbers as elements, by another prefix.
        """
        <rdf:Description xmlns:m="http://ns.adobe.com/hdr-gain-map/1.0/"><m:Version>1.0</m:Version><m:GainMapMax><rdf:Seq
        ><rdf:li>2.1</rdf:li></rdf:Seq></m:GainMapMax></rdf:Description>
        """,
        """
        <rdf:Description xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" HDRGainMap:HDRGainMapVersion="65536"/>
        """,
        """
        <rdf:Description xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:MotionPhoto="1"
         GCamera:MicroVideoOffset="300" GCamera:SpecialTypeID="2"/>
        """,
    ])
    func `XMP about other pictures in the file is not kept with it; the rest is`(words: String) throws {
        let packet = owner.xmpPacket()
        let end = try #require(packet.firstRange(of: Array("</rdf:RDF>".utf8))?.lowerBound)
        let found = source([.xmp: packet[..<end] + Array(words.utf8) + packet[end...]])
        for policy in [KeptMetadata.all, .allButLocation] {
            let selection = found.selection(policy, stating: Statements(), for: JPEGOutput.self)
            let kept = String(decoding: try #require(selection.blocks[.xmp]), as: UTF8.self)
            for word in [
                "GainMapVersion=", "hdrgm:Version=", ">1.0<", "GainMapMax", "Semantic", "MotionPhoto=", "MicroVideo",
            ] {
                #expect(!kept.contains(word), "\(kept)")
            }
            #expect(kept.contains("SpecialTypeID=\"2\"") == words.contains("SpecialTypeID"))
            #expect(Statements(xmp: Array(kept.utf8)) == owner && selection.loss == nil)
        }
        let torn = source([.xmp: packet[..<end] + Array(words.utf8) + Array("<a".utf8)])
        let selection = torn.selection(.all, stating: Statements(), for: JPEGOutput.self)
        #expect(selection.blocks[.xmp].map { Statements(xmp: $0) } == owner)
    }

    @Test func `what is set and fits no JPEG is said`() {
        let long = String(repeating: "語", count: 4000)
        let new = Statements(
            rights: Rights(copyright: long), title: long, caption: long, keywords: [long, long + "2"])
        let selection = source([:]).selection(.copyright, stating: new, for: JPEGOutput.self)
        #expect(selection.blocks[.xmp].map { Statements(xmp: $0).rights.copyright } == long)
        #expect(selection.loss == "what 'set' of 'metadata' states")
    }

    @Test func `IPTC that grows beyond a segment gives its rights to the XMP`() {
        let latin1 = [UInt8](repeating: 0xE9, count: 30_000)
        let block = dataset(116, Array("(c) Ann".utf8)) + dataset(40, latin1) + dataset(40, latin1)
        let selection = source([.iptc: block]).selection(.allButLocation, stating: Statements(), for: JPEGOutput.self)
        #expect(selection.blocks[.iptc] == nil)
        #expect(selection.blocks[.xmp].map { Statements(xmp: $0) } == owner)
        #expect(selection.loss == "IPTC of so many bytes; copyright, artist and licence are in its XMP")
    }

    @Test func `IPTC of a TIFF that has it swapped is right in a JPEG`() throws {
        var block = dataset(116, Array("(c) Ann".utf8)) + dataset(90, Array("Berlin".utf8))
        while block.count % 4 != 0 { block.append(0) }
        let swapped = stride(from: 0, to: block.count, by: 4).flatMap { block[$0..<$0 + 4].reversed() }
        let selection = source([.iptc: swapped]).selection(.all, stating: Statements(), for: JPEGOutput.self)
        let written = try #require(selection.blocks[.iptc])
        #expect(written.firstRange(of: Array("Berlin".utf8)) != nil && Statements(iptc: written) == owner)
        #expect(selection.loss == nil)
    }

    @Test func `rights in Photoshop's resources of a TIFF count`() {
        let data = dataset(116, Array("(c) Ann".utf8))
        let resource = Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(data.count)] + data
        let found = source([.photoshop: resource])
        #expect(found.statements == owner)
        let selection = found.selection(.copyright, stating: Statements(), for: JPEGOutput.self)
        #expect(selection.blocks[.xmp].map { Statements(xmp: $0) } == owner)
    }

    @Test func `texts of EXIF in Latin-1 are written in UTF-8, with the rest as it was`() throws {
        var block = EXIFBlock()
        let isStated = block.state([.artist: "Ann", .copyright: "(c) Ann", .imageDescription: "A ship"])
        #expect(isStated)
        let found = source([.exif: block.marked], unwritable: ["Artist", "Copyright", "Software"])
        let selection = found.selection(.all, stating: Statements(), for: JPEGOutput.self)
        let written = try #require(selection.blocks[.exif])
        #expect(Statements(exif: written) == Statements(exif: block.marked))
        #expect(selection.unwritable == ["Software"] && selection.blocks[.xmp] == nil)
        #expect(selection.loss == "EXIF's Software")
    }

    @Test func `only blocks with more than what stays are said to be removed`() {
        #expect(source([.xmp: owner.xmpPacket()]).blocksWithMore.isEmpty)
        #expect(source([.xmp: Statements(title: "A").xmpPacket()]).blocksWithMore == [.xmp])
    }

    @Test func `what is stated anew leaves no other value in the same XMP`() throws {
        let packet = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Artist="Old" tiff:Make="Camera"
            xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/" xmpRights:Owner="Old"/></rdf:RDF></x:xmpmeta>
            """
        let new = Statements(rights: Rights(creator: ["New"], copyright: "(c) New"))
        let selection = source([.xmp: Array(packet.utf8)]).selection(.all, stating: new, for: PNGOutput.self)
        let text = String(decoding: try #require(selection.blocks[.xmp]), as: UTF8.self)
        #expect(!text.contains("Old") && text.contains("Camera") && text.contains("(c) New"))
        #expect(selection.loss == nil)
    }

    @Test func `texts of a PNG stay as they are in a PNG, wherever they were, and state their owner elsewhere`() throws
    {
        func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
            [0, 0, 0, UInt8(data.count)] + Array(type.utf8) + data + [1, 2, 3, 4]
        }
        let text = chunk("iTXt", Array("Author\0\0\0de\0\0Zoë".utf8))
        let file =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", [UInt8](repeating: 1, count: 13))
            + chunk("IDAT", [7]) + text + chunk("zTXt", Array("Creation Time\0\0x".utf8)) + chunk("IEND", [])
        let texts = try PNGChunks.pngFacts(in: ByteSource(file)).texts
        #expect(texts.map(\.keyword) == ["Author", "Creation Time"])
        #expect(texts.first.map { $0.type + String(decoding: $0.data, as: UTF8.self) } == "iTXtAuthor\0\0\0de\0\0Zoë")
        #expect(texts.map(\.text) == ["Zoë", nil])
        let own = Statements(rights: Rights(creator: ["Zoë"]))
        let found = source([:], texts: texts, own: own)
        let kept = found.selection(.all, stating: Statements(), for: PNGOutput.self)
        #expect(kept.texts == texts && kept.blocks.isEmpty && kept.loss == nil)
        let restated = found.selection(
            .all, stating: Statements(rights: Rights(creator: ["New"])), for: PNGOutput.self)
        #expect(restated.texts == [texts[1]])
        let other = found.selection(.all, stating: Statements(), for: WebPOutput.self)
        #expect(other.texts.isEmpty && other.blocks[.xmp].map { Statements(xmp: $0) } == own)
        // A file that ends early has what it has.
        let whole = file.count - 12
        #expect(try PNGChunks.pngFacts(in: ByteSource(Array(file.prefix(whole)))).texts == texts)
        for length in file.indices { _ = try? PNGChunks.pngFacts(in: ByteSource(Array(file.prefix(length)))) }
        let profile = try #require(PNGText(type: "tEXt", data: Array("Raw profile type exif\0x".utf8)))
        let place = try #require(PNGText(type: "tEXt", data: Array("photoshop:City\0Berlin".utf8)))
        let odd = source([:], texts: [profile, place])
        #expect(odd.selection(.all, stating: Statements(), for: PNGOutput.self).texts == [place])
        let there = odd.selection(.allButLocation, stating: Statements(), for: PNGOutput.self)
        #expect(there.texts.isEmpty && there.loss == "the text 'Raw profile type exif'")
        for bad in ["\0x", " Author\0x", "Author \0x", String(repeating: "a", count: 80) + "\0x", "Author\0x\0y"] {
            #expect(PNGText(type: "tEXt", data: Array(bad.utf8)) == nil)
        }
    }

    @Test(arguments: [
        ("\nexif\n 4\n4578\n6966\n", [UInt8]("Exif".utf8)), ("\nexif\n 3\n4578\n6966\n", nil),
        ("\nexif\n 5\n45786966\n", nil),
        ("\nexif\n 9223372036854775807\n45\n", nil), ("\nexif\n 1\n4x\n", nil), ("\nexif\n -1\n45\n", nil), ("", nil),
    ])
    func `a profile in hexadecimal is read if it is as long as it says`(text: String, bytes: [UInt8]?) throws {
        var facts = PNGFacts()
        let profile = try #require(PNGText(type: "tEXt", data: Array("Raw profile type exif\0\(text)".utf8)))
        facts.texts = [profile, profile]
        let found = facts.blocks(without: [], unpacked: [])
        #expect(found.blocks == (bytes.map { [.exif: $0] } ?? [:]))
        #expect(found.texts.count == (bytes == nil ? 2 : 1))
        #expect(facts.blocks(without: [.exif], unpacked: []).blocks.isEmpty)
    }

    @Test func `blocks of megabytes that are hostile cost no time`() {
        func number(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        // A directory of a place whose fields all claim the same bytes.
        let fields = 20_000
        let first = number(1, 2) + number(0x8825, 2) + number(4, 2) + number(1, 4) + number(26, 4) + number(0, 4)
        let field = number(2, 2) + number(1, 2) + number(900_000, 4) + number(8, 4)
        let block =
            Array("II*\0".utf8) + number(8, 4) + first + number(fields, 2)
            + (0..<fields).flatMap { _ in field } + [UInt8](repeating: 1, count: 700_000)
        let selection = source([.exif: block]).selection(.allButLocation, stating: owner, for: PNGOutput.self)
        #expect(selection.blocks[.exif].map { $0.count < 1000 } == true)
        #expect(selection.loss == "EXIF, which is damaged or too long, as a whole")
        // Elements within each other, with prefixes that nothing declares.
        let names = (0..<4000).map { " p\($0):a=''" }.joined()
        let open = (0..<60).map { "<a xmlns:q\($0)='q'>" }.joined()
        let close = String(repeating: "</a>", count: 60)
        let deep =
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            + open + String(repeating: "<b\(names)/>", count: 15) + close + "</rdf:RDF></x:xmpmeta>"
        let edited = source([.xmp: Array(deep.utf8)]).selection(.allButLocation, stating: owner, for: PNGOutput.self)
        #expect(edited.blocks[.xmp] != nil)
    }
}
