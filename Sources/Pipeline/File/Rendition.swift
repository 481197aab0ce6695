// One named output of a pipeline.

/// One named output of a pipeline: further stages, then how to save. A class, since each plan of each source has it: a
/// copy would be thirty references that are counted.
package final class Rendition: Sendable {
    package let name: String
    package let scales: [Int]
    package let stages: [StageUse]
    /// The condition that a source must meet; nil if the rendition is made of all sources.
    package let condition: Condition?
    /// With `format: same`, what `saved(as:)` replaces.
    package let save: SaveSettings
    /// nil until the file is known to have one rendition or several.
    package let file: NameTemplate?
    package let layout: Layout
    /// The one of its `widths` that it has; nil if it has no `widths`.
    package let width: Int?
    /// `format: same`: how a source of each format is saved; else empty.
    let sameFormat: [OutputFormat: SaveWay]
    package let position: Position
    /// Everything in it was understood.
    let isWhole: Bool
    /// Everything that decides the names of its files was understood, whatever else was not.
    let hasKnownName: Bool
    /// The text that decides its pixels and its bytes: all that is written but the name, `file`, `scale` and
    /// `when`.
    package let canonical: String
    /// The same of `save` alone.
    let canonicalSave: String

    /// - Parameters:
    ///   - part: its width and format, of those that the entry has.
    ///   - isWhole: whether everything in the entry was understood.
    init(_ name: String, _ group: RenditionGroup, _ part: RenditionExpansion.Part, at position: Position, isWhole: Bool)
    {
        (self.name, self.position, self.isWhole) = (name, position, isWhole)
        (scales, condition, file, layout) = (group.scales.scales, group.condition, group.file, group.layout)
        hasKnownName = group.hasKnownName
        stages = group.stages.uses + part.resize
        (save, sameFormat, width) = (part.way.settings, part.way.sameFormat, part.width)
        canonical = part.node.canonical(without: ["file", "scale", "when"])
        canonicalSave = part.way.node.canonical
    }

    /// The same with other settings; nil for its own.
    private init(_ other: Rendition, save: SaveSettings? = nil, canonicalSave: String? = nil, file: NameTemplate? = nil)
    {
        (name, position, isWhole) = (other.name, other.position, other.isWhole)
        (scales, condition, layout) = (other.scales, other.condition, other.layout)
        (hasKnownName, stages) = (other.hasKnownName, other.stages)
        (sameFormat, width, canonical) = (other.sameFormat, other.width, other.canonical)
        self.save = save ?? other.save
        self.canonicalSave = canonicalSave ?? other.canonicalSave
        self.file = file ?? other.file
    }

    /// The texts that its metadata and its file state.
    var savedTexts: [TextTemplate] { (sameFormat.values.first?.settings ?? save).texts }

    /// Its format is that of the source.
    var isLikeSource: Bool { !sameFormat.isEmpty }

    /// The rendition of one source, whose format is known: a `format: same` becomes that format.
    func saved(as source: SourceFacts) -> Rendition {
        guard let way = sameFormat[OutputFormat(sameAs: source)] else { return self }
        return Rendition(self, save: way.settings, canonicalSave: way.node.canonical)
    }

    /// The rendition with its fields filled in that decide how it is saved.
    func filled(_ fields: TextFields, on size: PixelSize) -> Rendition {
        save.encoding.texts.isEmpty ? self : Rendition(self, save: save.filled(fields, on: size))
    }

    /// The rendition with a template for its name, if it has none.
    func named(by usual: NameTemplate) -> Rendition { file == nil ? Rendition(self, file: usual) : self }

    /// The formats that it may be saved in, of those that need an encoder of their own, for sources of some formats.
    package func separatelyEncodedFormats(of sources: [SourceFormat]) -> [OutputFormat] {
        let formats =
            isLikeSource ? OutputFormat.allCases.filter { $0.asSource.map(sources.contains) ?? false } : [save.format]
        return formats.filter { $0.declaration.separateEncoder != nil }
    }

    /// Its title in messages: `photo`, `photo 320w`.
    package var title: String { name + (width.map { " \($0)w" } ?? "") }
}

