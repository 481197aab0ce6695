import Testing

@testable import Pipeline

struct XMPRightsTests {
    private func rights(_ packet: String) -> Rights {
        Rights(xmp: Array(packet.utf8))
    }

    @Test func `a Lightroom packet gives its attributes, its elements and nothing of its ingredients`() {
        #expect(rights(XMPPackets.lightroom) == XMPPackets.lightroomRights)
    }

    @Test func `an ExifTool packet gives the elements of every Description`() {
        let expected = Rights(
            creator: ["Ana"],
            copyright: "(c) Ana \"the lens\" Ruiz",
            credit: "Agency",
            webStatement: "https://agency.example/terms",
            licence: "https://agency.example/buy",
            licenceNamesLicensor: true
        )
        #expect(rights(XMPPackets.exifTool) == expected)
    }

    @Test func `a Creative Commons packet gives the licence address`() {
        let expected = Rights(
            usageTerms: "CC BY 4.0",
            webStatement: "https://example.org/photo",
            licence: "https://creativecommons.org/licenses/by/4.0/"
        )
        #expect(rights(XMPPackets.creativeCommons) == expected)
    }

    @Test func `a prefix means what the file binds it to`() {
        let expected = Rights(
            creator: ["The creator"],
            credit: "The credit",
            licence: "http://creativecommons.org/licenses/by/2.0/"
        )
        #expect(rights(XMPPackets.foreignPrefixes) == expected)
    }

