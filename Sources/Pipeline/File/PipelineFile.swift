// The pipeline file as a whole.

/// The damage of a source that is tolerated.
package enum Tolerance: String, ParameterWord {
    case nothing
    case truncated
}

/// The pipeline that the user wrote: a pure function from a source to renditions. It never changes after reading.
/// A class for the same reason as `Rendition`.
package final class PipelineFile: Sendable {
    /// The file's name without directory and extension; it names the pipeline in reports.
    package let name: String
    /// The text as read, so that a worker can read it too.
    package let text: String
    package let source: SourceKind
    /// Run once, in source pixels.
    package let stages: [StageUse]
    package let renditions: [Rendition]
    package let documents: [DocumentFile]
    package let profile: ProfilePolicy
    package let toneMap: ToneMapSettings
    package let tolerance: Tolerance
    package let preview: PreviewUse
    package let raw: RawUse
    /// The page or frame of the source that is read, from 1; nil for the first page, or all frames.
    package let page: Int?
    /// The limits that are lower than those where the pipeline is used.
    package let limits: LimitOverrides
    package let policy: WarningPolicy
    /// The condition that every source must meet; nil if there is none.
    package let requirement: Condition?
    /// Its parameters, with the values that they have here.
    package let settings: [ParameterSetting]
    /// The values that were given for them, by name.
    package let given: [String: String]
    /// The values of one picture, if it is the pipeline for that.
    package let ofPicture: PictureValues
    /// The fields of metadata that a picture can set its parameters by.
    package let metadataFields: [MetadataField]
    /// Every asset that the stages name, in the order of the text.
    package let assets: [AssetReference]
    /// All that is written, as one text that is the same however it is laid out and whatever values are given.
    package let canonical: String
    /// The same of all that counts for every rendition.
    package let sharedCanonical: String
    /// The texts that stages draw and metadata state.
    package let texts: [TextTemplate]
    /// Texts say something of the source that is in its metadata.
    package let wantsWords: Bool
    /// Some part of it does not apply to every source.
    package let hasConditions: Bool
    /// Some stage must see the picture before all sizes are known.
    let hasMeasurements: Bool

    /// Reads a pipeline.
    /// - Parameters:
    ///   - text: the YAML.
    ///   - file: the name to show in messages; its last part without extension names the pipeline.
    ///   - given: values of parameters, by name.
    ///   - ofPicture: values that one picture has for its parameters.
    ///   - catalogue: the stages that it may name.
    /// - Throws: every mistake at once.
    package init(
        text: String, file: String, given: [String: String] = [:], ofPicture: PictureValues = PictureValues(),
        catalogue: StageCatalogue
    ) throws(Diagnostics) {
        let (written, problems) = readYAML(text)
        var log = ReadingLog(catalogue: catalogue)
        for problem in problems { log.problem(problem.position, problem.message) }
        let (root, substitution) = Self.filled(written, given, ofPicture, &log)
        if let mistakes = substitution?.sidecarMistakes { throw mistakes }
        // Whatever has a wrong value would be one more mistake.
        guard log.problems.count == problems.count else {
            throw Diagnostics(file: file, text: text, items: log.problems)
        }
        let group = root.flatMap { Parameters.read(PipelineGroup.self, from: $0, owner: "the pipeline", &log) }
        guard let group, log.problems.isEmpty else {
            let mixedUp = root.flatMap { MillFile.standsInstead(of: $0) }.map {
                [Diagnostic($0, "expected a pipeline, found a mill file, which `imagemill watch` takes")]
            }
            throw Diagnostics(file: file, text: text, items: mixedUp ?? log.problems)
        }
        name = String(decoding: SourceName(BytePath(file)).stem, as: UTF8.self)
        self.text = text
        source = group.source
        stages = group.stages.uses
        renditions = group.namedRenditions
        documents = group.documents.documents
        profile = group.profile
        toneMap = group.toneMap
        tolerance = group.tolerance
        preview = group.preview
        raw = group.raw
        page = group.page
        limits = group.limits
        policy = group.policy
        requirement = group.requirement
        (settings, self.given, self.ofPicture) = (substitution?.settings ?? [], given, ofPicture)
        metadataFields = (substitution?.open.compactMap(\.field) ?? []).reduce(into: []) { fields, field in
            if !fields.contains(field) { fields.append(field) }
        }
        assets = log.assets
        canonical = written?.canonical ?? ""
        sharedCanonical =
            root?.canonical(without: ["renditions", "documents", "limits", "policy", "require", "parameters"]) ?? ""
        let uses = stages + renditions.flatMap(\.stages)
        texts = uses.flatMap { $0.stage.texts } + renditions.flatMap(\.savedTexts)
        wantsWords = (texts + documents.flatMap(\.texts)).contains(where: \.needsMetadata)
        hasConditions = renditions.contains { $0.condition != nil } || uses.contains { $0.condition != nil }
        hasMeasurements = uses.contains { $0.stage.needsMeasurement }
    }

    /// The file with the values of its parameters in place.
    private static func filled(
        _ root: YAMLNode?, _ given: [String: String], _ ofPicture: PictureValues, _ log: inout ReadingLog
    ) -> (root: YAMLNode?, ParameterSubstitution?) {
        guard let root else { return (nil, nil) }
        let (rest, entry) = root.taking("parameters")
        let declared = entry.flatMap { PipelineParameterList.read($0.value, &log) }
        if let entry, declared == nil {
            log.problem(
                entry.value.position,
                "'parameters' expects \(PipelineParameterList.expectation), found \(entry.value.found)")
        }
        let place = entry?.keyPosition ?? root.position
        let parameters = declared?.parameters ?? []
        let sidecars = ofPicture.sidecars.map {
            SidecarValues($0, parameters, catalogue: log.catalogue) { rest.generalPart(using: $0)?.key }
        }
        let substitution = ParameterSubstitution(
            parameters, given, ofPicture.metadata, sidecars, at: place, &log)
        substitution.checkGeneral(rest, &log)
        return (substitution.applied(to: rest, &log), substitution)
    }

    /// The assets that a pipeline names, whatever else is wrong with it, in the order of the text.
    package static func assets(
        in text: String, given: [String: String] = [:], catalogue: StageCatalogue
    ) -> [AssetReference] {
        var log = ReadingLog(catalogue: catalogue)
        _ = filled(readYAML(text).root, given, PictureValues(), &log).root.flatMap {
            Parameters.read(PipelineGroup.self, from: $0, owner: "the pipeline", &log)
        }
        return log.assets
    }

    /// Some rendition is a thumbnail for file managers.
    package var makesThumbnails: Bool { renditions.contains { $0.layout == .freedesktop } }
    /// Some stage needs fonts.
    package var drawsText: Bool { (stages + renditions.flatMap(\.stages)).contains { $0.stage.drawsText } }
    /// Names are known only when their files are.
    package var namesByContents: Bool { renditions.contains { $0.template.needsContents } }

    package var needsHash: Bool {
        renditions.contains { $0.template.needsHash } || documents.contains(where: \.needsHash)
            || texts.contains(where: \.needsHash)
    }

    /// The parameters of a pipeline, of a rendition and of a condition, for the manual.
    package static var descriptions:
        (file: [ParameterDescription], rendition: [ParameterDescription], condition: [ParameterDescription])
    {
        (
            Parameters.describe(PipelineGroup.self), Parameters.describe(RenditionGroup.self),
            Parameters.describe(Condition.self)
        )
    }

    /// The JSON Schema of a pipeline file that may use these stages.
    package static func schema(catalogue: StageCatalogue) -> JSONValue {
        let head: JSONValue = [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Imagemill pipeline",
        ]
        var definitions: JSONValue = [
            "stages": catalogue.listSchema,
            "rendition": RenditionGroup.mappingSchema(catalogue: catalogue),
            "condition": Condition.mappingSchema(catalogue: catalogue),
        ]
        for part in catalogue.stages.flatMap({ $0.parts }) {
            definitions = definitions.merging([part.name: part.type.mappingSchema(catalogue: catalogue)])
        }
        guard case .object(let body) = PipelineGroup.mappingSchema(catalogue: catalogue) else { return head }
        let use: JSONValue = [
            "type": "string", "pattern": "\\$\\{[A-Za-z][A-Za-z0-9_-]*\\}", "description": "A parameter, in quotes.",
        ]
        return head.merging(body).merging([
            "$defs": definitions.takingParameters.merging(["parameter-use": use])
        ])
    }
}

