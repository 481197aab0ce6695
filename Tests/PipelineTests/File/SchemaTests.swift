import Foundation
import Stages
import Testing

@testable import Pipeline

struct SchemaTests {
    private static let schema = PipelineFile.schema(catalogue: .all)

    @Test
    func `the schema is JSON and says which kind it is`() throws {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Self.schema)) as? [String: Any]
        #expect(object?["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(object?["type"] as? String == "object")
        #expect(object?["additionalProperties"] as? Bool == false)
        #expect(object?["required"] as? [String] == ["renditions"])
    }

    @Test(arguments: StageCatalogue.all.stages.map { $0.name })
    func `every stage appears with its parameters`(name: String) throws {
        let items = try #require(Self.schema["$defs"]?["stages"]?["items"]?["anyOf"]?.elements)
        let type = try #require(StageCatalogue.all.stage(named: name))
        let properties = items.lazy.compactMap { $0["properties"]?[name] }.first?["properties"]?.members ?? [:]
        let common: Set = type is any JoiningStage.Type ? [] : ["when"]
        #expect(Set(properties.keys) == common.union(Parameters.describe(type).map(\.key)))
        #expect(items.last?["enum"]?.elements?.contains(.string(name)) == true)
    }

    @Test
    func `every reference points to something`() {
        let references = Self.schema.all("$ref")
        #expect(!references.isEmpty)
        for case .string(let path) in references {
            let name = String(path.dropFirst("#/$defs/".count))
            #expect(path == "#/$defs/\(name)" && Self.schema["$defs"]?[name] != nil, "\(path)")
        }
    }

    @Test
    func `every object that is closed lists all that it requires`() {
        for object in Self.schema.objects {
            let known = object["properties"]?.members?.keys.map { $0 } ?? []
            for case .string(let key) in object["required"]?.elements ?? [] { #expect(known.contains(key), "\(key)") }
        }
    }

    @Test(arguments: SaveFormat.allCases)
    func `save has one form for each format`(format: SaveFormat) throws {
        let forms = try #require(
            Self.schema["$defs"]?["rendition"]?["properties"]?["save"]?["anyOf"]?.elements?.first?["oneOf"]?.elements)
        let form = try #require(
            forms.first { form in
                let words = form["properties"]?["format"]
                return words?["const"] == .string(format.rawValue)
                    || words?["enum"]?.elements?.contains(.string(format.rawValue)) == true
            })
        let known = form["properties"]?.members.map { Set($0.keys) }
        #expect(known == Set(SaveSettings.descriptions(of: format).map(\.key)))
    }

    /// An editor writes the default as the schema has it, and "80" in quotes is no number.
    @Test
    func `the default of a number is a number and that of a boolean a boolean`() {
        for object in Self.schema.objects {
            switch (object["type"], object["default"]) {
            case (.string("integer")?, let value?):
                if case .int = value {} else { Issue.record("\(value) of \(object)") }
            case (.string("boolean")?, let value?):
                if case .bool = value {} else { Issue.record("\(value) of \(object)") }
            default: break
            }
        }
    }
}

extension JSONValue {
    fileprivate var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
    fileprivate var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    fileprivate subscript(key: String) -> JSONValue? { members?[key] }

    /// This value and all below it that are objects.
    fileprivate var objects: [JSONValue] {
        let below = (elements ?? []) + (members.map { Array($0.values) } ?? [])
        return (members == nil ? [] : [self]) + below.flatMap(\.objects)
    }

    fileprivate func all(_ key: String) -> [JSONValue] { objects.compactMap { $0[key] } }
}
