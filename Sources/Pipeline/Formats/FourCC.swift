// The four characters that name the parts of a PNG, a RIFF and an ISO media file.

/// Four bytes that are meant to be read as ASCII.
struct FourCC: Equatable, ExpressibleByStringLiteral {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(stringLiteral text: String) {
        bytes = Array(text.utf8)
    }

    var isLetters: Bool {
        bytes.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
    }
}

extension ForwardReader {
    /// Four zeros are a hole that nobody has written to yet.
    mutating func fourCC() throws(StructureError) -> FourCC {
        let code = FourCC(try bytes(4))
        if code.bytes == [0, 0, 0, 0] { throw .endsEarly }
        return code
    }
}
