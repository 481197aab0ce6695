// JSON as a value, for schemas and descriptions.

/// Any JSON value. Literals stand for themselves.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue {
    /// Schemas whose plain values may be parameters of a pipeline as well.
    var takingParameters: JSONValue {
        switch self {
        case .object(var members):
            for (key, value) in members {
                guard key == "properties", case .object(let properties) = value else {
                    members[key] = value.takingParameters
                    continue
                }
                members[key] = .object(
                    Dictionary(
                        uniqueKeysWithValues: properties.map { name, value in
                            // The format tells the options apart that an editor offers beside it.
                            (name, name == "format" ? value : value.takingParameters.orParameter)
                        }))
            }
            return .object(members)
        case .array(let items): return .array(items.map(\.takingParameters))
        default: return self
        }
    }

    /// The schema of a value that may be a parameter, if it is a plain one that is not any text.
    private var orParameter: JSONValue {
        guard isPlainValue, case .object(var members) = self else { return self }
        var whole = members.filter { $0.key == "default" }
        whole["description"] = members.removeValue(forKey: "description")
        whole["anyOf"] = [.object(members), ["$ref": "#/$defs/parameter-use"]]
        return .object(whole)
    }

    private var isPlainValue: Bool {
        guard case .object(let members) = self else { return false }
        if case .array(let branches)? = members["anyOf"] { return branches.allSatisfy(\.isPlainValue) }
        switch members["type"] {
        case "integer", "number", "boolean": return true
        case "string": return members["pattern"] != nil
        default: return members["enum"] != nil
        }
    }

    /// The schema of a mapping with one more property.
    func adding(property: String, _ schema: JSONValue) -> JSONValue {
        guard case .object(let members) = self, let properties = members["properties"] else { return self }
        return merging(["properties": properties.merging([property: schema])])
    }

    /// This object with more members; a member that is there already is replaced.
    package func merging(_ more: [String: JSONValue]) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.merging(more) { _, new in new })
    }
}
