// What an SVG shows that is in other files.
import Testing

@testable import Pipeline

@Suite struct LinkedFilesTests {
    @Test(arguments: [
        ("<image href='photo.jpg'/>", "photo.jpg"), ("<image xlink:href=\"../a b.png\" />", "../a b.png"),
        ("<svg:image href=' https://example.com/a.png'/>", "https://example.com/a.png"),
        ("<filter><feImage href='a.png'/></filter>", "a.png"), ("<use href='icons.svg#star'/>", "icons.svg#star"),
        ("<image href='data:image/png;base64,AAAA'/>", nil), ("<image href=' DATA:image/png;base64,AAAA'/>", nil),
        ("<use href='#star'/>", nil), ("<a href='https://example.com'><rect/></a>", nil), ("<image href=''/>", nil),
        ("<image/>", nil), ("<!-- <image href='photo.jpg'/> -->", nil), ("<text>href='photo.jpg'</text>", nil),
    ])
    func `an SVG's first picture that is in another file is found`(element: String, address: String?) {
        let svg = ByteSource(Array("<svg xmlns='http://www.w3.org/2000/svg'>\(element)</svg>".utf8))
        #expect(linkedFile(.svg, in: svg) == address)
        #expect(linkedFile(.png, in: svg) == nil)
    }
}
