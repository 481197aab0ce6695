// SVG, HTML and other markup, by the name of the outermost element. A byte order mark may precede it, an XML
// declaration, comments and a doctype, which has the name too.

/// The format of a file that begins as markup does; nil if it does not. In UTF-8 or ASCII, as nearly all markup is.
func guessMarkup(_ head: [UInt8]) -> FormatGuess? {
    var text = head[...]
    _ = text.dropPrefix("\u{FEFF}")
    text = text.drop(while: isSpace)
    let isXML = text.starts(with: "<?xml".utf8)
    if let name = outermostName(&text) {
        let format = SourceFormat.allCases.first { $0.declaration.rootElement == name }
        if let format { return .readable(format) }
        if name == "html" { return .noPicture("HTML page") }
    }
    return isXML ? .noPicture("XML") : nil
}

/// In small letters and without a namespace prefix; nil if the prologue does not end, or something else follows it.
private func outermostName(_ text: inout ArraySlice<UInt8>) -> String? {
    while true {
        text = text.drop(while: isSpace)
        if text.dropPrefix("<?") {
            text.dropThrough("?>")
        } else if text.dropPrefix("<!--") {
            text.dropThrough("-->")
        } else if text.dropPrefix("<!DOCTYPE") || text.dropPrefix("<!doctype") {
            return leadingName(text.drop(while: isSpace))
        } else if text.dropPrefix("<") {
            return leadingName(text)
        } else {
            return nil
        }
    }
}

private func leadingName(_ text: ArraySlice<UInt8>) -> String? {
    let name = text.prefix { !isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
    return name.split(separator: UInt8(ascii: ":")).last.map { String(decoding: $0, as: UTF8.self).lowercased() }
}

private func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
}

extension ArraySlice<UInt8> {
    fileprivate mutating func dropPrefix(_ mark: String) -> Bool {
        guard starts(with: mark.utf8) else { return false }
        self = dropFirst(mark.utf8.count)
        return true
    }

    /// Drops all if the mark is not there.
    fileprivate mutating func dropThrough(_ mark: String) {
        while !isEmpty, !dropPrefix(mark) { self = dropFirst() }
    }
}
