// Drawings that do not say how large they are, and what an SVG shows that is in other files.
import Testing

@testable import Pipeline

@Suite struct SVGElementsTests {
    @Test(arguments: [
        ("", true), (" width='100%' height='100%'", true), (" width='24'", true), (" height='24'", true),
        (" width='24' height='50 %'", true), (" width='' height=''", true), (" viewBox=''", true),
        (" width='24' height='24'", false), (" width='2em' height='10mm'", false), (" viewBox='0 0 24 24'", false),
        (" width='100%' height='100%' viewBox='0 0 24 24'", false), (" style='width:24px;height:24px'", false),
    ])
    func `an SVG needs a viewBox, or a width and a height in units`(attributes: String, lacks: Bool) {
        for prefix in ["", "<?xml version='1.0'?><!-- <svg width='9' height='9'> --><!DOCTYPE svg>\n"] {
            for name in ["svg", "s:svg"] {
                let svg = ByteSource(Array("\(prefix)<\(name)\(attributes)><svg width='1' height='1'/></\(name)>".utf8))
                #expect((SVGElements.refusal(of: 1, in: svg) != nil) == lacks)
            }
        }
    }

    @Test func `nothing is said of what cannot be looked into`() {
        for bytes in [[], [0x1F, 0x8B, 8, 0], Array("<svg".utf8), Array("<svg width='1".utf8), Array("<a/>".utf8)] {
            #expect(SVGElements.refusal(of: 1, in: ByteSource(bytes)) == nil, "\(bytes)")
        }
    }

    @Test(arguments: [
        ("<image href='photo.jpg'/>", "photo.jpg"), ("<image xlink:href=\"../a b.png\" />", "../a b.png"),
        ("<svg:image href=' https://example.com/a.png'/>", "https://example.com/a.png"),
        ("<filter><feImage href='a.png'/></filter>", "a.png"), ("<use href='icons.svg#star'/>", "icons.svg#star"),
        ("<image href='data:image/png;base64,AAAA'/>", nil), ("<image href=' DATA:image/png;base64,AAAA'/>", nil),
        ("<use href='#star'/>", nil), ("<a href='https://example.com'><rect/></a>", nil), ("<image href=''/>", nil),
        ("<rect mask='url( \"marks.svg#a\" )'/>", "marks.svg#a"),
        ("<rect fill='url(#a)' filter='url(b.svg#c)'/>", "b.svg#c"),
        ("<style>rect { clip-path: url(c.svg#d) }</style>", "c.svg#d"), ("<rect style='fill:url(\"#a\")'/>", nil),
        ("<style>@font-face { src: url(a.woff) } @import url(b.css); rect { fill: url(c.svg#d) }</style>", "c.svg#d"),
        ("<style>@font-face { src: url(a.woff) }</style>", nil), ("<style>@import url(b.css)</style>", nil),
        ("<text>url(a.svg)</text>", nil), ("<rect fill='url(a.svg'/>", nil), ("<rect fill='url()'/>", nil),
        ("<image/>", nil), ("<!-- <image href='photo.jpg'/> -->", nil), ("<text>href='photo.jpg'</text>", nil),
    ])
    func `an SVG's first picture that is in another file is found`(element: String, address: String?) {
        let svg = ByteSource(Array("<svg xmlns='http://www.w3.org/2000/svg'>\(element)</svg>".utf8))
        #expect(SVGElements.linkedFile(in: svg) == address)
    }
}
