// Values as JSON text.
import FoundationEssentials

/// A value as JSON, its keys sorted; on one line, or indented for people.
package func json(_ value: some Encodable, pretty: Bool = false) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
        pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    // Our own documents hold numbers, texts and lists; none of them can fail to encode.
    guard let data = try? encoder.encode(value) else { return "null" }
    return String(decoding: data, as: UTF8.self)
}
