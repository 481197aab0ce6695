// The abilities of a terminal: whether it can go back, which letters it has, and how much fits into a line.
import Engine
import Glibc
import System

enum Terminal {
    /// Whether a descriptor is a terminal that understands control sequences.
    static func canGoBack(_ descriptor: CInt, kind: String? = variable("TERM")) -> Bool {
        isatty(descriptor) == 1 && !["", "dumb"].contains(kind ?? "")
    }

    /// Whether the locale has more than ASCII, as the C library decides it.
    static func hasUTF8(_ variable: (String) -> String? = variable) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(variable)
        let locale = (names.first { !$0.isEmpty } ?? "").uppercased()
        return locale.contains("UTF-8") || locale.contains("UTF8")
    }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Signs of the program's own, and what stands for each if there is only ASCII.
    private static let signs: [Character: String] = [
        "█": "#", "░": "-", "→": "->", "×": "x", "≈": "~", "≤": "<=", "…": "...", "°": " deg",
    ]

    /// A text in letters that a descriptor can show. What is no terminal gets the text as it is.
    static func shown(_ text: String, on descriptor: CInt) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }), !hasUTF8(), isatty(descriptor) == 1 else { return text }
        return ascii(text)
    }

    /// A text with the program's own signs in ASCII; other letters stay, as they are those of names.
    static func ascii(_ text: String) -> String { text.reduce(into: "") { $0 += signs[$1] ?? String($1) } }

    /// How many characters a line may have so that it can be taken back; one that wraps could not.
    static func width(_ descriptor: CInt) -> Int { max(1, (Machine.terminalColumns(descriptor) ?? 80) - 1) }

    /// The first of several lines that fits; the last ones say less, but nothing that is not so.
    static func fitting(_ lines: [String], _ width: Int) -> String { lines.first { $0.count <= width } ?? "" }

    /// A line that is cut after one of its parts, if it is too long: half a number would be another number.
    static func cut(_ line: String, _ width: Int) -> String {
        guard line.count > width else { return line }
        let kept = line.prefix(max(0, width - 3))
        guard let end = kept.lastIndex(where: { ",;".contains($0) }) else {
            // A name, or words.
            return String((kept.reversed().drop { $0.isNumber }.reversed() + "...").prefix(width))
        }
        return line[..<end] + " ..."
    }
}
