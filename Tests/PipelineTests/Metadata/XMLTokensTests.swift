import Testing

@testable import Pipeline

struct XMLTokensTests {
    private func tokens(_ document: String) -> [XMLToken] {
        Array(XMLTokens(Array(document.utf8)))
    }

    @Test func `tags, attributes and text come out in order`() {
        let expected: [XMLToken] = [
            .start(
                name: "a:b", attributes: [XMLAttribute(name: "c", value: "1"), XMLAttribute(name: "d", value: "\"2\"")]),
            .text("text"),
            .start(name: "e", attributes: []),
            .end(name: "e"),
            .end(name: "a:b"),
        ]
        #expect(tokens("<a:b c=\"1\" d = '\"2\"' >text<e/></a:b >") == expected)
    }

    @Test func `comments, instructions and the document type are skipped`() {
        #expect(
            tokens("<?xml version='1.0'?><!-- <a> -- > --><!DOCTYPE a><!DOCTYPE a [<!ENTITY b \"c\">]>x") == [
                .text("x")
            ])
    }

    @Test func `the five named entities and numeric references are replaced`() {
        #expect(tokens("&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;&#x000041;") == [.text("<>&\"'A😀A")])
        #expect(tokens("&amp;lt;") == [.text("&lt;")])
    }

    @Test func `an entity of a document type is not expanded`() {
        #expect(tokens("<!DOCTYPE a [<!ENTITY lol \"lolol\">]>&lol;&lol;") == [.text("&lol;&lol;")])
    }

    @Test func `a lone ampersand stays and a reference to no character vanishes`() {
        #expect(
            tokens("Smith & Sons; &; R&D &verylongnameofanentity;") == [
                .text("Smith & Sons; &; R&D &verylongnameofanentity;")
            ])
        #expect(tokens("a&#;&#xD800;&#1114112;&#99999999999;&#xZ;b") == [.text("ab")])
    }

    @Test func `a CDATA section is text as it is`() {
        #expect(tokens("<![CDATA[<a> &amp; ]] ]>]]>x") == [.text("<a> &amp; ]] ]>"), .text("x")])
    }

    @Test func `line breaks in an attribute become spaces unless they are references`() {
        #expect(
            tokens("<a b='1\n2&#10;3'>") == [.start(name: "a", attributes: [XMLAttribute(name: "b", value: "1 2\n3")])]
        )
    }

    @Test(arguments: [
        "<", "<a", "<a b", "<a b=", "<a b='c", "</", "</a", "<!--", "<!-- -", "<![CDATA[", "<![CDATA[x]]", "<?",
        "<?a ?", "<!", "<!D [",
        "<!D []",
    ])
    func `what does not end gives no token`(document: String) {
        #expect(tokens(document) == [])
    }

    @Test func `a broken tag is dropped where the next one begins`() {
        #expect(tokens("<a b='<c>x</c") == [.start(name: "c", attributes: []), .text("x")])
        #expect(tokens("</a<b>") == [.start(name: "b", attributes: [])])
        #expect(tokens("1 < 2") == [.text("1 "), .text(" 2")])
    }

    @Test func `a broken attribute is dropped alone`() {
        let good = XMLAttribute(name: "good", value: "1")
        #expect(tokens("<a bad bad=2 \" = ' good='1'>") == [.start(name: "a", attributes: [good])])
        #expect(tokens("<a bad bad=2 good='1' />") == [.start(name: "a", attributes: [good]), .end(name: "a")])
    }

    @Test func `bytes that are not UTF-8 become replacement characters`() {
        #expect(Array(XMLTokens([0x61, 0xFF, 0x62])) == [.text("a\u{FFFD}b")])
    }

    @Test func `values, names and attributes are bounded`() {
        let long = String(repeating: "x", count: 100_000)
        #expect(tokens(long) == [.text(String(long.prefix(16_384)))])
        #expect(tokens("<![CDATA[\(long)]]>") == [.text(String(long.prefix(16_384)))])
        #expect(tokens("</\(long)>") == [.end(name: String(long.prefix(256)))])
        guard case .start(_, let attributes)? = tokens("<a" + String(repeating: " b=''", count: 10_000) + ">").first
        else {
            Issue.record("expected a start tag")
            return
        }
        #expect(attributes.count == 4096)
    }
}
