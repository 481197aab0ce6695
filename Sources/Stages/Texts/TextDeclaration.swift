// The declaration of a text, as the user writes it.
import Pipeline

/// A text and its looks; the parameters of every stage that draws one.
struct TextDeclaration: Sendable {
    let text: TextTemplate
    let isMarkup: Bool
    let font: FontChoice
    let size: PositiveLength
    let weight: FontWeight?
    let style: TextStyle?
    let color: Color
    let align: TextAlignment
    let lineSpacing: Double
    let maxWidth: PositiveLength?
    var maxLines: Int?
    let overflow: TextOverflow
    let background: Color
    let padding: Distance
    let cornerRadius: Distance
    let outline: TextOutline?
    let shadow: TextShadow?

    init(_ p: inout Parameters) {
        text = p.required(
            "text",
            "The words. Fields in braces are those of file names, and {title}, {caption}, {artist}, {copyright} and {date-taken:%d.%m.%Y} of the picture's metadata; {width} and {height} are those of the picture that it is drawn on. What comes after a bar is drawn if there is no value: {artist|unknown}. A brace itself is written twice."
        )
        isMarkup = p.optional(
            "markup", false,
            "Whether the words, but not the values of fields, are Pango's markup, as <b>, <i> and <span size=\"larger\">. All of it has one color."
        )
        font = p.optional(
            "font", .family("sans-serif"),
            "A family that is installed, or a font file, by its path relative to the pipeline file.")
        size = p.optional(
            "size", PositiveLength(.percent(5)), "The em; a percentage is of the picture's shorter side.")
        weight = p.optional("weight", "How heavy the letters are; default that of the font.")
        style = p.optional("style", "Whether the letters are upright or lean; default that of the font.")
        color = p.optional("color", .black, "The color of the letters.")
        align = p.optional(
            "align", .leading,
            "How lines are placed below each other: leading is where each begins, which is the right for Arabic and Hebrew."
        )
        lineSpacing = p.optional(
            "line-spacing", 1.25, in: 0.1...10, "From one baseline to the next, as a multiple of `size`.")
        maxWidth = p.optional(
            "max-width",
            "Lines are broken there; a percentage is of the picture's width. Default: what `inset` and `padding` leave."
        )
        maxLines = p.optional(
            "max-lines", in: 1...1000,
            "The most lines; default as many as there are, and as are written if `overflow` is not wrap.")
        overflow = p.optional(
            "overflow", .wrap,
            "What happens to words that do not fit `max-width`: wrap puts them into more lines, of which `max-lines` are drawn; ellipsis ends the last line with …; shrink makes the letters smaller, to a quarter of `size`, so that all words stay whole; what does not fit then is broken within words, and cut in the same way."
        )
        background = p.optional("background", .transparent, "The color of a box below the text.")
        padding = p.optional(
            "padding", .zero,
            "How far the box reaches beyond the text's own; a percentage is of the picture's shorter side.")
        cornerRadius = p.optional(
            "corner-radius", .zero,
            "The radius of the box's corners, at most half its shorter side; a percentage is of the picture's shorter side."
        )
        outline = p.optional("outline", "A line around the letters.")
        shadow = p.optional("shadow", "A shadow of the letters.")
        let shown = isMarkup ? text.written.replacing(/<[^>]*>/, with: "") : text.written
        if shown.allSatisfy(\.isWhitespace) {
            p.problem(
                inValueOf: "text", "'text' is empty: write the words to draw, such as \"© {artist|unknown}\"")
        }
        // Tags are not drawn, so that more may be written.
        let most = isMarkup ? 6 * TextTemplate.longest : TextTemplate.longest
        if text.writtenCount > most {
            p.problem(inValueOf: "text", "'text' has \(text.writtenCount) characters; at most \(most) are read")
        }
        if isMarkup, let problem = text.markupProblem {
            p.problem(inValueOf: "text", "'text' is no markup: \(problem)")
        }
    }

    /// The most lines, if that is known from what is written.
    var boundedLines: Int? { maxLines ?? (overflow == .wrap ? nil : writtenLines) }
    /// The lines that are written in the text.
    var writtenLines: Int { min(text.lines, 1000) }
}

enum TextStyle: String, ParameterWord { case normal, italic, oblique }

enum TextAlignment: String, ParameterWord { case leading, center, trailing }

/// The treatment of words that do not fit a line.
enum TextOverflow: String, ParameterWord { case wrap, ellipsis, shrink }

/// `outline: { width: 2, color: black }`.
struct TextOutline: ParameterMapping {
    let width: PositiveLength
    let color: Color

    init(_ p: inout Parameters) {
        width = p.required("width", "How wide it is; a percentage is of the picture's shorter side.")
        color = p.optional("color", .black, "Its color.")
    }

    private init() { (width, color) = (.placeholder, .black) }

    static var expectation: String { "an outline such as { width: 2, color: black }" }
    static var owner: String { "'outline'" }
    static var placeholder: TextOutline { TextOutline() }
    var written: String { "{ width: \(width.written), color: \(color.written) }" }
}

/// `shadow: { color: "#00000080", offset: { x: 0, y: 2 }, blur: 4 }`.
struct TextShadow: ParameterMapping {
    let color: Color
    let offset: Offset
    let blur: Distance

    private static let usual = (
        color: Color(red: 0, green: 0, blue: 0, alpha: 0.5), offset: Offset(x: .points(0), y: .points(1)),
        blur: Distance(.points(2))
    )

    init(_ p: inout Parameters) {
        color = p.optional("color", Self.usual.color, "Its color.")
        offset = p.optional(
            "offset", Self.usual.offset,
            "How far it is moved right and down; a percentage is of the picture's shorter side.")
        blur = p.optional(
            "blur", Self.usual.blur,
            "How soft its edge is, as the standard deviation of a Gaussian; a percentage is of the picture's shorter side."
        )
    }

    private init() { (color, offset, blur) = Self.usual }

    static var expectation: String { "a shadow such as { offset: { x: 0, y: 2 }, blur: 4 }" }
    static var owner: String { "'shadow'" }
    static var placeholder: TextShadow { TextShadow() }
    var written: String { "{ color: \(color.written), offset: \(offset.written), blur: \(blur.written) }" }
}
