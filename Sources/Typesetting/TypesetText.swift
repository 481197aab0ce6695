import CPango

/// How a text is laid out. Lengths are in pixels.
package struct TypesetStyle: Sendable {
    package enum Slant: Int32, Sendable { case upright, italic, oblique }
    package enum Alignment: Sendable { case beginning, middle, end }

    /// Nil for the font of the library's file.
    package var family: String?
    /// 100 to 1000; nil for that of the font.
    package var weight: Int?
    package var slant: Slant?
    /// The em.
    package var size: Double
    /// From one baseline to the next.
    package var lineHeight: Double
    /// Lines are broken there.
    package var width: Double
    /// The most lines that are drawn.
    package var lines: Int?
    /// The last one of these ends with an ellipsis if there is more.
    package var isEllipsized = false
    /// A word that is wider than the text is not broken; the text is cut then.
    package var keepsWords = false
    package var alignment = Alignment.beginning
    package var isMarkup = false

    package init(family: String?, size: Double, lineHeight: Double, width: Double) {
        (self.family, self.size, self.lineHeight, self.width) = (family, size, lineHeight, width)
    }
}

/// Pango's message about markup that it cannot read.
package struct MarkupError: Error {
    package let message: String
}

/// Different characters of a text, of which no more than the first are kept.
package struct NamedCharacters {
    package let first: String
    package let count: Int

    package var isEmpty: Bool { count == 0 }
    /// The first ones, and how many more there are.
    package var written: String {
        let more = count - first.unicodeScalars.count
        return more > 0 ? "\(first) and \(more) more" : first
    }
}

/// A text that has its place: lines of glyphs, one below the other.
package final class TypesetText {
    private let text: UnsafeMutablePointer<cpango_text>
    // A font map must live as long as what was laid out by it.
    private let library: FontLibrary

    /// - Parameter string: lines end with line feeds, or with U+2028 within a paragraph.
    package init(_ string: String, _ style: TypesetStyle, by library: FontLibrary) throws(MarkupError) {
        var problem: UnsafeMutablePointer<CChar>?
        let laidOut = string.withCString { string in
            Self.withOptionalCString(style.family) { family in
                var request = cpango_request()
                request.text = string
                request.is_markup = style.isMarkup
                request.family = family
                request.weight = Int32(style.weight ?? 0)
                request.style = style.slant?.rawValue ?? -1
                request.size = style.size
                request.line_height = style.lineHeight
                request.width = style.width
                request.lines = Int32(clamping: style.lines ?? 0)
                request.is_ellipsized = style.isEllipsized
                request.keeps_words = style.keepsWords
                request.align =
                    switch style.alignment {
                    case .beginning: CPANGO_BEGINNING
                    case .middle: CPANGO_MIDDLE
                    case .end: CPANGO_END
                    }
                return cpango_lay_out(library.fonts, &request, &problem)
            }
        }
        defer { g_free(problem) }
        guard let laidOut else { throw MarkupError(message: problem.map { String(cString: $0) } ?? "there is no font") }
        text = laidOut
        self.library = library
    }

    deinit { cpango_free_text(text) }

    private static func withOptionalCString<Result>(
        _ string: String?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let string else { return body(nil) }
        return string.withCString { body($0) }
    }

    /// The width of the longest line.
    package var width: Double { text.pointee.width }
    /// From one baseline to the next, as it was asked for.
    package var lineHeight: Double { text.pointee.line_height }
    package var lines: Int { Int(text.pointee.lines) }
    /// There is more text than was laid out.
    package var isCut: Bool { text.pointee.is_cut }
    /// Characters that no font has.
    package var missing: NamedCharacters {
        NamedCharacters(first: String(cString: text.pointee.missing), count: Int(text.pointee.missing_count))
    }
    /// Characters that the font itself lacks.
    package var borrowed: NamedCharacters {
        NamedCharacters(first: String(cString: text.pointee.borrowed), count: Int(text.pointee.borrowed_count))
    }
    /// The families that have what is borrowed.
    package var lenders: String { String(cString: text.pointee.lenders) }
    /// The families that its markup asks for, each as it is written, which may be a list.
    package var families: [String] {
        guard let families = text.pointee.families else { return [] }
        return String(cString: families).split(separator: "\n").map(String.init)
    }
    /// The family that the text is drawn in.
    package var family: String { String(cString: text.pointee.family) }

    /// How much of each pixel the shapes cover, 0…255, row by row.
    /// - Parameters:
    ///   - x: the left side of the text's box, from that of the pixels.
    ///   - y: its top.
    ///   - outline: how far around the shapes is covered too.
    /// - Returns: nil if there is no memory.
    package func coverage(x: Double, y: Double, outline: Double, width: Int, height: Int) -> [UInt8]? {
        var mask = [UInt8](repeating: 0, count: width * height)
        return cpango_draw(text, x, y, outline, &mask, Int32(width), Int32(height)) ? mask : nil
    }
}
