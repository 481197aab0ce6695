import Stages
import Testing

@testable import Pipeline

struct SuggestionTests {
    @Test(
        arguments: [
            ("", "", 0), ("abc", "", 3), ("", "abc", 3), ("same", "same", 0),
            ("resize", "resise", 1), ("kitten", "sitting", 3), ("flaw", "lawn", 2),
            // Neighbours that are swapped are one mistake, not two.
            ("heigth", "height", 1), ("ab", "ba", 1), ("wdith", "width", 1),
            // No letter is moved twice.
            ("ca", "abc", 3),
            ("größe", "grosse", 3), ("日本", "日本語", 1),
        ])
    func `the distance counts letters put in, taken out, replaced and swapped`(
        left: String, right: String, distance: Int
    ) {
        #expect(editDistance(left, right) == distance)
        #expect(editDistance(right, left) == distance)
    }

    @Test(
        arguments: [
            ("widht", "width"), ("hieght", "height"), ("WIDTH", "width"), ("widths", "width"), ("heigt", "height"),
        ])
    func `a word that is nearly a known one brings that one`(word: String, known: String) {
        #expect(suggestion(for: word, among: ["height", "anchor", "width"]) == "; did you mean '\(known)'?")
    }

    @Test(arguments: ["", "blur", "wdh", "completely-else", "w"])
    func `a word that is near to none brings nothing`(word: String) {
        #expect(suggestion(for: word, among: ["height", "anchor", "width"]) == "")
    }

    @Test(arguments: [
        ("scaleAspectFit", "aspect-fit"), ("scaleAspectFill", "aspect-fill"), ("scaleToFill", "scale-to-fill"),
        ("topLeft", "top-left"),
    ])
    func `UIKit's words are understood`(word: String, known: String) {
        let modes = ["scale-to-fill", "aspect-fit", "aspect-fill", "center", "top-left", "bottom-left"]
        #expect(suggestion(for: word, among: modes) == "; did you mean '\(known)'?")
    }

    @Test(arguments: [
        ("redraw", "frame"), ("draw", "frame"), ("drawInRect", "frame"), ("canvas", "frame"), ("embed", "frame"),
        ("roundCorners", "mask"), ("badge", "overlay"), ("autocrop", "trim"), ("gaussian-blur", "blur"),
        ("9-slice", "nine-slice"), ("resizableImage", "nine-slice"), ("pattern", "tile"), ("scroll", "viewport"),
        ("colorize", "tint"), ("template", "tint"), ("append", "stitch"), ("collage", "contact-sheet"),
        ("layers", "composite"), ("desaturate", "grayscale"), ("usm", "sharpen"),
    ])
    func `another program's name for a stage brings ours`(word: String, stage: String) {
        #expect(suggestion(for: word, among: StageCatalogue.all.names) == "; did you mean '\(stage)'?")
    }

    @Test
    func `with nothing known nothing is suggested`() {
        #expect(suggestion(for: "width", among: []) == "")
    }

    @Test
    func `of two that are equally near the first in the alphabet is named, whatever their order`() {
        #expect(suggestion(for: "bat", among: ["cat", "bar"]) == "; did you mean 'bar'?")
        #expect(suggestion(for: "bat", among: ["bar", "cat"]) == "; did you mean 'bar'?")
    }

    @Test
    func `the nearest is named, not the first`() {
        #expect(
            suggestion(for: "top-leadin", among: ["top-trailing", "leading", "top-leading"])
                == "; did you mean 'top-leading'?")
    }
}
