/// How long originals are kept that have left the inbox, and how much of them: `30d`, `10G`, or `{ age: 30d, size: 10G
/// }`.
package struct Retention: ParameterValue, ParameterGroup, Equatable {
    /// The time after which an original is removed.
    package let age: Duration?
    /// Most bytes; the oldest are removed first.
    package let size: ByteCount?

    package init(age: Duration?, size: ByteCount?) { (self.age, self.size) = (age, size) }

    package init(_ p: inout Parameters) {
        let age: KeptAge? = p.optional("age", "What has been there for longer is removed, such as 30d.")
        let size: KeptSize? = p.optional("size", "Most bytes, such as 10G; the oldest are removed first.")
        (self.age, self.size) = (age?.duration, size?.count)
    }

    package static var expectation: String { "a time such as 30d, a size such as 10G, or { age: 30d, size: 10G }" }
    package static var schema: JSONValue { ["anyOf": [Duration.schema, ByteCount.schema, mappingSchema()]] }
    package static var placeholder: Retention { Retention(age: nil, size: nil) }
    package var written: String { "{}" }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Retention? {
        guard let text = node.text else {
            guard case .mapping = node.content else { return nil }
            return Parameters.read(Retention.self, from: node, owner: "the retention", &log)
        }
        if let age = Duration(written: text) { return Retention(age: age, size: nil) }
        // A bare number could be meant either way.
        guard text.last?.isLetter == true, let size = ByteCount(text) else { return nil }
        return Retention(age: nil, size: size)
    }
}

// A bare 30 would be seconds and a bare 50 would be bytes, and originals would be removed at once.

private struct KeptAge: ParameterValue {
    let duration: Duration

    static var expectation: String { "a time such as 30d" }
    static var schema: JSONValue { Duration.schema }
    static var placeholder: KeptAge { KeptAge(duration: .seconds(0)) }
    var written: String { duration.written }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> KeptAge? {
        node.text.flatMap { Duration(written: $0) }.map { KeptAge(duration: $0) }
    }
}

private struct KeptSize: ParameterValue {
    let count: ByteCount

    static var expectation: String { "a size with its unit, such as 10G" }
    static var schema: JSONValue { ["type": "string", "pattern": #"[A-Za-z]$"#] }
    static var placeholder: KeptSize { KeptSize(count: .placeholder) }
    var written: String { count.written }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> KeptSize? {
        guard let text = node.text, text.last?.isLetter == true else { return nil }
        return ByteCount(text).map { KeptSize(count: $0) }
    }
}
