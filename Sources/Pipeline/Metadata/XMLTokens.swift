// Cuts the bytes of an XML document into tags and text. Made for small packets from strangers' files: it never fails,
// drops what is malformed, and reads each byte a bounded number of times. It knows nothing of namespaces or XMP.

/// One piece of an XML document. An empty element (`<a/>`) gives a `start` and an `end`.
enum XMLToken: Equatable {
    case start(name: String, attributes: [XMLAttribute])
    case end(name: String)
    /// Text with its references replaced, or a CDATA section unchanged.
    case text(String)
}

struct XMLAttribute: Equatable {
    var name: String
    var value: String
}

/// The tokens of a UTF-8 document, in order. Comments, processing instructions and the document type are skipped;
/// entities that a document type declares are therefore unknown, and stay as they are written.
///
/// No scan goes back to an earlier byte, so the work grows with the length of the input whatever the input is:
/// a tag that breaks off is dropped where it broke off, an unterminated comment or section ends the document.
/// Bytes that are not UTF-8 become U+FFFD. A document in UTF-16 has no tags that this can see.
struct XMLTokens: Sequence, IteratorProtocol {
    /// A value is cut after this many bytes of UTF-8, which are at least 4096 scalars.
    static let longestValueInBytes = 4 * 4096
    static let longestNameInBytes = 256
    static let mostAttributes = 4096

    private let bytes: [UInt8]
    private var position = 0
    private var pendingEnd: String?
    /// Where the last token is; nothing for the end of an empty element.
    private(set) var range = 0..<0
    /// Where the attributes of the last start tag are, each with its name and quotes.
    private(set) var attributeRanges: [Range<Int>] = []
    /// Some tag so far was none, or had something in it that is no attribute.
    private(set) var isMalformed = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> XMLToken? {
        if let name = pendingEnd {
            pendingEnd = nil
            range = position..<position
            return .end(name: name)
        }
        while position < bytes.count {
            let start = position
            if let token = bytes[position] == .lessThan ? markup() : text() {
                range = start..<position
                return token
            }
        }
        return nil
    }

    private mutating func text() -> XMLToken {
        .text(XMLReferences.replaced(in: run { $0 != .lessThan }))
    }

    /// The token that begins with `<`, or nil when it is to be skipped. Always moves on by a byte or more.
    private mutating func markup() -> XMLToken? {
        if skip("<!--") {
            skip(past: "-->")
        } else if skip("<![CDATA[") {
            return characterData()
        } else if skip("<?") {
            skip(past: "?>")
        } else if skip("<!") {
            skipDeclaration()
        } else if skip("</") {
            return endTag()
        } else {
            position += 1
            return startTag()
        }
        return nil
    }

    private mutating func characterData() -> XMLToken? {
        let start = position
        guard skip(past: "]]>") else { return nil }
        return .text(String(decoding: bytes[start..<position - 3].prefix(Self.longestValueInBytes), as: UTF8.self))
    }

    /// `<!DOCTYPE …>`, with or without an internal subset in brackets.
    private mutating func skipDeclaration() {
        _ = run { $0 != .greaterThan && $0 != .openBracket }
        if peek == .openBracket { skip(past: "]") }
        skip(past: ">")
    }

    private mutating func endTag() -> XMLToken? {
        let name = self.name()
        _ = run { $0 != .greaterThan && $0 != .lessThan }
        guard peek == .greaterThan else { return nil }
        position += 1
        return name.isEmpty ? nil : .end(name: name)
    }

    private mutating func startTag() -> XMLToken? {
        guard peek?.canStartXMLName == true else {
            isMalformed = true
            return nil
        }
        let name = self.name()
        var attributes: [XMLAttribute] = []
        attributeRanges = []
        while let byte = peek, byte != .lessThan {
            if byte == .greaterThan {
                position += 1
                if bytes[position - 2] == .slash { pendingEnd = name }
                return .start(name: name, attributes: attributes)
            } else if byte.canStartXMLName {
                let start = position
                let attribute = attribute()
                isMalformed = isMalformed || attribute == nil
                if let attribute, attributes.count < Self.mostAttributes {
                    attributes.append(attribute)
                    attributeRanges.append(start..<position)
                }
            } else {
                isMalformed = isMalformed || !(byte.isXMLWhitespace || byte == .slash)
                position += 1
            }
        }
        isMalformed = true
        return nil
    }

