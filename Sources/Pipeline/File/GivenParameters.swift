// `set`: values for the parameters of an inbox's pipeline.

/// Values of parameters by name: `{ side: 100, credit: "Agency" }`.
package struct GivenParameters: ParameterValue, Hashable {
    package let values: [String: String]

    package init(_ values: [String: String] = [:]) { self.values = values }

    package static var expectation: String { "a mapping from names of parameters to values" }
    package static var schema: JSONValue {
        ["type": "object", "additionalProperties": ["type": ["string", "number", "boolean"]]]
    }
    package static var placeholder: GivenParameters { GivenParameters() }
    package var written: String {
        let items = values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return items.isEmpty ? "{}" : "{ " + items.joined(separator: ", ") + " }"
    }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> GivenParameters? {
        guard case .mapping(let entries) = node.content else { return nil }
        var values: [String: String] = [:]
        for entry in entries {
            guard let text = entry.value.text else {
                log.problem(
                    entry.value.position,
                    "'\(entry.key)' expects a value in one line, such as 64, \"a text\" or \"30% 70%\" for a point, found \(entry.value.found)"
                )
                continue
            }
            values[entry.key] = text
        }
        return GivenParameters(values)
    }
}
