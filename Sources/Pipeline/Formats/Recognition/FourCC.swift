// The four characters that name the parts of a PNG, a RIFF and an ISO media file.

/// Four bytes that are meant to be read as ASCII.
struct FourCC: Hashable, ExpressibleByStringLiteral {
    /// The first character is in the highest byte.
    private let code: Int

    init(stringLiteral text: String) {
        code = text.utf8.reduce(0) { $0 << 8 | Int($1) }
    }

    fileprivate init(code: Int) {
        self.code = code
    }

    var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(code >> $0 & 0xFF) } }

    var isLetters: Bool {
        bytes.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
    }
}

extension ForwardReader {
    /// With a zero at the end, it is the beginning of a hole that nobody has written to yet.
    mutating func fourCC() throws(StructureError) -> FourCC {
        let code = try integer(bytes: 4)
        if code & 0xFF == 0 { throw .endsEarly }
        return FourCC(code: code)
    }
}