    /// `name = "value"`, or nil when the value is missing, has no quotes or does not end.
    private mutating func attribute() -> XMLAttribute? {
        let name = self.name()
        skipWhitespace()
        guard peek == .equals else { return nil }
        position += 1
        skipWhitespace()
        guard let quote = peek, quote == .quote || quote == .apostrophe else { return nil }
        position += 1
        let raw = run { $0 != quote && $0 != .lessThan }
        guard peek == quote else { return nil }
        position += 1
        return XMLAttribute(name: name, value: XMLReferences.replaced(in: raw, whitespaceBecomesSpace: true))
    }
}

// The scanner below the grammar.
extension XMLTokens {
    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// The bytes from here on that satisfy `accepts`.
    private mutating func run(while accepts: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, accepts(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }

    private mutating func name() -> String {
        String(decoding: run(while: \.canContinueXMLName).prefix(Self.longestNameInBytes), as: UTF8.self)
    }

    private mutating func skipWhitespace() {
        _ = run(while: \.isXMLWhitespace)
    }

    /// Moves past `mark` if it is next.
    private mutating func skip(_ mark: StaticString) -> Bool {
        guard isAt(mark) else { return false }
        position += mark.utf8CodeUnitCount
        return true
    }

    /// Moves past the next `mark`, or to the end and false when there is none.
    @discardableResult
    private mutating func skip(past mark: StaticString) -> Bool {
        while position < bytes.count, !isAt(mark) { position += 1 }
        return skip(mark)
    }

    private func isAt(_ mark: StaticString) -> Bool {
        mark.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }
}

/// Replaces the five named entities and numeric character references.
enum XMLReferences {
    /// `&#x0010FFFF;` and a little room for more leading zeros.
    private static let longestReferenceInBytes = 16

    /// `raw` as text, cut after `XMLTokens.longestValueInBytes`. An unknown entity or a lone `&` stays as written.
    static func replaced(in raw: ArraySlice<UInt8>, whitespaceBecomesSpace: Bool = false) -> String {
        var text: [UInt8] = []
        var rest = raw
        while let byte = rest.first, text.count < XMLTokens.longestValueInBytes {
            if byte == .ampersand, let reference = reference(at: rest) {
                text += reference.text.utf8
                rest = rest.dropFirst(reference.length)
            } else {
                text.append(whitespaceBecomesSpace && byte.isXMLWhitespace ? .space : byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func reference(at rest: ArraySlice<UInt8>) -> (text: String, length: Int)? {
        guard let end = rest.prefix(longestReferenceInBytes).firstIndex(of: .semicolon) else { return nil }
        let body = String(decoding: rest[rest.startIndex + 1..<end], as: UTF8.self)
        return named(body).map { ($0, end - rest.startIndex + 1) }
    }

    private static func named(_ body: String) -> String? {
        switch body {
        case "amp": "&"
        case "lt": "<"
        case "gt": ">"
        case "quot": "\""
        case "apos": "'"
        case let number where number.hasPrefix("#x"): character(UInt32(number.dropFirst(2), radix: 16))
        case let number where number.hasPrefix("#"): character(UInt32(number.dropFirst()))
        default: nil
        }
    }

    /// Nothing for a number that is not a character.
    private static func character(_ code: UInt32?) -> String {
        code.flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? ""
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let lessThan = UInt8(ascii: "<")
    fileprivate static let greaterThan = UInt8(ascii: ">")
    fileprivate static let slash = UInt8(ascii: "/")
    fileprivate static let equals = UInt8(ascii: "=")
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let apostrophe = UInt8(ascii: "'")
    fileprivate static let openBracket = UInt8(ascii: "[")
    fileprivate static let ampersand = UInt8(ascii: "&")
    fileprivate static let semicolon = UInt8(ascii: ";")

    fileprivate var isXMLWhitespace: Bool {
        self == .space || self == 0x09 || self == 0x0A || self == 0x0D
    }

    /// Every byte of a character outside ASCII counts as a letter; that is wider than XML, and does no harm.
    fileprivate var canStartXMLName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...0xFF: true
        case UInt8(ascii: "_"), UInt8(ascii: ":"): true
        default: false
        }
    }

    fileprivate var canContinueXMLName: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: canStartXMLName
        }
    }
}
