// A plan for people, as a table, and for programs, as JSON.
import Engine
import Pipeline
import System

struct PlanTable {
    private let plan: SourcePlan
    private let names: [RenditionName]
    private let omissions: [Omission]
    private let settings: [ParameterSetting]
    private let title: String

    init(_ planned: PlannedWork, title: String) {
        settings = planned.parameters
        (plan, names, omissions) = (planned.plan, planned.names, planned.omissions)
        self.title = title
    }

    var text: String {
        var lines = plan.isSet ? set : picture
        if !settings.isEmpty { lines += ["", "parameters"] + settings.map(row) }
        if !plan.shared.isEmpty { lines += ["", "all renditions"] + plan.shared.map(row) }
        for (index, (rendition, name)) in zip(plan.renditions, names).enumerated() {
            lines +=
                ["", rendition.title] + (plan.drawings.isEmpty ? [] : ["  drawn \(drawn(plan.drawings[index].load))"])
                + (preview(of: index).map { ["  of the preview in the file, \($0), if it is sound"] } ?? [])
                + (plan.members.first?.own[index] ?? []).map(memberRow) + rendition.steps.map(row)
            let what = "save \(rendition.format.rawValue)"
            lines.append(
                "  \(padded(what, width))  \(padded(sizes(rendition.output), 26))  \(name.path.printable)\(flattening(rendition))\(lightBeyondWhite(rendition))"
            )
        }
        if !omissions.isEmpty { lines += ["", "left out by 'when'"] + omissions.map(row) }
        lines += ["", "up to \(plan.memory >> 20) MiB of memory, stopped after \(Int(plan.deadline.rounded(.up))) s"]
        lines += plan.warnings.map { "warning: \($0.code.rawValue): \($0.message)" }
        return lines.joined(separator: "\n") + "\n"
    }

    private func preview(of index: Int) -> PixelSize? {
        plan.load.previews.indices.contains(index) ? plan.load.previews[index]?.preview.size : nil
    }

    /// Whether a rendition loses the transparency that its picture may have: the header tells of an alpha channel, not
    /// of what is in it.
    private func flattening(_ rendition: RenditionPlan) -> String {
        let drawn = rendition.steps.last?.output ?? plan.shared.last?.output ?? plan.decoded
        guard drawn.hasAlpha, !rendition.output.hasAlpha else { return "" }
        return ", transparency becomes \(rendition.rendition.save.background.written)"
    }

    private func lightBeyondWhite(_ rendition: RenditionPlan) -> String {
        rendition.gainMap.map { ", with a gain map of \($0.size)" } ?? ""
    }

    /// Columns for the name of a stage.
    private let width = 13

    private var picture: [String] {
        let source = plan.source
        var lines = [
            "\(title): \(source.format.rawValue) \(source.size)\(frames(source.frames)), \(colours(plan.decoded))"
        ]
        let way = source.format.isVector ? "drawn" : "decoded"
        let size = "\(drawn(plan.load)), \(plan.holdsDecoded ? "held in memory" : "streamed row by row")"
        lines.append("\(way) \(plan.drawings.isEmpty ? size : "for each rendition")")
        switch source.raw {
        case .preview: lines.append("the finished picture in the raw file")
        case .development: lines.append("developed of what the sensor has measured")
        case nil: break
        }
        if let color = source.color { lines.append("in \(color.words)") }
        if let map = source.gainMap { lines.append("HDR by \(map.words)") }
        if source.orientation != 1 {
            lines.append("turned upright (orientation \(source.orientation)): \(plan.decoded.size)")
        }
        return lines
    }

    /// How large the decoder delivers the picture.
    private func drawn(_ load: LoadPlan) -> String {
        let (times, shrink) = (load.scale * load.enlargement, load.shrink)
        if times == shrink { return "at full size" }
        return times % shrink == 0 ? "at \(times / shrink) times its size" : "at \(times)/\(shrink) of its size"
    }

    /// The lines about a set are true of its first member; the others have sizes of their own.
    private var set: [String] {
        let source = plan.source
        let first = "the first \(source.format.rawValue) \(source.size), \(colours(plan.decoded))"
        let shared = (plan.members.first?.shared ?? []).map(memberRow)
        return ["\(title): a set of \(plan.members.count), \(first)"]
            + (shared.isEmpty ? [] : ["", "each member"] + shared)
    }

