// Values drawn from what the stages declare of themselves, so that a new stage or parameter is drawn without a change
// here.
import Foundation
import Pipeline

/// Draws values that a JSON Schema describes, near the size of a picture.
struct SchemaDrawing {
    /// The definitions that the schema's references refer to.
    let definitions: [String: JSONValue]
    /// The sides of the picture that lengths are for.
    let sides: (width: Int, height: Int)
    /// Pictures that stages may draw.
    let assets: [String]
    /// A .cube file.
    let table: String
    /// Draws a list of stages that are within a stage.
    let stages: (inout SeededGenerator) throws -> Written

    /// The schema says something that nobody has taught this to draw.
    struct UnknownKind: Error, CustomStringConvertible {
        let key: String
        let schema: JSONValue
        var description: String { "SchemaDrawing cannot draw '\(key)': \(schema)" }
    }

    /// The keys of the statements in `metadata`.
    private static let metadata: Set = [
        "title", "caption", "keywords", "artist", "copyright", "credit", "usage-terms", "license", "web-statement",
    ]
    /// A layer is one of these.
    private static let contents: Set = ["color", "image", "layers", "source", "text"]
    /// Most stages that have these cannot do without.
    private static let sizes: Set = ["height", "width"]

    private static let colors = [
        "white", "black", "transparent", "red", "#336699", "#0a84ff80", "#808080", "#ff000080", "#ffffffcc",
    ]

    /// - Parameters:
    ///   - key: the key that the value is for.
    ///   - depth: how many layers the value is in.
    func draw(
        _ key: String, _ schema: JSONValue, depth: Int = 0, _ random: inout SeededGenerator
    ) throws -> Written {
        if let name = schema["$ref"]?.text {
            let target = String(name.split(separator: "/").last ?? "")
            if target == "stages" { return depth > 1 ? .list([]) : try stages(&random) }
            guard let definition = definitions[target] else { throw UnknownKind(key: key, schema: schema) }
            return try draw(target, definition, depth: depth + 1, &random)
        }
        if let constant = schema["const"]?.text { return .text(constant) }
        // Some tenths of a byte for a pixel, up to what a high quality needs.
        if key == "max-bytes" { return .text("\(max(300, sides.width * sides.height / random.whole(3...60)))") }
        if let words = schema["enum"]?.list { return .text(random.pick(words.compactMap(\.text))) }
        if let all = schema["anyOf"]?.list ?? schema["oneOf"]?.list {
            let branches = all.filter { $0["$ref"]?.text != "#/$defs/parameter-use" }
            return try draw(key, random.pick(branches), depth: depth, &random)
        }
        switch schema["type"]?.text ?? schema["type"]?.list?.first?.text {
        case "boolean": return .plain(random.chance(0.5) ? "true" : "false")
        case "integer": return .plain(String(Int(number(schema, &random).rounded())))
        case "number": return .plain(Self.written(number(schema, &random)))
        case "string": return .text(try text(key, schema, &random))
        case "array": return try array(key, schema, depth: depth, &random)
        case "object": return try mapping(schema, depth: depth, &random)
        default: throw UnknownKind(key: key, schema: schema)
        }
    }

    /// A mapping with what it must have and some of what it may have.
    func mapping(
        _ schema: JSONValue, depth: Int = 0, optional: Double = 0.35, _ random: inout SeededGenerator
    ) throws -> Written {
        let required = (schema["required"]?.list ?? []).compactMap(\.text)
        let properties = (schema["properties"]?.members ?? [:]).sorted { $0.key < $1.key }
        // Layers in layers are many pictures soon.
        let contents = properties.map(\.key).filter { Self.contents.contains($0) && (depth <= 1 || $0 != "layers") }
        let content = contents.count > 2 ? random.pick(contents) : nil
        var entries: [Written.Entry] = []
        for (key, value) in properties {
            let isDrawn =
                if required.contains(key) {
                    true
                } else if let content, Self.contents.contains(key) {
                    key == content
                } else {
                    random.chance(Self.sizes.contains(key) ? max(0.6, optional) : optional)
                }
            guard isDrawn else { continue }
            entries.append(Written.Entry(key: key, value: try draw(key, value, depth: depth, &random)))
        }
        return .mapping(entries)
    }

