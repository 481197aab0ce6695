// XMP that says how to turn a picture which has been turned.
import Testing

@testable import Pipeline

@Suite struct XMPOrientationTests {
    @Test(arguments: [
        ("<rdf:Description tiff:Orientation=\"6\" x=\"6\">", "<rdf:Description tiff:Orientation=\"1\" x=\"6\">"),
        ("tiff:Orientation = '8'", "tiff:Orientation = '1'"),
        ("<tiff:Orientation>3</tiff:Orientation><a>3</a>", "<tiff:Orientation>1</tiff:Orientation><a>3</a>"),
        ("<tiff:Orientation>\n 3\n</tiff:Orientation>", "<tiff:Orientation>\n 1\n</tiff:Orientation>"),
        ("tiff:Orientation=\"6\" tiff:Orientation=\"5\"", "tiff:Orientation=\"1\" tiff:Orientation=\"1\""),
        ("tiff:Orientation=\"1\"", "tiff:Orientation=\"1\""), ("tiff:Orientation=\"9\"", "tiff:Orientation=\"9\""),
        ("tiff:Orientation=\"65\"", "tiff:Orientation=\"65\""), ("tiff:Orientation=\"6", "tiff:Orientation=\"6"),
        ("tiff:Orientation", "tiff:Orientation"), ("exif:Orientation=\"6\"", "exif:Orientation=\"6\""), ("", ""),
    ])
    func `every statement of how to turn the picture says that it is upright`(packet: String, upright: String) {
        #expect(String(decoding: uprightXMP(Array(packet.utf8)), as: UTF8.self) == upright)
    }
}