/// How a rendition's file is named and marked.
package enum Layout: String, ParameterWord {
    /// By `file`.
    case plain
    /// As the thumbnail specification of freedesktop.org says.
    case freedesktop

    /// The folders of the specification; the rendition has the name of one of them.
    static let folders = ["normal", "large", "x-large", "xx-large"]

    /// The longest side of the thumbnails in a folder.
    static func longestSide(in folder: String) -> Int? { folders.firstIndex(of: folder).map { 128 << $0 } }
}

/// The parameters of a rendition.
struct RenditionGroup: ParameterGroup {
    let scales: ScaleList
    let stages: StageList
    let condition: Condition?
    let widths: WidthList?
    let save: SaveList
    let file: NameTemplate?
    let layout: Layout
    let hasKnownName: Bool

    init(_ p: inout Parameters) {
        scales = p.optional(
            "scale", ScaleList(scales: [1]), "Pixels in a point: 1, or a list such as [1, 2, 3] for @2x and @3x.")
        stages = p.optional("stages", StageList([]), "What is done for this rendition, after the shared stages.")
        condition = p.optional(
            "when",
            "What must be true of a source that it is made of, such as { width: \">= 2000\" }. Default: anything.")
        widths = p.optional(
            "widths",
            "A rendition for each of these widths in pixels, such as [320, 640, 1280], after the stages; nothing is enlarged."
        )
        save = p.required(
            "save",
            "The file format and its options. A list of formats, or of such mappings, makes a rendition for each.")
        file = p.optional(
            "file",
            "The file name; default {stem}{scale}.{ext}, with several renditions {stem}-{rendition}{scale}.{ext}; with `widths`, -{width} for {scale}."
        )
        layout = p.optional(
            "layout", .plain, "`freedesktop`: named and marked so that file managers take it for their own thumbnail.")
        let isSaved = p.has("save") && p.understood("save") || file.map { !$0.parts.contains(.ext) } ?? false
        hasKnownName = isSaved && p.understood("file", "scale", "widths", "layout", "when")
        checkScales(&p)
        checkWidths(&p)
        checkLayout(&p)
        checkExtension(&p)
    }

    /// Programs that go by the name would take the file for something else.
    private func checkExtension(_ p: inout Parameters) {
        guard p.has("save"), let file, let named = file.namedFormats.first else { return }
        if save.ways.contains(where: { !$0.sameFormat.isEmpty }) {
            p.problem(
                at: "file",
                "'\(file.text)' has the extension of \(named.rawValue), whatever the format of the source is; end it with '.{ext}'"
            )
            return
        }
        let formats = save.ways.map(\.settings.format.rawValue)
        guard let format = formats.first, !file.namedFormats.contains(where: { formats.contains($0.rawValue) }) else {
            return
        }
        p.problem(
            at: "file",
            "'\(file.text)' has the extension of \(named.rawValue), but 'save' writes \(format); end it with '.{ext}'")
    }

    private func checkLayout(_ p: inout Parameters) {
        guard layout == .freedesktop else { return }
        if p.has("file") { p.problem(at: "file", "'layout: freedesktop' names the file; remove 'file'") }
        if scales.scales != [1] {
            p.problem(at: "scale", "'layout: freedesktop' has one file for each size; remove 'scale'")
        }
        if p.has("widths") {
            p.problem(at: "widths", "'layout: freedesktop' has one file for each size; remove 'widths'")
        }
        if p.has("save"), save.ways.count != 1 || save.ways[0].settings.format != .png {
            p.problem(at: "save", "'layout: freedesktop' needs 'format: png'")
        }
    }

    /// Widths are in pixels, and tell the names apart.
    private func checkWidths(_ p: inout Parameters) {
        guard let widths else { return }
        if p.has("scale") {
            p.problem(at: "scale", "'widths' are in pixels, which 'scale' does not change; remove one of them")
        }
        if widths.widths.count > 1, let file, !file.namesSize {
            p.problem(at: "file", "'\(file.text)' names every width the same; add {width}")
        }
    }

