// A small safe libpq: connections, statements, and rows as values.
import CPostgres

/// A parameter of a statement.
package enum PostgresValue: Sendable {
    case integer(Int)
    case text(String)
    case bytes([UInt8])
    case boolean(Bool)
    /// Arrays go as one parameter, so that a statement is the same for any number.
    case integers([Int])
    case texts([String])
    case manyBytes([[UInt8]])
}

/// Anything that went wrong with a statement or a connection.
package struct PostgresError: Error, Equatable, CustomStringConvertible {
    /// The SQLSTATE of the server's answer; nil if there was none: the connection is gone, or the time was over.
    package let state: String?
    package let description: String
    /// The time was over.
    package let isOver: Bool

    init(state: String?, description: String, isOver: Bool = false) {
        (self.state, self.description, self.isOver) = (state, description, isOver)
    }
}

/// One connection. For one thread at a time.
package final class PostgresConnection {
    private let connection: OpaquePointer
    private let patience: Duration
    /// It has answered every statement so far.
    package private(set) var isGood = true

    /// libpq is on this system.
    package static var isThere: Bool { cpostgres_load() > 0 }

    /// - Parameters:
    ///   - text: the connection as libpq's conninfo or URI.
    ///   - patience: how long to wait for the connection, and for each answer.
    package init(_ text: String, patience: Duration) throws(PostgresError) {
        guard Self.isThere else {
            throw PostgresError(
                state: nil, description: "libpq 14 or newer is missing on this system; install it (Debian: libpq5)")
        }
        guard let made = cpostgres_connect(text, Self.milliseconds(patience)) else {
            throw PostgresError(state: nil, description: "there is no memory for a connection")
        }
        (connection, self.patience) = (made, patience)
        guard cpostgres_is_connected(made) != 0 else {
            let said = Self.words(cpostgres_error(made))
            throw PostgresError(state: nil, description: said.isEmpty ? "no answer within \(patience)" : said)
        }
    }

    deinit { cpostgres_close(connection) }

    /// Has the server do one statement, in which parameters are `$1`, `$2` and so on.
    @discardableResult
    package func run(_ statement: String, _ parameters: [PostgresValue?] = []) throws(PostgresError) -> PostgresRows {
        let coded = parameters.map { $0?.coded }
        let lengths = coded.map { CInt($0?.bytes.count ?? 0) }
        let formats = coded.map { CInt($0?.isBinary == true ? 1 : 0) }
        // Texts end with a zero.
        let kept = coded.map { $0.map { $0.bytes + [0] } }
        let result = Self.withPointers(to: kept) { values in
            cpostgres_run(
                connection, statement, CInt(values.count), values, lengths, formats, Self.milliseconds(patience))
        }
        guard let result else {
            isGood = false
            let said = Self.words(cpostgres_error(connection))
            throw PostgresError(
                state: nil, description: said.isEmpty ? "no answer within \(patience)" : said, isOver: said.isEmpty)
        }
        let rows = PostgresRows(result)
        guard cpostgres_is_done(result) != 0 else {
            isGood = cpostgres_is_connected(connection) != 0
            throw PostgresError(
                state: cpostgres_state(result).map { String(cString: $0) },
                description: Self.words(cpostgres_message(result)))
        }
        return rows
    }

    private static func withPointers<Value>(
        to values: [[UInt8]?], _ body: ([UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        // One block for all, so that no pointer outlives its array.
        var places: [Int?] = []
        var block: [UInt8] = []
        for value in values {
            places.append(value == nil ? nil : block.count)
            block += value ?? []
        }
        return block.withUnsafeBytes { bytes in
            let base = bytes.bindMemory(to: CChar.self).baseAddress
            return body(places.map { place in place.flatMap { base?.advanced(by: $0) } })
        }
    }

    /// libpq's messages, on one line.
    private static func words(_ text: UnsafePointer<CChar>?) -> String {
        text.map { String(cString: $0).split(whereSeparator: \.isNewline).joined(separator: "; ") } ?? ""
    }

    private static func milliseconds(_ time: Duration) -> CInt {
        CInt(clamping: time.components.seconds * 1_000 + time.components.attoseconds / 1_000_000_000_000_000)
    }
}

/// The rows that a statement has answered with. For the thread that has the connection.
package final class PostgresRows: Sequence {
    fileprivate let result: OpaquePointer
    package let count: Int

    fileprivate init(_ result: OpaquePointer) {
        self.result = result
        count = Int(cpostgres_rows(result))
    }

    deinit { cpostgres_clear(result) }

    /// Rows that the statement has changed.
    package var changed: Int { Int(cpostgres_changed(result)) }

    package subscript(row: Int) -> PostgresRow { PostgresRow(rows: self, number: row) }

    package var first: PostgresRow? { count > 0 ? self[0] : nil }

    package func makeIterator() -> AnyIterator<PostgresRow> {
        var next = 0
        return AnyIterator {
            guard next < self.count else { return nil }
            next += 1
            return self[next - 1]
        }
    }
}

/// One row. Columns are asked for as what they are; another type is nil, as is null.
package struct PostgresRow {
    fileprivate let rows: PostgresRows
    fileprivate let number: Int

    private func value(_ column: Int) -> UnsafeBufferPointer<UInt8>? {
        guard column >= 0, column < Int(cpostgres_columns(rows.result)), number < rows.count else { return nil }
        var length: CInt = 0
        let bytes = cpostgres_value(rows.result, CInt(number), CInt(column), &length)
        return length < 0 ? nil : UnsafeBufferPointer(start: bytes, count: Int(length))
    }

    /// A `bigint`, an `integer` or a `boolean`.
    package func integer(_ column: Int) -> Int? {
        guard let bytes = value(column) else { return nil }
        switch bytes.count {
        case 8: return Int(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        case 4: return Int(Int32(bitPattern: bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }))
        case 1: return Int(bytes[0])
        default: return nil
        }
    }

    package func boolean(_ column: Int) -> Bool? { integer(column).map { $0 != 0 } }
    package func text(_ column: Int) -> String? { value(column).map { String(decoding: $0, as: UTF8.self) } }
    package func bytes(_ column: Int) -> [UInt8]? { value(column).map { Array($0) } }
}

extension PostgresValue {
    fileprivate var coded: (bytes: [UInt8], isBinary: Bool) {
        switch self {
        case .integer(let value): (Array(String(value).utf8), false)
        // PostgreSQL has no texts with a zero in them.
        case .text(let text): (text.utf8.filter { $0 != 0 }, false)
        case .bytes(let bytes): (bytes, true)
        case .boolean(let value): (Array((value ? "t" : "f").utf8), false)
        case .integers(let values): (Self.array(values.map { Array(String($0).utf8) }), false)
        case .texts(let texts): (Self.array(texts.map { Self.quoted($0.utf8.filter { $0 != 0 }) }), false)
        case .manyBytes(let values): (Self.array(values.map { Self.quoted(Array("\\x".utf8) + Self.hex($0)) }), false)
        }
    }

    private static func array(_ elements: [[UInt8]]) -> [UInt8] {
        [UInt8(ascii: "{")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }

    private static func quoted(_ text: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let inner = text.flatMap { $0 == quote || $0 == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), $0] : [$0] }
        return [quote] + inner + [quote]
    }

    private static func hex(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
