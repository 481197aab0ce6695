// The label below a picture of a contact sheet.
import Pipeline
import Vips

/// The text below a picture, and how it looks.
struct SheetLabel: Sendable {
    enum Content: String, ParameterWord {
        /// The file's name without extension.
        case name
        /// The file's name.
        case file
        case none
    }

    let content: Content
    let size: Double
    let color: Color

    init(_ p: inout Parameters) {
        content = p.optional(
            "label", .name,
            "What is written below a picture: its file name without extension, the whole of it, or nothing.")
        size = p.optional("label-size", 12.0, in: 4...500, "Size of the type, in points.")
        color = p.optional("label-color", .black, "Color of the type.")
    }

    /// Pixels for a line and what is above and below it.
    func height(scale: Double) -> Int { content == .none ? 0 : rounded(size * 1.75 * scale) }

    func text(for name: BytePath) -> String {
        switch content {
        case .none: return ""
        case .file: return name.printable
        case .name:
            let bytes = name.bytes
            let end = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } ?? bytes.count
            return BytePath(Array(bytes[..<end])).printable
        }
    }

    /// A line of text in the picture's own numbers, no larger than its box, and how far below the box's top it begins,
    /// so that all texts are on one line.
    /// - Returns: nil if there is nothing to see.
    func draw(
        _ text: String, within box: PixelSize, on picture: Picture, in foreground: Ink, over background: Ink
    ) throws -> (picture: Picture, top: Int)? {
        let (width, height) = (box.width, box.height)
        guard let ink = try fitting(text, width: width, size: max(1, rounded(Double(height) / 1.75))) else {
            return nil
        }
        // A line of type is about 1.25 times as high as its size, which leaves a seventh of the box above and below.
        let top = max(0, min(rounded(Double(height) / 7) + ink.yoffset, height - ink.height))
        let cut = try ink.extractArea(left: 0, top: 0, width: min(width, ink.width), height: min(height, ink.height))
        let front = try picture.components(of: foreground)
        let back = try picture.components(of: background)
        return (try picture.storing(cut.linear(zip(front, back).map { ($0 - $1) / 255 }, back)), top)
    }

    /// The text as ink; if it is too long, its beginning and its end.
    private func fitting(_ text: String, width: Int, size: Int) throws -> Image? {
        guard var ink = try Image.text(text, size: size) else { return nil }
        var kept = text.count
        while ink.width > width && kept > 2 {
            kept = min(kept - 1, kept * width / ink.width)
            // Names that belong together differ at their ends.
            let shortened = String(text.prefix((kept + 1) / 2)) + "…" + String(text.suffix(kept / 2))
            guard let smaller = try Image.text(shortened, size: size) else { return nil }
            ink = smaller
        }
        return ink
    }
}