    /// Several scales must make several pictures.
    private func checkScales(_ p: inout Parameters) {
        guard scales.scales.count > 1, !stages.uses.contains(where: \.stage.sizesInPoints) else { return }
        let why = "no stage of this rendition has a size in points, so that all scales would make equal files"
        p.problem(at: "scale", "several scales need a size in points: \(why)")
    }
}

/// `scale: 2` or `scale: [1, 2, 3]`.
struct ScaleList: ParameterValue {
    let scales: [Int]

    static var expectation: String { "a whole number from 1 to 9, or a list of them" }
    static var schema: JSONValue {
        let one: JSONValue = ["type": "integer", "minimum": 1, "maximum": 9]
        return ["anyOf": [one, ["type": "array", "items": one, "minItems": 1, "uniqueItems": true]]]
    }
    static var placeholder: ScaleList { ScaleList(scales: [1]) }
    var written: String {
        scales.count == 1 ? String(scales[0]) : "[" + scales.map(String.init).joined(separator: ", ") + "]"
    }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> ScaleList? {
        let items: [YAMLNode]
        if case .list(let found) = node.content { items = found } else { items = [node] }
        var scales: [Int] = []
        for item in items {
            guard let scale = Int.read(item, &log), (1...9).contains(scale), !scales.contains(scale) else {
                let repeated = item.text.flatMap { Int($0) }.map(scales.contains) == true
                log.problem(
                    item.position,
                    repeated
                        ? "the scale \(item.found) is there twice"
                        : "'scale' expects \(expectation), found \(item.found)")
                continue
            }
            scales.append(scale)
        }
        return scales.isEmpty ? nil : ScaleList(scales: scales)
    }
}

/// `renditions`: a mapping from names to renditions.
struct RenditionMap: ParameterValue {
    let renditions: [Rendition]
    /// How many the file has, before `widths` and formats make several of one.
    let count: Int

    static var expectation: String { "a mapping from names to renditions" }
    static var schema: JSONValue {
        ["type": "object", "minProperties": 1, "additionalProperties": ["$ref": "#/$defs/rendition"]]
    }
    static var placeholder: RenditionMap { RenditionMap(renditions: [], count: 0) }
    var written: String { "{}" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> RenditionMap? {
        guard case .mapping(let entries) = node.content else {
            if node.isNull {
                log.problem(node.position, "'renditions' is empty; indent the renditions below it by two spaces")
            }
            return nil
        }
        if entries.isEmpty { log.problem(node.position, "'renditions' is empty: nothing would be written") }
        return RenditionMap(renditions: entries.flatMap { renditions($0, &log) }, count: entries.count)
    }

    private static func renditions(_ entry: YAMLNode.Entry, _ log: inout ReadingLog) -> [Rendition] {
        let name = entry.key
        if ["", ".", ".."].contains(name)
            || name.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "/") || $0 == 0x7F })
        {
            log.problem(
                entry.keyPosition,
                "the rendition name '\(name)' cannot be part of a file name: it is empty, '.', '..', or has a '/' or a control character"
            )
        }
        let problemsBefore = log.problems.count
        guard let group = Parameters.read(RenditionGroup.self, from: entry.value, owner: "rendition '\(name)'", &log)
        else { return [] }
        if group.layout == .freedesktop && !Layout.folders.contains(name) {
            let words =
                "with 'layout: freedesktop' a rendition is named \(Layout.folders.joined(separator: ", ")), after its folder"
            log.problem(entry.keyPosition, "\(words); found '\(name)'")
        }
        let isWhole = log.problems.count == problemsBefore
        return RenditionExpansion(group, at: entry.keyPosition, of: entry.value).parts(&log).map { part in
            Rendition(name, group, part, at: entry.keyPosition, isWhole: isWhole)
        }
    }
}