    @Test func `a prefix that is bound to nothing means nothing`() {
        #expect(
            rights("<rdf:RDF><rdf:Description dc:rights='x'><dc:rights>x</dc:rights></rdf:Description></rdf:RDF>")
                .isEmpty)
    }

    @Test func `a binding ends with its element`() {
        let inside = "<dc:source xmlns:dc='https://example.com/other'>x</dc:source><dc:rights>here</dc:rights>"
        #expect(rights(XMPPackets.around(inside)).copyright == "here")
    }

    @Test func `an inner binding hides an outer one`() {
        let hidden = "<dc:rights xmlns:dc='https://example.com/other'>not this</dc:rights>"
        let bound = "<x:rights xmlns:x='http://purl.org/dc/elements/1.1/'>this</x:rights>"
        #expect(rights(XMPPackets.around(hidden + bound)).copyright == "this")
    }

    @Test func `an attribute without a prefix has no namespace`() {
        let attributes = "xmlns='http://purl.org/dc/elements/1.1/' rights='not this'"
        #expect(rights(XMPPackets.around("<rights>this</rights>", attributes: attributes)).copyright == "this")
    }

    @Test func `the first statement of each property counts`() {
        let statements = ["one", "two"].map { word in
            """
            <dc:creator>\(word)</dc:creator><dc:rights>\(word)</dc:rights><photoshop:Credit>\(word)</photoshop:Credit>
            <xmpRights:UsageTerms>\(word)</xmpRights:UsageTerms><xmpRights:WebStatement>\(word)</xmpRights:WebStatement>
            <cc:license>\(word)</cc:license>
            """
        }
        let expected = Rights(
            creator: ["one"], copyright: "one", credit: "one", usageTerms: "one", webStatement: "one", licence: "one"
        )
        #expect(rights(XMPPackets.around(statements.joined())) == expected)
    }

    @Test func `a byte order mark in front changes nothing`() {
        #expect(rights("\u{FEFF}" + XMPPackets.creativeCommons) == rights(XMPPackets.creativeCommons))
    }

    @Test(arguments: [true, false], [true, false])
    func `a packet in UTF-16 gives nothing`(bigEndian: Bool, byteOrderMark: Bool) {
        let units = (byteOrderMark ? [0xFEFF] : []) + Array(XMPPackets.lightroom.utf16)
        let bytes = units.flatMap { unit in
            bigEndian ? [UInt8(unit >> 8), UInt8(unit & 0xFF)] : [UInt8(unit & 0xFF), UInt8(unit >> 8)]
        }
        #expect(Rights(xmp: bytes).isEmpty)
    }

    @Test func `without x-default the first language counts`() {
        let items = "<rdf:li xml:lang='fr'>premier</rdf:li><rdf:li xml:lang='en'>second</rdf:li>"
        #expect(rights(XMPPackets.around("<dc:rights><rdf:Alt>\(items)</rdf:Alt></dc:rights>")).copyright == "premier")
    }

    @Test func `an empty x-default gives way to a language that says something`() {
        let items = "<rdf:li xml:lang='x-default'> </rdf:li><rdf:li xml:lang='en'>words</rdf:li>"
        #expect(rights(XMPPackets.around("<dc:rights><rdf:Alt>\(items)</rdf:Alt></dc:rights>")).copyright == "words")
    }

    @Test(arguments: [
        "<dc:rights>words</dc:rights>",
        "<dc:rights>wo<!-- no -->rds</dc:rights>",
        "<dc:rights><![CDATA[wor]]>ds</dc:rights>",
        "<dc:rights> <rdf:Bag>\n<rdf:li>words</rdf:li>\n</rdf:Bag> </dc:rights>",
        "<dc:rights rdf:resource='words'/>",
        "<dc:rights><rdf:Alt><rdf:li rdf:resource='words'/></rdf:Alt></dc:rights>",
        "<dc:rights rdf:parseType='Resource'><rdf:value>words</rdf:value><cc:note>no</cc:note></dc:rights>",
        "<dc:rights><rdf:Alt><rdf:li rdf:parseType='Resource'>\n<rdf:value>words</rdf:value>\n</rdf:li></rdf:Alt></dc:rights>",
        "<dc:rights> </dc:rights><dc:rights>words</dc:rights><dc:rights>later words</dc:rights>",
        "<dc:title>no</dc:title><dc:rights>words</dc:rights>",
    ])
    func `a value is found in every form it can have`(inside: String) {
        #expect(rights(XMPPackets.around(inside)) == Rights(copyright: "words"))
    }

    @Test func `every property may be an attribute`() {
        let attributes = """
            dc:creator="Ana" dc:rights='©' photoshop:Credit="A" xmpRights:UsageTerms="B" xmpRights:WebStatement="C" cc:license="D"
            """
        let expected = Rights(
            creator: ["Ana"], copyright: "©", credit: "A", usageTerms: "B", webStatement: "C", licence: "D")
        #expect(rights(XMPPackets.around("", attributes: attributes)) == expected)
    }

    @Test(arguments: [
        "<plus:LicensorURL>L</plus:LicensorURL>",
        "<plus:Licensor plus:LicensorURL='L'/>",
        "<plus:Licensor><rdf:Bag><rdf:li plus:LicensorName='N' plus:LicensorURL='L'/></rdf:Bag></plus:Licensor>",
        """
        <plus:Licensor><rdf:Seq><rdf:li><rdf:Description>
        <plus:LicensorURL>L</plus:LicensorURL>
        </rdf:Description></rdf:li></rdf:Seq></plus:Licensor>
        """,
    ])
    func `a licensor's address is found in every form, and a licence beats it`(inside: String) {
        #expect(rights(XMPPackets.around(inside)) == Rights(licence: "L", licenceNamesLicensor: true))
        let licence = "<cc:license rdf:resource='CC'/>"
        #expect(rights(XMPPackets.around(inside + licence)) == Rights(licence: "CC"))
        #expect(rights(XMPPackets.around(licence + inside)) == Rights(licence: "CC"))
    }

    @Test func `an old Creative Commons work is a Description too`() {
        let packet = """
            <rdf:RDF xmlns="http://web.resource.org/cc/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <Work rdf:about=""><license rdf:resource="http://creativecommons.org/licenses/by/1.0/" /></Work>
            <License rdf:about="http://creativecommons.org/licenses/by/1.0/"><permits rdf:resource="x"/></License>
            </rdf:RDF>
            """
        #expect(rights(packet) == Rights(licence: "http://creativecommons.org/licenses/by/1.0/"))
    }

    @Test func `rights outside of RDF or inside another property do not count`() {
        let rdf = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:dc='http://purl.org/dc/elements/1.1/'"
        #expect(rights("<a \(rdf)><dc:rights>x</dc:rights><rdf:RDF><dc:rights>x</dc:rights></rdf:RDF></a>").isEmpty)
        #expect(rights(XMPPackets.around("<dc:source><dc:rights>x</dc:rights></dc:source>")).isEmpty)
    }

    @Test(arguments: [
        "<dc:rights>never closed",
        "<dc:rights><rdf:Alt><rdf:li>item never closed</rdf:Alt></dc:rights>",
        "<dc:rights>x<b></dc:rights>",
        "<dc:rights>x",
        "<dc:rights rdf:resource=x></dc:rights>",
    ])
    func `a value in an element that is not closed is not believed, and what follows is read`(inside: String) {
        let packet = XMPPackets.around(inside + "</rdf:Description><rdf:Description photoshop:Credit='after'>")
        #expect(rights(packet) == Rights(credit: "after"))
    }

    @Test func `values and lists are bounded`() {
        let long = String(repeating: "x", count: 50_000)
        let people = String(repeating: "<rdf:li>A</rdf:li>", count: 1000)
        let inside =
            "<dc:creator><rdf:Seq>\(people)</rdf:Seq></dc:creator><dc:rights>\(long)</dc:rights><cc:license>\(long)</cc:license>"
        let found = rights(XMPPackets.around(inside))
        #expect(found == Rights(creator: Array(repeating: "A", count: 64), copyright: String(long.prefix(4096))))
    }
}
