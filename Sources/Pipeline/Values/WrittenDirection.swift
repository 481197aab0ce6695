// The direction of the lines of a text that holds values of either direction.

/// The direction of each line of a text, decided by the words that are written in it: a value before them, whose
/// letters may go the other way, does not count. https://www.unicode.org/reports/tr9/#P2
struct WrittenDirection {
    private struct Line {
        var mark: Unicode.Scalar?
        var hasValue = false
        /// A value comes before the first written letter.
        var needsMark = false
    }

    private let isMarkup: Bool
    private var lines = [Line()]
    /// The text that was added so far ends within a tag.
    private var isTag = false

    init(isMarkup: Bool) { self.isMarkup = isMarkup }

    mutating func addValue() { if !isTag { lines[lines.count - 1].hasValue = true } }

    /// Adds words that are written in the template.
    mutating func add(_ words: String) {
        for scalar in words.unicodeScalars {
            if isMarkup, scalar == "<" || scalar == ">" { isTag = scalar == "<" }
            if scalar == "\n" { lines.append(Line()) }
            guard !isTag, lines[lines.count - 1].mark == nil, scalar.properties.isAlphabetic else { continue }
            lines[lines.count - 1].mark = scalar.isRightToLeft ? "\u{200F}" : "\u{200E}"
            lines[lines.count - 1].needsMark = lines[lines.count - 1].hasValue
        }
    }

    /// The text with a mark before each line that needs one.
    func applied(to text: String) -> String {
        guard lines.contains(where: \.needsMark) else { return text }
        var result = String.UnicodeScalarView()
        let parts = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index > 0 { result.append("\n") }
            if lines.indices.contains(index), lines[index].needsMark, let mark = lines[index].mark {
                result.append(mark)
            }
            result += part
        }
        return String(result)
    }
}

extension Unicode.Scalar {
    /// It is in a block of Hebrew, Arabic, Syriac or another script that is written from right to left.
    fileprivate var isRightToLeft: Bool {
        switch value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x1_0800...0x1_0FFF, 0x1_E800...0x1_EFFF: true
        default: false
        }
    }
}
