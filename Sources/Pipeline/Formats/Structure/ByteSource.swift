// Bytes that somebody else opened, read at any place. What parses them never sees a file.

/// Random access to a fixed number of bytes.
package struct ByteSource: Sendable {
    /// Bytes in all.
    package let count: Int
    /// The bytes from an offset on: as many as asked for, or fewer if they end.
    package let read: @Sendable (_ offset: Int, _ count: Int) -> [UInt8]

    package init(count: Int, read: @escaping @Sendable (_ offset: Int, _ count: Int) -> [UInt8]) {
        self.count = max(0, count)
        self.read = read
    }

    package init(_ bytes: [UInt8]) {
        self.init(count: bytes.count) { offset, count in Array(bytes.dropFirst(max(0, offset)).prefix(max(0, count))) }
    }
}

/// The order of the bytes of a number, by the byte that comes first.
package enum ByteOrder: Sendable {
    /// The most significant one, as in PNG and JPEG.
    case big
    /// The least significant one, as in GIF and WebP.
    case little
}

extension ByteSource {
    /// An unsigned number of up to eight bytes; one too large for an `Int` becomes the largest. Nil if the bytes end
    /// before.
    package func integer(at offset: Int, bytes count: Int, _ order: ByteOrder = .big) -> Int? {
        guard (0...8).contains(count), (0...self.count).contains(offset) else { return nil }
        var reader = ForwardReader(self, in: offset..<offset + count)
        return try? reader.integer(bytes: count, order)
    }
}