extension Rendition {
    /// The name's template; set for every rendition of a pipeline that has been read.
    package var template: NameTemplate { file ?? .forSeveral }
}

/// The parameters of the whole file.
struct PipelineGroup: ParameterGroup {
    let source: SourceKind
    let stages: StageList
    let renditions: RenditionMap
    let documents: DocumentMap
    let profile: ProfilePolicy
    let toneMap: ToneMapSettings
    let tolerance: Tolerance
    let preview: PreviewUse
    let raw: RawUse
    let page: Int?
    let limits: LimitOverrides
    let policy: WarningPolicy
    let requirement: Condition?
    /// Taken out of the file before all else is read, since that has their values.
    let parameters: PipelineParameterList

    init(_ p: inout Parameters) {
        source = p.optional(
            "source", .picture,
            "What one source is: a picture, or a set of pictures, which is a folder with its files in natural order.")
        stages = p.optional("stages", StageList([]), "What is done once, for all renditions, in source pixels.")
        renditions = p.required("renditions", "What is written: a name for each, with its stages and how to save.")
        documents = p.optional(
            "documents", DocumentMap(documents: []),
            "JSON files beside the renditions, such as Contents.json: a name for each, with its `file` and its `content`."
        )
        profile = p.optional(
            "profile", .srgb,
            "The colors that stages work in and renditions are in: srgb, display-p3, those of an .icc file, or keep for the source's own."
        )
        toneMap = p.optional(
            "tone-map", ToneMapSettings.placeholder,
            "How light beyond white becomes white, for HDR pictures in PQ and HLG; the usual values suit photos.")
        tolerance = p.optional("tolerate", .nothing, "Which damage to let pass, with a warning in the report.")
        preview = p.optional(
            "preview", .never,
            "allow makes renditions of the preview in a photo's file, if they begin by scaling and are not larger than that; much quicker, but a preview may be older than the photo."
        )
        raw = p.optional(
            "raw", .preview,
            "For raw files of cameras, if they are allowed: preview uses the finished picture in the file wherever it is large enough, and passes the file over if a JPEG of the same name is beside it; prefer passes over that JPEG; develop does too, and always makes a picture of what the sensor has measured."
        )
        page = p.optional(
            "page", in: 1...100_000,
            "Which page of a PDF or a TIFF is read, or which frame of an animation, which is a still then; from 1. Default: the first page, all frames."
        )
        limits = p.optional(
            "limits", LimitOverrides(),
            "Lower limits for the sources of this pipeline, such as { max-pixels: 20M }; those of the command line and of the inbox hold besides."
        )
        policy = p.optional(
            "policy", WarningPolicy(),
            "The action on each warning, ignore, warn or fail, such as { upscaled: fail }; an inbox and --policy may say otherwise."
        )
        requirement = p.optional(
            "require",
            "What must be true of every source, such as { width: \">= 1200\" }; others fail. Default: anything may come."
        )
        parameters = p.optional(
            "parameters", PipelineParameterList(parameters: []),
            "Values that are left open, such as { side: { type: length, default: 64 } }, and used as \"${side}\".")
        checkNames(&p)
        documents.check(&p, renditions.renditions)
        SetRules(
            kind: source, shared: stages.uses, renditions: renditions.renditions, requirement: requirement,
            preview: preview
        ).check(&p)
        for use in stages.uses {
            for field in use.stage.texts.flatMap(\.emptyBeforeRenditions) {
                p.problem(
                    position: use.position,
                    "\(field) has no value in shared stages; move '\(use.name)' into the renditions")
            }
        }
        if source == .set && profile.isCarried {
            p.problem(
                at: "profile",
                "the members of a set are joined in sRGB, whatever profiles they have; remove 'profile: \(profile.written)'"
            )
        }
    }

