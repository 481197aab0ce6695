import Testing

@testable import Pipeline

@Suite struct TextMarkupTests {
    @Test(arguments: [
        ("<b>x", "<b> is never closed; add </b>"),
        ("<b><i>x</b></i>", "</b> closes <i>; tags are closed in the order </i></b>"),
        ("x</b>", "</b> closes nothing"), ("<bold>x</bold>", "there is no tag <bold>"),
        ("<B>x</B>", "did you mean 'b'?"),
        ("a < b", "'< b' is no tag; write &lt; for the sign itself"), ("a <", "'<' is no tag"),
        ("AT&T", "'&T' is no character; write &amp; for the sign itself"), ("&nbsp;", "'&nbsp;' is no character"),
        ("&", "'&' is no character"), ("&#0;", "is no character"), ("&#xD800;", "is no character"),
        ("<span size=larger>x</span>", "the value of size needs quotes in '<span size=larger>'"),
        ("<span size>x</span>", "an attribute is written as"), ("<span size='1>x</span>", "needs quotes"),
        ("<span size='a&b'>x</span>", "is no character"), ("<b class='x'>y</b>", "<b> has no attributes"),
        ("<i x</i>", "an attribute is written as"), ("</i x>", "has no >"), ("<i", "has no >"),
        ("<!-- x", "has no -->"), ("<b>{title}", "<b> is never closed"), ("<{title}>", "there is no tag <x>"),
        ("{title|<b>x}", "<b> is never closed"), ("<b>{title|x</b>}", "</b> closes nothing"),
    ])
    func `a mistake is named`(text: String, words: String) throws {
        let found = try #require(try TextTemplate(text).markupProblem)
        #expect(
            found.contains(words) || words == "</b> closes nothing" && found == "<b> is never closed; add </b>",
            "\(found)")
    }

    @Test(arguments: [
        "plain", "<b>a</b> <i>b</i><u/>", "<span size='larger' font_family=\"A 'B'\" >x<sub>2</sub></span >",
        "&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;", "a > b", "<!-- <b> -->x", "{title|<b>none</b>}",
        "<markup>x</markup>",
        "<span font='{stem}'>{title}</span>", "<span\nsize = 'x'\n>y</span>", "'\"",
    ])
    func `what is well formed is taken`(text: String) throws {
        #expect(try TextTemplate(text).markupProblem == nil)
    }
}
