// A text with its words and its lengths in pixels, before any font is read.
import Pipeline
import Typesetting

/// A text as it will be drawn. How large its box is, is only known with the font, so no size depends on it.
struct TextPlan: Sendable {
    /// The words; empty if nothing is drawn.
    let text: String
    /// The same if it cannot be read as markup.
    let plain: String
    let isMarkup: Bool
    let font: FontChoice
    let style: TypesetStyle
    let overflow: TextOverflow
    let anchor: Anchor
    /// How far the box is moved from the edges that it is anchored to, inwards.
    let inset: PixelOffset
    /// The part of the picture that it is placed in.
    let area: PixelBox
    let ink: Ink
    let background: Ink?
    let padding: Int
    let cornerRadius: Double
    let outline: (width: Double, ink: Ink)?
    let shadow: (offset: PixelOffset, sigma: Double, ink: Ink)?
    let warnings: [Warning]
    /// Tells the text apart from others.
    final class Identity: Sendable {}
    let identity = Identity()

    var isEmpty: Bool { text.isEmpty }

    /// The words as a note has them.
    var note: String {
        guard !isEmpty else { return "no text" }
        let words = text.unicodeScalars.filter { !(0x2066...0x2069).contains($0.value) }.map {
            $0 == "\n" || $0 == "\u{2028}" ? " " : $0
        }
        let isLong = words.count > Self.longestNote
        return "'\(String(String.UnicodeScalarView(words.prefix(Self.longestNote))))\(isLong ? "…" : "")'"
    }

    private static let longestNote = 40

    /// The pictures that are held while it is drawn: coverage, and what is drawn.
    func intermediates(on picture: PictureInfo) -> [PictureInfo] {
        guard !isEmpty else { return [] }
        var drawn = PictureInfo(size: picture.size, hasAlpha: true, colour: picture.colour)
        // Markup may ask for letters of any size.
        if let lines = style.lines, !isMarkup {
            // Nothing is drawn far above and below the lines.
            let height = Double(lines) * style.lineHeight + 2 * Double(padding + reach)
            drawn.size = PixelSize(picture.size.width, max(1, min(picture.size.height, Int(height.rounded(.up)))))
        }
        // The background, the shadow and the outline have a layer each.
        let layers = [background != nil, shadow != nil, outline != nil].count { $0 }
        return Array(repeating: drawn, count: 3 + layers)
    }

    /// How far letters, outline and shadow may reach beyond the box of the text.
    var reach: Int {
        if isMarkup { return maximumCoordinate }
        let ink = style.size + (outline?.width ?? 0)
        let moved = shadow.map { Double(max(abs($0.offset.x), abs($0.offset.y))) + 3 * $0.sigma } ?? 0
        return Int((ink + moved).rounded(.up))
    }
}

/// The place of a text in a picture.
struct TextPlace {
    let area: PixelBox
    let anchor: Anchor
    let inset: Offset
    /// There is room for the padding around the area.
    var isPadded = false
}

extension TextDeclaration {
    /// The largest em, in pixels. The smallest is one: below that FreeType has no size.
    private static let largest = 20_000.0

    /// Fills in the words and works out all lengths.
    /// - Parameters:
    ///   - picture: the picture that lengths refer to, which can hold what is drawn afterwards.
    ///   - place: the part of it that the text is in, and where.
    func plan(
        on picture: inout PictureInfo, at place: TextPlace, _ context: PlanContext, for stage: String
    ) throws(PlanFailure) -> TextPlan {
        let (area, anchor, inset) = (place.area, place.anchor, place.inset)
        let scale = picture.pixelsPerPoint
        let side = min(picture.size.width, picture.size.height)
        let filled = text.filled(context.fields, on: picture.size, isMarkup: isMarkup)
        let isBlank = filled.text.unicodeScalars.allSatisfy {
            $0.properties.isWhitespace || $0 == "\u{2068}" || $0 == "\u{2069}"
        }
        let em = min(max(1, try size.exactPixels(of: side, scale: scale, "size", in: stage)), Self.largest)
        let room = PixelOffset(
            inset.x.pixels(of: area.size.width, scale: scale), inset.y.pixels(of: area.size.height, scale: scale))
        let padding = try padding.pixels(of: side, scale: scale, "padding", in: stage)
        let free =
            area.size.width - (anchor.horizontal == .center ? 2 : 1) * abs(room.x) - (place.isPadded ? 0 : 2 * padding)
        var style = TypesetStyle(
            family: nil, size: em, lineHeight: em * lineSpacing,
            width: Double(
                max(1, try maxWidth?.pixels(of: area.size.width, scale: scale, "max-width", in: stage) ?? free)))
        if case .family(let family) = font { style.family = family }
        style.weight = weight?.number
        style.slant = self.style.map { style in
            switch style {
            case .normal: .upright
            case .italic: .italic
            case .oblique: .oblique
            }
        }
        style.alignment =
            switch align {
            case .leading: .beginning
            case .center: .middle
            case .trailing: .end
            }
        style.lines = boundedLines
        style.isEllipsized = overflow == .ellipsis
        style.isMarkup = isMarkup
        // A blank text needs no colors.
        var drawn = isBlank ? PictureInfo(size: picture.size) : picture
        let plan = TextPlan(
            text: isBlank ? "" : filled.text, plain: filled.plain, isMarkup: isMarkup, font: font, style: style,
            overflow: overflow,
            anchor: anchor, inset: room, area: area, ink: try drawn.ink(color, for: stage),
            background: background.isTransparent ? nil : try drawn.ink(background, for: stage),
            padding: padding,
            cornerRadius: try cornerRadius.exactPixels(of: side, scale: scale, "corner-radius", in: stage),
            outline: try outline.map { outline throws(PlanFailure) in
                (
                    try outline.width.exactPixels(of: side, scale: scale, "outline.width", in: stage),
                    try drawn.ink(outline.color, for: stage)
                )
            },
            shadow: try shadow.map { shadow throws(PlanFailure) in
                (
                    PixelOffset(
                        shadow.offset.x.pixels(of: side, scale: scale), shadow.offset.y.pixels(of: side, scale: scale)),
                    min(try shadow.blur.exactPixels(of: side, scale: scale, "shadow.blur", in: stage), Blur.mostSigma),
                    try drawn.ink(shadow.color, for: stage)
                )
            },
            warnings: filled.warnings(stage: stage))
        if !isBlank { picture = drawn }
        return plan
    }
}

extension FilledText {
    /// The warnings of a plan about the words.
    fileprivate func warnings(stage: String) -> [Warning] {
        cuts.map { Warning(.textCut, "'\(stage)': \($0)") }
            + [Warning(emptyFields: empty, in: stage)].compactMap(\.self)
    }
}
