// Colours on a terminal.
import Glibc

/// Paints text for one descriptor, or leaves it as it is: only a terminal has colours, and `NO_COLOR` and `--color`
/// have a say.
struct Paint {
    private let isOn: Bool

    /// - Parameter arguments: those of the process, since mistakes in them are painted too.
    init(_ descriptor: CInt, arguments: [String] = CommandLine.arguments) {
        let choice =
            arguments.last { $0.hasPrefix("--color=") }.map { String($0.dropFirst(8)) }
            ?? arguments.lastIndex(of: "--color").flatMap {
                arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil
            }
        switch choice {
        case "always": isOn = true
        case "never": isOn = false
        default:
            let isRefused = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
            isOn = !isRefused && isatty(descriptor) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
        }
    }

    func red(_ text: String) -> String { painted(text, "1;31") }
    func yellow(_ text: String) -> String { painted(text, "33") }
    func green(_ text: String) -> String { painted(text, "32") }
    func bold(_ text: String) -> String { painted(text, "1") }
    func dim(_ text: String) -> String { painted(text, "2") }

    private func painted(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}