    private func memberRow(_ step: PlannedStage) -> String {
        row(step) + (step.plan.note.isEmpty ? "  " : ", ") + "(each member)"
    }

    private func row(_ step: PlannedStage) -> String {
        let change =
            step.input.size == step.output.size
            ? sizes(step.output) : "\(step.input.description) → \(sizes(step.output))"
        let row = "  \(padded(step.name, width))  \(padded(change, 26))  \(step.plan.note)"
        return String(row.reversed().drop { $0 == " " }.reversed())
    }

    private func row(_ setting: ParameterSetting) -> String {
        "  \(padded(setting.name, width))  \(oneLine(setting.value))\(setting.origin == .pipeline ? "" : "  (\(setting.origin.rawValue))")"
    }

    private func row(_ omission: Omission) -> String {
        let part = [omission.rendition, omission.stage.map { "stage \($0)" }].compactMap(\.self).joined(separator: ", ")
        return "  \(padded(part, width))  \(omission.reason)"
    }

    private func sizes(_ geometry: PictureInfo) -> String { geometry.description + frames(geometry.frames) }

    private func frames(_ count: Int) -> String { count > 1 ? " × \(count) frames" : "" }

    private func colours(_ geometry: PictureInfo) -> String {
        geometry.pixels.description
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    var json: JSONValue {
        [
            "schema": .string(PlanSchema.name),
            "source": source,
            "members": .int(plan.members.count), "shrink": .int(plan.load.shrink),
            "held-in-memory": .bool(plan.holdsDecoded),
            "stages": .array(plan.shared.map(json)),
            "renditions": .array(
                zip(plan.renditions, names).enumerated().map { json($1.0, $1.1, preview: preview(of: $0)) }),
            "memory-bytes": .int(plan.memory), "deadline-seconds": .double(plan.deadline),
            "warnings": .array(
                plan.warnings.map { ["code": .string($0.code.rawValue), "message": .string($0.message)] }),
            "omitted": .array(omissions.map(json)),
            "parameters": .array(
                settings.map {
                    [
                        "name": .string($0.name), "value": .string($0.value), "origin": .string($0.origin.rawValue),
                    ]
                }),
        ]
    }

    private var source: JSONValue {
        let source = plan.source
        let facts: JSONValue = [
            "format": .string(source.format.rawValue), "width": .int(source.size.width),
            "height": .int(source.size.height),
            "orientation": .int(source.orientation), "frames": .int(source.frames), "alpha": .bool(source.hasAlpha),
        ]
        let color: [String: JSONValue] =
            source.color.map { ["color": ["name": .string($0.name), "by": .string($0.origin)]] } ?? [:]
        let map: [String: JSONValue] = source.gainMap.map { ["gain-map": .string($0.kind.rawValue)] } ?? [:]
        return facts.merging(color).merging(map)
    }

    private func json(_ omission: Omission) -> JSONValue {
        let parts = ["rendition": omission.rendition, "stage": omission.stage].compactMapValues { $0 }
        return JSONValue.object(parts.mapValues { .string($0) }).merging(["reason": .string(omission.reason)])
    }

    private func json(_ step: PlannedStage) -> JSONValue {
        json(step.output).merging(["stage": .string(step.name)]).merging(
            step.plan.note.isEmpty ? [:] : ["note": .string(step.plan.note)])
    }

    private func json(_ rendition: RenditionPlan, _ name: RenditionName, preview: PixelSize?) -> JSONValue {
        let preview: [String: JSONValue] =
            preview.map { ["preview": ["width": .int($0.width), "height": .int($0.height)]] } ?? [:]
        return json(rendition.output).merging(preview).merging([
            "name": .string(rendition.rendition.name), "scale": .int(rendition.scale),
            "stages": .array(rendition.steps.map(json)),
            "format": .string(rendition.format.rawValue), "path": .string(name.path.text),
        ])
    }

    private func json(_ geometry: PictureInfo) -> JSONValue {
        [
            "width": .int(geometry.size.width), "height": .int(geometry.size.height),
            "exact": .bool(geometry.certainty == .exact),
            "frames": .int(geometry.frames), "alpha": .bool(geometry.hasAlpha),
            "color": .string(geometry.colour.rawValue),
        ]
    }
}