    /// The renditions with their templates filled in.
    var namedRenditions: [Rendition] {
        renditions.renditions.map {
            $0.named(by: .usual(single: renditions.count == 1, widths: $0.width != nil))
        }
    }

    /// Two renditions that would write one name are a mistake of the file.
    private func checkNames(_ p: inout Parameters) {
        var owners: [Name: [(title: String, rendition: Rendition)]] = [:]
        var tries = 50_000
        // A size may tell two names apart, which only the plan knows.
        for rendition in namedRenditions where rendition.hasKnownName && rendition.layout == .plain {
            guard !rendition.template.namesSize || rendition.width != nil else { continue }
            for scale in rendition.scales {
                let ext = rendition.sameFormat.isEmpty ? rendition.save.encoding.ownExtension : "{ext}"
                let parts = rendition.template.fixed(rendition: rendition.name, scale: scale, ext: ext)
                let name = Name(parts: parts, width: rendition.template.namesSize ? rendition.width : nil)
                let title = "'\(rendition.title)'" + (rendition.scales.count > 1 ? " at scale \(scale)" : "")
                let others = owners[name, default: []]
                owners[name, default: []].append((title, rendition))
                let other = others.last { mayBeMadeTogether(rendition, $0.rendition, &tries) }
                guard let other else { continue }
                // Said of the entry already.
                if isOne(rendition, other.rendition), rendition.width != other.rendition.width { continue }
                p.problem(
                    position: rendition.position,
                    "\(clash(of: rendition, named: title, with: other)); \(advice(rendition, other.rendition))")
            }
        }
    }

    private func mayBeMadeTogether(_ one: Rendition, _ other: Rendition, _ tries: inout Int) -> Bool {
        let conditions = [one.condition, other.condition].compactMap(\.self)
        if conditions.isEmpty { return true }
        guard tries > 0 else { return false }
        return Condition.sharedSource(of: conditions, isSet: source == .set, tries: &tries) != nil
    }

    private func clash(
        of rendition: Rendition, named title: String, with other: (title: String, rendition: Rendition)
    ) -> String {
        guard isOne(rendition, other.rendition) else {
            return "\(title) would write the same file as \(other.title): '\(rendition.template.text)'"
        }
        return "'\(rendition.name)' would write several files of one name: '\(rendition.template.text)'"
    }

    private func advice(_ one: Rendition, _ other: Rendition) -> String {
        guard isOne(one, other) else {
            let isConditional = one.condition != nil || other.condition != nil
            return "add {rendition} or {scale} to 'file'"
                + (isConditional ? ", or write 'when' so that never both are made" : "")
        }
        return one.save.format == other.save.format ? "write a rendition for each 'save'" : "add {ext} to 'file'"
    }

    /// Both come from the widths or formats of one entry.
    private func isOne(_ one: Rendition, _ other: Rendition) -> Bool {
        one.position == other.position && one.scales.count == 1
    }

    /// The parts that decide a file's name before the source is known.
    private struct Name: Hashable {
        let parts: [NameTemplate.Part]
        let width: Int?
    }
}
