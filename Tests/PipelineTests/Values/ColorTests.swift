import Testing

@testable import Pipeline

struct ColorTests {
    @Test(
        arguments: [
            ("white", Color(red: 255, green: 255, blue: 255)), ("Black", Color(red: 0, green: 0, blue: 0)),
            ("transparent", Color(red: 0, green: 0, blue: 0, alpha: 0)),
            ("rebeccapurple", Color(red: 0x66, green: 0x33, blue: 0x99)),
            ("#f80", Color(red: 255, green: 136, blue: 0)), ("#F80C", Color(red: 255, green: 136, blue: 0, alpha: 0.8)),
            ("#ff8800", Color(red: 255, green: 136, blue: 0)),
            ("#ff880000", Color(red: 255, green: 136, blue: 0, alpha: 0)),
            ("#01020333", Color(red: 1, green: 2, blue: 3, alpha: 0.2)),
        ])
    func `names and hexadecimal numbers are colours`(text: String, color: Color) {
        #expect(Color(text) == color)
    }

    @Test(arguments: [
        "", "#", "#1", "#12", "#12345", "#1234567", "#123456789", "ff8800", "#ggg", "# fff", "#ｆｆｆ", "rgb(1,2,3)",
        "whit e", "#-12",
    ])
    func `anything else is no colour`(text: String) {
        #expect(Color(text) == nil)
    }

    @Test
    func `what is not a colour brings the nearest name`() {
        let (color, log) = read(Color.self, "organge")
        #expect(color == nil)
        let words =
            "expected a color such as white, transparent, #f80, #ff8800 or #ff880080, found 'organge'; did you mean 'orange'?"
        #expect(log.problems.map(\.message) == [words])
    }

    @Test(arguments: ["", "~", "null"])
    func `nothing where a colour should be hints at the missing quotes`(text: String) {
        let words =
            "expected a color such as white, transparent, #f80, #ff8800 or #ff880080, found nothing; "
            + "a color with # needs quotes: '#ff8800'"
        #expect(read(Color.self, text).log.problems.map(\.message) == [words])
    }

    @Test
    func `every colour that is written is read as the same colour`() {
        for name in Color.named.keys {
            #expect(Color(name).flatMap { Color($0.written) } == Color(name))
        }
        for alpha in 0...255 {
            let color = Color(red: 1, green: 2, blue: 3, alpha: Double(alpha) / 255)
            #expect(Color(color.written) == color)
        }
        #expect(Color(Color.transparent.written) == .transparent)
        #expect(Color(red: 1, green: 2, blue: 3).written == "#010203")
    }

    @Test
    func `the names are those of CSS`() {
        #expect(Color.named.count == 148)
        #expect(Color.named.keys.allSatisfy { $0 == $0.lowercased() })
    }

    @Test(
        arguments: [
            ("white", true, true), ("transparent", true, false), ("#8888", true, false), ("red", false, true),
            ("#ff000000", true, false),
        ])
    func `shades of grey and opacity are recognized`(text: String, isGrey: Bool, isOpaque: Bool) throws {
        let color = try #require(Color(text))
        #expect(color.isGrey == isGrey)
        #expect(color.isOpaque == isOpaque)
    }
}
