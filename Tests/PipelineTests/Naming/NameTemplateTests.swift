import Testing

@testable import Pipeline

struct NameTemplateTests {
    @Test
    func `every field is understood`() throws {
        let template = try NameTemplate(
            "{dir}/{stem}-{rendition}{scale}_{width}x{height}.{hash:8}{hash}{date:%Y/%m}.{ext}")
        #expect(
            template.parts == [
                .dir, .literal("/"), .stem, .literal("-"), .rendition, .scale, .literal("_"), .width, .literal("x"),
                .height, .literal("."),
                .hash(digits: 8), .hash(digits: 16), .date(format: "%Y/%m"), .literal("."), .ext,
            ])
        #expect(template.needsHash)
        #expect(try !NameTemplate("{stem}.{ext}").needsHash)
    }

    @Test(
        arguments: [
            ("", "'' is not the name of a file"),
            ("a/", "'a/' is not the name of a file"),
            ("/{stem}", "'/{stem}' must be relative: it is a path inside the output folder"),
            ("../{stem}", "'../{stem}' must stay inside the output folder: remove '..'"),
            ("a/../{stem}", "'a/../{stem}' must stay inside the output folder: remove '..'"),
            ("a\u{7}b", "'a\u{7}b' has a control character"),
            ("a\0b", "'a\0b' has a control character"),
            (".imagemill/x", "'.imagemill/x' is kept for Imagemill's own files"),
            ("{stem", "a brace in '{stem' has no partner; a brace itself is written twice"),
            ("stem}", "a brace in 'stem}' has no partner; a brace itself is written twice"),
            ("{stem}}.png", "a brace in '{stem}}.png' has no partner; a brace itself is written twice"),
            ("{Stem}", "unknown field '{Stem}'; did you mean 'stem'?"),
            ("{stm}", "unknown field '{stm}'; did you mean 'stem'?"),
            ("{stem:4}", "unknown field '{stem:4}'; did you mean 'stem'?"),
            (
                "{quality}",
                "unknown field '{quality}'; "
                    + "the fields are {stem} {ext} {dir} {rendition} {scale} {width} {height} {hash:8} {date:%Y/%m} {content-hash:8}"
            ),
            ("{hash:3}", "{hash:N} takes 4 to 64 digits, found '3'"),
            ("{hash:65}", "{hash:N} takes 4 to 64 digits, found '65'"),
            ("{hash:}", "{hash:N} takes 4 to 64 digits, found ''"),
            ("{date}", "{date} needs a format, such as {date:%Y/%m}"),
            ("{date:%B}", "{date:…} knows %Y %m %d %H %M %S, found '%B'"),
            ("{date:%}", "{date:…} knows %Y %m %d %H %M %S, found '%'"),
        ])
    func `a wrong template is refused in these words`(text: String, words: String) {
        let (template, log) = read(NameTemplate.self, text, quoted: true)
        #expect(template == nil)
        #expect(log.problems.map(\.message) == [words])
    }

    @Test
    func `a name may contain dots`() throws {
        #expect(try NameTemplate("{stem}..{ext}").parts.count == 3)
        #expect(try NameTemplate("...{stem}").parts.count == 2)
    }

    @Test(
        arguments: [
            ("{stem}.jpg", [.jpeg]), ("{stem}.small.TIFF", [.tiff]), ("a.heif", [.heic, .avif]), ("{stem}.{ext}", []),
            ("{stem}.jpg-{width}", []),
            ("{stem}.jpg{scale}", []), ("{dir}/v1.5/photo", []), ("{stem}.thumb", []), ("jpg", []), ("{stem}.", []),
        ] as [(String, [SourceFormat])])
    func `an extension says a format`(text: String, formats: [SourceFormat]) throws {
        #expect(try NameTemplate(text).namedFormats == formats)
    }

    @Test
    func `the default has the rendition's name only where there are several files`() throws {
        let single = "renditions: { web: { save: { format: png } } }"
        #expect(try pipeline(single).renditions.map(\.template.text) == ["{stem}{scale}.{ext}"])
        let several = "renditions: { a: { save: { format: png } }, b: { save: { format: png } } }"
        #expect(
            try pipeline(several).renditions.map(\.template.text) == [
                "{stem}-{rendition}{scale}.{ext}", "{stem}-{rendition}{scale}.{ext}",
            ])
    }

    /// Names with sizes are settled when the sizes are known: `Plan.names` finds two that are equal.
    @Test
    func `two renditions that differ by their size alone are no mistake of the file`() {
        let text = """
            renditions:
              large: { stages: [resize: { size: 1600 }], save: { format: jpeg }, file: "{stem}-{width}.{ext}" }
              small: { stages: [resize: { size: 800 }], save: { format: jpeg }, file: "{stem}-{width}.{ext}" }
            """
        #expect(mistakes(text) == [])
    }

    @Test
    func `two scales that differ by their size alone are no mistake of the file`() {
        #expect(
            mistakes(onePipeline(["resize: { size: 100 }"], scale: "[1, 2]") + "\n    file: '{stem}-{height}.{ext}'")
                == [])
    }
}
