// A pipeline whose values come from elsewhere makes what it makes with the values in their places.
import Foundation
import Pipeline
import TestSupport

/// A pipeline some of whose values are parameters, and where these have their values from.
struct DrawnParameters {
    var pipeline: String
    /// Options of the program.
    var options: [String] = []
    /// The text of a sidecar; empty if there is none.
    var ofFolder = ""
    var own = ""
}

extension Written {
    /// The steps to a value within another.
    enum Step: Equatable {
        case key(String)
        case place(Int)
    }

    /// The scalars in it, with the way to each.
    var leaves: [(way: [Step], value: Written)] {
        switch self {
        case .plain, .text: [([], self)]
        case .list(let items):
            items.enumerated().flatMap { place, item in item.leaves.map { ([.place(place)] + $0.way, $0.value) } }
        case .mapping(let entries):
            entries.flatMap { entry in entry.value.leaves.map { ([.key(entry.key)] + $0.way, $0.value) } }
        }
    }

    func replacing(_ way: ArraySlice<Step>, with value: Written) -> Written {
        guard let step = way.first else { return value }
        switch (step, self) {
        case (.place(let place), .list(var items)):
            items[place] = items[place].replacing(way.dropFirst(), with: value)
            return .list(items)
        case (.key(let key), .mapping):
            var changed = self
            changed[key] = self[key]?.replacing(way.dropFirst(), with: value)
            return changed
        default: return self
        }
    }
}

extension DrawnPipeline {
    /// The same pipeline with parameters; nil if it has no value that one can have.
    func withParameters(isSet: Bool, _ random: inout SeededGenerator) -> DrawnParameters? {
        var changed = self
        var drawn = DrawnParameters(pipeline: "")
        var (declared, values): ([Written.Entry], [Written]) = ([], [])
        let open = written.leaves.filter(Self.isOpen)
        // Those that could have another value show where it comes from.
        let telling = open.filter { !others(for: $0.value, at: $0.way).isEmpty }
        var left = telling.isEmpty ? open : telling
        for number in 0..<4 where !left.isEmpty {
            let (way, value) = left.remove(at: random.whole(0...left.count - 1))
            let name = "p\(number)"
            let isNumber = if case .plain = value { true } else { false }
            changed.written = changed.written.replacing(way[...], with: .text("${\(name)}"))
            let others = others(for: value, at: way)
            let origin = random.pick(isSet ? ["pipeline", "set", "folder"] : ["pipeline", "set", "folder", "sidecar"])
            let fallback = origin == "pipeline" ? value : others.first ?? value
            declared.append(
                Written.Entry(
                    key: name,
                    value: .mapping([
                        Written.Entry(key: "type", value: .plain(isNumber ? "number" : "text")),
                        Written.Entry(key: "default", value: fallback),
                    ])))
            values.append(value)
            let line = "\(name): \(value.yaml)\n"
            switch origin {
            case "set": drawn.options += ["--set", "\(name)=\(value.word ?? "")"]
            case "folder": drawn.ofFolder += line
            case "sidecar": drawn.own += line
            default: break
            }
            // A value of a weaker origin has no effect.
            if origin == "sidecar", let other = others.last { drawn.ofFolder += "\(name): \(other.yaml)\n" }
        }
        guard !declared.isEmpty else { return nil }
        changed.written["parameters"] = .mapping(declared)
        // All defaults together need not make a pipeline, such as two equal widths.
        if changed.file == nil {
            changed.written["parameters"] = .mapping(
                zip(declared, values).map { entry, value in
                    var entry = entry
                    entry.value["default"] = value
                    return entry
                })
        }
        drawn.pipeline = changed.text
        return drawn
    }

    /// Other values that the pipeline could have in a place.
    private func others(for value: Written, at way: [Written.Step]) -> [Written] {
        value.simpler.filter { other in
            var pipeline = self
            pipeline.written = written.replacing(way[...], with: other)
            return pipeline.file != nil
        }
    }

    /// Whether a parameter can have a value: it is the picture's own, and no template.
    private static func isOpen(_ way: [Written.Step], _ value: Written) -> Bool {
        guard let first = way.first, [.key("stages"), .key("renditions")].contains(first) else { return false }
        let isTemplate = way.contains(.key("text")) || way.contains(.key("set")) || way.contains(.key("label"))
        guard !isTemplate, let word = value.word, !word.contains("{"), !word.contains("$") else { return false }
        if case .plain(let text) = value { return Double(text) != nil }
        return true
    }
}

extension Exploration {
    /// - Parameter sample: draws the parameters.
    func compareParameters(_ outputs: [Output], sample: Int) async throws -> [Finding] {
        guard let drawn = parameters(sample) else { return [] }
        let folder = "values/s"
        try FileManager.default.createDirectory(
            atPath: runner.folder.path("values"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: runner.folder.path("in/s"), toPath: runner.folder.path(folder))
        try write(drawn, into: folder, of: runner)
        try runner.folder.write(drawn.pipeline, to: "values.yaml")
        let words = ["run", "values.yaml", folder, "-o", "by-values", "--keep-tree", "-q"] + drawn.options + allowed
        let result = try await runner.run(words, seconds: 120)
        guard result.exit == 0 else {
            return [Finding(property: .parameters, detail: "exit \(result.exit): \(result.errors)\n\(drawn)")]
        }
        return try different(outputs, in: runner, "by-values", .parameters).map {
            Finding(property: .parameters, detail: "\($0.detail)\n\(drawn)")
        }
    }

    func parameters(_ sample: Int) -> DrawnParameters? {
        var random = SeededGenerator(seed: sample &* 37 &+ 11)
        return drawn.pipeline.withParameters(isSet: source.isSet, &random)
    }

    /// Writes the sidecars of a source into the folder that it comes into.
    func write(_ drawn: DrawnParameters, into folder: String, of runner: CommandRunner) throws {
        if !drawn.ofFolder.isEmpty { try runner.folder.write(drawn.ofFolder, to: "\(folder)/_imagemill.yaml") }
        if !drawn.own.isEmpty { try runner.folder.write(drawn.own, to: "\(folder)/\(source.place).yaml") }
    }
}