    private func array(
        _ key: String, _ schema: JSONValue, depth: Int, _ random: inout SeededGenerator
    ) throws -> Written {
        guard let item = schema["items"] else { throw UnknownKind(key: key, schema: schema) }
        let items = try (0..<random.pick([1, 1, 2, 3])).map { _ in try draw(key, item, depth: depth, &random) }
        return .list(items)
    }

    private func text(_ key: String, _ schema: JSONValue, _ random: inout SeededGenerator) throws -> String {
        if let pattern = schema["pattern"]?.text {
            let expression = try Regex(pattern)
            for _ in 0..<50 {
                let candidate = candidate(&random)
                if candidate.wholeMatch(of: expression) != nil { return candidate }
            }
        } else if key.hasSuffix("color") || key.hasSuffix("background")
            || ["stops", "dark", "light"].contains(key)
        {
            return random.pick(Self.colors)
        } else if key == "strip" {
            return random.pick(Self.colors)
        } else if key == "image" {
            return random.pick(assets)
        } else if key == "file" {
            return table
        } else if key == "id" {
            return "https://example.org/{stem}"
        } else if key == "font" {
            return random.pick(["serif", "DejaVu Sans", "No Such Family"])
        } else if key == "text" {
            return random.pick([
                "Hi", "{width} × {height}", "Hi\nשלום", "{stem|a} {title|untitled} and many words more",
            ])
        } else if Self.metadata.contains(key) {
            return random.pick(["{stem}", "© {year} {artist|Müller} & Söhne", "https://example.org/{hash:8}"])
        }
        throw UnknownKind(key: key, schema: schema)
    }

    /// A length, a size or a ratio.
    private func candidate(_ random: inout SeededGenerator) -> String {
        let percent = Self.written(random.pick([50, 100, random.magnitude(3...180).rounded(), random.number(1...120)]))
        let (width, height) = (side(sides.width, &random), side(sides.height, &random))
        let flag = random.pick(["", "", ">", "<", "!", "^", "^>"])
        return random.pick([
            percent + "%", "-\(percent)%", "\(width)x\(height)\(flag)", "\(width)x\(height)>", "\(width)x",
            "x\(height)>", "\(width)", "\(width)x>", "\(percent)% - \(random.whole(1...20))", "100% + \(height)",
            random.pick(["4:5", "16:9", "1:1", "1.91:1", "0.7"]),
        ])
    }

    private func side(_ side: Int, _ random: inout SeededGenerator) -> Int {
        max(
            1,
            Int(
                (Double(side) * random.pick([0.5, 1, random.magnitude(0.04...1.3), random.number(0.2...0.5)])).rounded()
            ))
    }

    private func number(_ schema: JSONValue, _ random: inout SeededGenerator) -> Double {
        let low = schema["minimum"]?.number ?? schema["exclusiveMinimum"]?.number
        if let low, let high = schema["maximum"]?.number {
            let high = low < 500 ? min(high, 500) : high
            let usual = random.magnitude(max(low, 0.1)...max(high, 0.2))
            return random.pick([low, high, usual, usual, random.number(low...high)].filter { $0 > 0 || low <= 0 })
        }
        let length = Double(side(random.pick([sides.width, sides.height]), &random))
        let sizes = [length, length, Double(random.whole(1...12)), Double(random.whole(1...24)) / 2]
        let size = random.pick(sizes)
        return schema["exclusiveMinimum"] != nil || low != nil
            ? max(size, low ?? 0) : random.pick([size, size, 0, -size / 4])
    }

    private static func written(_ number: Double) -> String {
        let rounded = (number * 100).rounded() / 100
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }
}

extension JSONValue {
    subscript(key: String) -> JSONValue? { members?[key] }

    var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
    var list: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
