import Testing

@testable import Pipeline

struct XMPPacketTests {
    private func roundTrip(_ rights: Rights) -> Rights {
        Rights(xmp: Statements(rights: rights).xmpPacket())
    }

    @Test func `a packet holds the rights in their customary form and nothing else`() {
        let rights = Rights(
            creator: ["Ana", "Ben"],
            copyright: "© <A&B>",
            credit: "\"C\"",
            usageTerms: "it's\nD",
            webStatement: "https://e.example/?a&b",
            licence: "https://f.example/"
        )
        let expected = """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/">
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" \
            xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/" \
            xmlns:cc="http://creativecommons.org/ns#">
            <dc:creator><rdf:Seq><rdf:li>Ana</rdf:li><rdf:li>Ben</rdf:li></rdf:Seq></dc:creator>
            <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© &lt;A&amp;B&gt;</rdf:li></rdf:Alt></dc:rights>
            <photoshop:Credit>&quot;C&quot;</photoshop:Credit>
            <xmpRights:UsageTerms><rdf:Alt><rdf:li xml:lang="x-default">it&apos;s&#10;D</rdf:li></rdf:Alt></xmpRights:UsageTerms>
            <xmpRights:WebStatement>https://e.example/?a&amp;b</xmpRights:WebStatement>
            <cc:license rdf:resource="https://f.example/"/>
            </rdf:Description>
            </rdf:RDF>
            </x:xmpmeta>
            <?xpacket end="w"?>
            """
        #expect(String(decoding: Statements(rights: rights).xmpPacket(), as: UTF8.self) == expected)
    }

    @Test func `a licensor is written as a licensor`() {
        let packet = String(
            decoding: Statements(rights: Rights(licence: "https://l.example", licenceNamesLicensor: true)).xmpPacket(),
            as: UTF8.self)
        let structure =
            "<rdf:li rdf:parseType=\"Resource\"><plus:LicensorURL>https://l.example</plus:LicensorURL></rdf:li>"
        #expect(packet.contains("<plus:Licensor><rdf:Seq>\(structure)</rdf:Seq></plus:Licensor>"))
        #expect(packet.contains("xmlns:plus=\"http://ns.useplus.org/ldf/xmp/1.0/\""))
        #expect(!packet.contains("cc:license"))
    }

    @Test(arguments: [
        "plain", "<>&\"'", "]]>", "<![CDATA[x]]>", "<!-- x -->", "&lt;&amp;#65;", "</rdf:li></rdf:Alt>", "a\nb\tc",
        "naïve © ™ 東京",
        "👩‍🚀🏳️‍🌈", "\u{202E}abc", "&", "</x:xmpmeta>", "\"/><cc:license rdf:resource=\"x",
    ])
    func `what is written is read back`(value: String) {
        let everywhere = Rights(
            creator: [value, "and \(value)"],
            copyright: value,
            credit: value,
            usageTerms: value,
            webStatement: value,
            licence: value
        )
        #expect(roundTrip(everywhere) == everywhere)
        let licensor = Rights(licence: value, licenceNamesLicensor: true)
        #expect(roundTrip(licensor) == licensor)
    }

    @Test func `empty rights make a packet without properties`() {
        #expect(roundTrip(Rights()).isEmpty)
        #expect(roundTrip(Rights(creator: ["", " "], copyright: "\u{0}")).isEmpty)
    }

    @Test func `control characters are dropped on the way out`() {
        let dirty = Rights(
            creator: ["A\u{0}na\u{8}"], copyright: "a\r\nb\u{1B}[31m", licence: "https://a.example/\u{7F}x")
        #expect(roundTrip(dirty) == Rights(creator: ["Ana"], copyright: "a\nb[31m", licence: "https://a.example/x"))
        #expect(!Statements(rights: dirty).xmpPacket().contains { $0 < 0x20 && $0 != 0x0A })
    }

    @Test func `long values are cut on the way out`() {
        let long = String(repeating: "😀", count: 5000)
        let cut = String(repeating: "😀", count: 4096)
        #expect(roundTrip(Rights(copyright: long, webStatement: long)) == Rights(copyright: cut))
    }

    @Test func `a packet of a packet is the same packet`() {
        let packet = Statements(rights: Rights(xmp: Array(XMPPackets.lightroom.utf8))).xmpPacket()
        #expect(Statements(rights: Rights(xmp: packet)).xmpPacket() == packet)
    }

    @Test func `rights are added to a packet, and what it says stays`() throws {
        let there = Statements(rights: Rights(creator: ["Ana"], copyright: "© Ana")).xmpPacket()
        let more = Rights(creator: ["Ben"], copyright: "© Ben", credit: "C", licence: "https://f.example/")
        let packet = try #require(Statements(rights: more).added(toXMP: there))
        #expect(
            Rights(xmp: packet)
                == Rights(creator: ["Ana"], copyright: "© Ana", credit: "C", licence: "https://f.example/"))
        #expect(String(decoding: packet, as: UTF8.self).hasSuffix("</rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>"))
        #expect(Statements(rights: Rights()).added(toXMP: there).map { Rights(xmp: $0) } == Rights(xmp: there))
    }

    private static func packet(_ properties: String, prefix: String = "rdf", end: String = "") -> String {
        let spaces =
            "xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:\(prefix)='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
        let description = "<\(prefix):Description \(prefix):about=''>\(properties)</\(prefix):Description>"
        return
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><\(prefix):RDF \(spaces)>\(description)</\(prefix):RDF\(end)></x:xmpmeta>"
    }

    @Test(arguments: [
        packet(""), packet("", prefix: "r"), packet("", end: " "), packet("<dc:title>:RDF and </x></dc:title>"),
    ])
    func `rights are added to a packet of other programs`(text: String) throws {
        let rights = Rights(copyright: "© Ana", licence: "https://f.example/")
        let packet = try #require(Statements(rights: rights).added(toXMP: Array(text.utf8)))
        #expect(Rights(xmp: packet) == rights)
    }

    @Test(arguments: [
        "<dc:rights></dc:rights>", "<dc:rights/>",
        "<dc:rights><rdf:Alt><rdf:li xml:lang='x-default'/></rdf:Alt></dc:rights>",
    ])
    func `a property that is there without a value is not written twice`(property: String) {
        #expect(Statements(rights: Rights(copyright: "© Ana")).added(toXMP: Array(Self.packet(property).utf8)) == nil)
        #expect(Statements(rights: Rights(credit: "C")).added(toXMP: Array(Self.packet(property).utf8)) != nil)
    }

    @Test(arguments: ["", "<x:xmpmeta", "<rdf:RDF/>", "no XMP </rdf:RDF> at all"])
    func `nothing is added to what is no packet`(text: String) {
        #expect(Statements(rights: Rights(copyright: "© Ana")).added(toXMP: Array(text.utf8)) == nil)
    }
}
