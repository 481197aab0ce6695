import Testing

@testable import Pipeline

struct MarkupGuessTests {
    @Test(arguments: [
        "<svg>",
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "\n\t <svg\n width='1'>",
        "\u{FEFF}<svg>",
        "\u{FEFF} \n<?xml version='1.0'?><svg>",
        "<?xml version='1.0' encoding='UTF-8' standalone='no'?>\n<!-- a > b -->\n<!-- <html> -->\n<svg>",
        "<?xml version='1.0'?><?xml-stylesheet href='a.css'?><svg:svg xmlns:svg='http://www.w3.org/2000/svg'>",
        "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' [ <!ENTITY ns 'x'> ]><svg>",
    ])
    func `SVG is found after all that may come before it`(text: String) {
        #expect(guessFormat(Array(text.utf8)) == .readable(.svg))
    }

    @Test(arguments: ["<!DOCTYPE html>", "<!doctype HTML>", "<html lang='en'>", "<!-- saved --><HTML>"])
    func `a web page is called one, since that is what a failed download often leaves`(text: String) {
        #expect(guessFormat(Array(text.utf8)) == .noPicture("HTML page"))
    }

    @Test(arguments: [
        "<?xml version='1.0'?><svgx>", "<?xml version='1.0'?><rss>", "<?xml version='1.0'?><!-- without end", "<?xml",
    ])
    func `other markup with an XML declaration is XML`(text: String) {
        #expect(guessFormat(Array(text.utf8)) == .noPicture("XML"))
    }

    @Test(arguments: [
        "<", "<s", "<sv", "<svgx>", "< svg>", "svg", "<!-- svg", "<?", "<!DOCTYPE", "<a>", "x<svg>", "<>", "<:>",
    ])
    func `other text is nothing`(text: String) {
        #expect(guessFormat(Array(text.utf8)) == .unknown)
    }
}
