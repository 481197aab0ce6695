// Messages between supervisor and worker as bytes. Both ends are the same program, so that no field needs its name:
// values follow each other in the order in which their types write them. Decision 56 says what that is worth.

/// A value as bytes, and back.
enum MessageCoding {
    /// - Throws: `EncodingError` for what messages have no form for: numbers but `Int`, `UInt8` and `Double`, and a nil
    ///   that is no field.
    static func bytes(of message: some Encodable) throws -> [UInt8] {
        let writer = MessageWriter()
        try writer.write(message)
        return writer.bytes
    }

    /// - Throws: `DecodingError` for bytes that are no such value, or more than one.
    static func value<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let reader = MessageReader(bytes)
        let value = try reader.read(type)
        guard reader.left == 0 else { throw reader.garbage }
        return value
    }
}

// MARK: - Writing

private final class MessageWriter: Encoder, SingleValueEncodingContainer {
    var bytes: [UInt8] = []
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func write<Value: Encodable>(_ value: Value) throws {
        if Value.self == Int.self {
            write(number: UInt64(bitPattern: Int64(value as! Int)))
        } else if Value.self == String.self {
            write(text: value as! String)
        } else if Value.self == Bool.self {
            bytes.append(value as! Bool ? 1 : 0)
        } else if Value.self == Double.self {
            write(number: (value as! Double).bitPattern)
        } else if Value.self == UInt8.self {
            bytes.append(value as! UInt8)
        } else {
            try value.encode(to: self)
        }
    }

    func write(text: String) {
        write(number: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    func write(number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }

    /// Writes again what was written at a place.
    func replace(at place: Int, number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) {
            bytes.replaceSubrange(place..<place + MemoryLayout<UInt64>.size, with: $0)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldWriter(writer: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { ListWriter(self) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Writes the value that a type encodes instead of itself, as an enum with raw values does.
    func encode<Value: Encodable>(_ value: Value) throws { try write(value) }
    func encode(_ value: Int8) throws { throw unsupported(value) }
    func encode(_ value: Int16) throws { throw unsupported(value) }
    func encode(_ value: Int32) throws { throw unsupported(value) }
    func encode(_ value: Int64) throws { throw unsupported(value) }
    func encode(_ value: UInt) throws { throw unsupported(value) }
    func encode(_ value: UInt16) throws { throw unsupported(value) }
    func encode(_ value: UInt32) throws { throw unsupported(value) }
    func encode(_ value: UInt64) throws { throw unsupported(value) }
    func encode(_ value: Float) throws { throw unsupported(value) }
    func encodeNil() throws { throw unsupported("nil") }

    func unsupported(_ value: Any) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: "messages have no form for it"))
    }
}

/// The fields of a value, or the case of an enum: its name, and then its values.
private struct FieldWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: MessageWriter
    var codingPath: [any CodingKey] { [] }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try writer.write(value) }

    // Those for which the protocol would else write nothing.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try write(value) }
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try write(value) }
    func encodeNil(forKey key: Key) throws { try writer.encodeNil() }

    private func write<Value: Encodable>(_ value: Value?) throws {
        try writer.write(value != nil)
        if let value { try writer.write(value) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        writer.write(text: key.stringValue)
        return writer.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { writer.unkeyedContainer() }
    func superEncoder() -> any Encoder { writer }
    func superEncoder(forKey key: Key) -> any Encoder { writer }
}

/// A list: how many there are, and each.
private struct ListWriter: UnkeyedEncodingContainer {
    private let writer: MessageWriter
    private let place: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(_ writer: MessageWriter) {
        self.writer = writer
        place = writer.bytes.count
        writer.write(number: 0)
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try writer.write(value)
        count += 1
        writer.replace(at: place, number: UInt64(count))
    }

    mutating func encodeNil() throws { try writer.encodeNil() }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        writer.container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { writer.unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { writer }
}

// MARK: - Reading

/// Nothing that it reads is believed: each length is compared with what is left before there is room for it.
private final class MessageReader: Decoder, SingleValueDecodingContainer {
    private let bytes: [UInt8]
    private var position = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var left: Int { bytes.count - position }

    var garbage: DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "no such message"))
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == Int.self { return Int(Int64(bitPattern: try number())) as! Value }
        if type == String.self { return try text() as! Value }
        if type == Bool.self { return try flag() as! Value }
        if type == Double.self { return Double(bitPattern: try number()) as! Value }
        if type == UInt8.self { return try byte() as! Value }
        return try Value(from: self)
    }

    func byte() throws -> UInt8 {
        guard left > 0 else { throw garbage }
        defer { position += 1 }
        return bytes[position]
    }

    func flag() throws -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw garbage
        }
    }

    func number() throws -> UInt64 {
        let size = MemoryLayout<UInt64>.size
        guard left >= size else { throw garbage }
        defer { position += size }
        return UInt64(
            littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: UInt64.self) })
    }

    /// A number of things of which each takes a byte at least.
    func count() throws -> Int {
        guard let count = Int(exactly: try number()), count <= left else { throw garbage }
        return count
    }

    func text() throws -> String {
        let count = try count()
        guard let text = String(validating: bytes[position..<position + count], as: UTF8.self) else { throw garbage }
        position += count
        return text
    }

    /// The text that comes next, which is read again.
    func nextText() throws -> String {
        let before = position
        defer { position = before }
        return try text()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldReader(reader: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { ListReader(self, count: try count()) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try read(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { throw garbage }
    func decode(_ type: Int16.Type) throws -> Int16 { throw garbage }
    func decode(_ type: Int32.Type) throws -> Int32 { throw garbage }
    func decode(_ type: Int64.Type) throws -> Int64 { throw garbage }
    func decode(_ type: UInt.Type) throws -> UInt { throw garbage }
    func decode(_ type: UInt16.Type) throws -> UInt16 { throw garbage }
    func decode(_ type: UInt32.Type) throws -> UInt32 { throw garbage }
    func decode(_ type: UInt64.Type) throws -> UInt64 { throw garbage }
    func decode(_ type: Float.Type) throws -> Float { throw garbage }
    func decodeNil() -> Bool { false }
}

private struct FieldReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: MessageReader
    var codingPath: [any CodingKey] { [] }

    /// The case of an enum. Nothing else asks for its keys.
    var allKeys: [Key] { (try? reader.nextText()).flatMap(Key.init).map { [$0] } ?? [] }

    func contains(_ key: Key) -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try reader.read(type) }
    /// Whether a field that may be nil is.
    func decodeNil(forKey key: Key) throws -> Bool { try !reader.flag() }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        guard try reader.text() == key.stringValue else { throw reader.garbage }
        return reader.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try reader.unkeyedContainer()
    }

    func superDecoder() -> any Decoder { reader }
    func superDecoder(forKey key: Key) -> any Decoder { reader }
}

private struct ListReader: UnkeyedDecodingContainer {
    private let reader: MessageReader
    let count: Int?
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }

    init(_ reader: MessageReader, count: Int) { (self.reader, self.count) = (reader, count) }

    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard !isAtEnd else { throw reader.garbage }
        currentIndex += 1
        return try reader.read(type)
    }

    mutating func decodeNil() -> Bool { false }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedDecodingContainer<Nested> { reader.container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try reader.unkeyedContainer() }
    mutating func superDecoder() -> any Decoder { reader }
}
