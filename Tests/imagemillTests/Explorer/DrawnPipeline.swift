// Pipelines drawn by a seed: what they are made of, and how often a draw was refused.
import Pipeline
import Stages

/// A pipeline that was drawn.
struct DrawnPipeline: Equatable, Sendable {
    var written: Written

    /// The file.
    var text: String {
        written.entries.map { entry in
            guard entry.key == "renditions" else { return "\(entry.key): \(entry.value.yaml)\n" }
            return "renditions:\n" + entry.value.entries.map { "  \($0.key): \($0.value.yaml)\n" }.joined()
        }.joined()
    }

    /// Read as the program reads it; nil if it refuses it.
    var file: PipelineFile? { try? PipelineFile(text: text, file: "p.yaml", catalogue: .all) }

    /// Every rendition by itself, at each of its scales, widths and formats: pipelines that write one file. What is
    /// measured is shared by all scales, which stay together then.
    var alone: [DrawnPipeline] {
        let sharesMeasurements = measures
        return (written["renditions"]?.entries ?? []).flatMap { rendition in
            let sizes = sharesMeasurements ? [rendition.value] : sizes(of: rendition.value)
            return sizes.flatMap { sized in
                saves(of: rendition.value).map { save in
                    var body = sized
                    body["save"] = save
                    var pipeline = self
                    pipeline.written["renditions"] = .mapping([Written.Entry(key: rendition.key, value: body)])
                    return pipeline
                }
            }
        }
    }

    private func sizes(of rendition: Written) -> [Written] {
        for key in ["scale", "widths"] {
            guard let list = rendition[key]?.items, !list.isEmpty else { continue }
            return list.map { one in
                var body = rendition
                body[key] = one
                return body
            }
        }
        return [rendition]
    }

    private func saves(of rendition: Written) -> [Written] {
        (rendition["save"]?.items ?? []).flatMap { save in
            (save["format"]?.items ?? []).map { format in
                var save = save
                save["format"] = format
                return save
            }
        }
    }

    /// The same, with every pixel saved as it is. For pipelines that write one file.
    func lossless(as save: String) -> DrawnPipeline {
        var pipeline = self
        var renditions = pipeline.written["renditions"]?.entries ?? []
        for index in renditions.indices {
            renditions[index].value["save"] = .plain(save)
            renditions[index].value["file"] = .text("lossless.{ext}")
        }
        pipeline.written["renditions"] = .mapping(renditions)
        return pipeline
    }

    /// The savers' settings, each with one format.
    var saves: [Written] { (written["renditions"]?.entries ?? []).flatMap { saves(of: $0.value) } }

    /// Names of the stages that it uses, not of those within others.
    var stages: [String] { file.map { ($0.stages + $0.renditions.flatMap(\.stages)).map(\.name) } ?? [] }

    /// Whether some stage of a rendition makes small differences larger: a shared one, one of its own, or one within
    /// another.
    func amplifies(_ rendition: String) -> Bool {
        [written["stages"], written["renditions"]?[rendition]].contains { stages in
            [Sharpen.name, Adjust.name].contains { stages?.contains(key: $0) ?? false }
        }
    }

    /// Some stage looks at the pixels to find out where to cut.
    var measures: Bool {
        file.map { ($0.stages + $0.renditions.flatMap(\.stages)).contains { $0.stage.needsMeasurement } } ?? false
    }
}

/// Draws pipelines for a source.
struct PipelineDrawing {
    private(set) var draws = 0
    /// Draws that the program's check of pipelines would not have.
    private(set) var refused = 0

    private static let definitions = PipelineFile.schema(catalogue: .all)["$defs"]?.members ?? [:]
    /// Those that make the picture another size before anything else is done are where most renditions begin.
    private static let usual = ["resize", "resize", "resize", "frame"]

    mutating func draw(for source: DrawnSource, _ random: inout SeededGenerator) throws -> DrawnPipeline {
        for _ in 0..<100 {
            var pipeline = DrawnPipeline(written: .mapping([]))
            if source.isSet { pipeline.written["source"] = .text("set") }
            // Colors of four inks with alpha are five numbers a pixel, if they are kept.
            let isPrint = [.cmyk, .lab].contains(source.colour)
            if !source.isSet, random.chance(isPrint ? 0.6 : 0.15) { pipeline.written["profile"] = .text("keep") }
            if random.chance(0.05) { pipeline.written["tolerate"] = .text(random.pick(Tolerance.allCases).rawValue) }
            if source.frames > 1, random.chance(0.1) {
                pipeline.written["page"] = .plain("\(random.whole(1...source.frames))")
            }
            // Pictures that take minutes show nothing that smaller ones do not show.
            pipeline.written["limits"] = .mapping([Written.Entry(key: "max-pixels", value: .plain("6000000"))])

            // How far a decoder may shrink follows from all scaling stages together, the shared ones and those of each
            // rendition.
            let isReduced = source.isCoarse && random.chance(0.6)
            let joinsFirst = source.isSet && random.chance(0.5)
            var shared = try stages(
                random.pick([0, 0, 1, 1, 2]), for: source, startsScaling: random.chance(0.4), &random)
            if isReduced { shared = [Self.reducing(source, &random)] }
            if joinsFirst { shared.append(try joining(for: source, &random)) }
            if !shared.isEmpty { pipeline.written["stages"] = .list(shared) }
            var renditions: [Written.Entry] = []
            for index in 0..<random.pick([1, 1, 2, 2, 3, 4]) {
                let name = ["a", "b", "c", "d"][index]
                let body = try rendition(
                    name, for: source, joins: source.isSet && !joinsFirst, scales: isReduced, &random)
                renditions.append(Written.Entry(key: name, value: body))
            }
            pipeline.written["renditions"] = .mapping(renditions)
            if pipeline.written.contains(key: "max-bytes") || pipeline.written.contains(key: "ssim") {
                // The nearest file is a result too.
                let policy = Written.Entry(key: WarningCode.targetMissed.rawValue, value: .text("warn"))
                pipeline.written["policy"] = .mapping([policy])
            }
            if isAccepted(pipeline) { return pipeline }
        }
        throw Unlucky(what: "a pipeline for \(source)")
    }

    /// A stage that makes a picture about half to a sixth as large.
    private static func reducing(_ source: DrawnSource, _ random: inout SeededGenerator) -> Written {
        let width = max(1, Int(Double(source.width) / random.number(1.5...6)))
        let size = Written.mapping([Written.Entry(key: "size", value: .text("\(width)x>"))])
        return .mapping([Written.Entry(key: "resize", value: size)])
    }

    struct Unlucky: Error {
        let what: String
    }

    private mutating func isAccepted(_ pipeline: DrawnPipeline) -> Bool {
        draws += 1
        if pipeline.file != nil { return true }
        refused += 1
        return false
    }

    private mutating func rendition(
        _ name: String, for source: DrawnSource, joins: Bool, scales: Bool, _ random: inout SeededGenerator
    ) throws -> Written {
        for _ in 0..<100 {
            var body = Written.mapping([])
            let count = random.pick(scales ? [1, 1, 2] : [0, 1, 1, 2, 3])
            var list = try stages(count, for: source, startsScaling: scales || random.chance(0.6), &random)
            if joins { list.insert(try joining(for: source, &random), at: random.whole(0...list.count)) }
            if !list.isEmpty { body["stages"] = .list(list) }
            var file = "{stem}-\(name){scale}.{ext}"
            if random.chance(0.35) {
                body["scale"] = random.pick([
                    .plain("2"), .list([.plain("1"), .plain("2")]), .list(["1", "2", "3"].map { .plain($0) }),
                ])
            } else if random.chance(0.2) {
                let widths = Set((0...1).map { _ in random.whole(1...max(2, source.width)) }).sorted()
                body["widths"] = .list(widths.map { .plain("\($0)") })
                file = "{stem}-\(name)-{width}.{ext}"
            }
            body["save"] = try save(for: source, &random)
            body["file"] = .text(file)
            var pipeline = DrawnPipeline(written: .mapping([]))
            if joins { pipeline.written["source"] = .text("set") }
            pipeline.written["renditions"] = .mapping([Written.Entry(key: name, value: body)])
            if isAccepted(pipeline) { return body }
        }
        throw Unlucky(what: "a rendition")
    }

    /// One format with options, or a list of formats.
    private mutating func save(for source: DrawnSource, _ random: inout SeededGenerator) throws -> Written {
        // A set has no format of its own.
        let formats = SaveFormat.allCases.filter { $0 != .same || !source.isSet }
        if random.chance(0.25) {
            let several = OutputFormat.allCases.filter { $0 != .tiles }.shuffled(using: &random).prefix(
                random.pick([2, 2, 3]))
            return .mapping([Written.Entry(key: "format", value: .list(several.map { .text($0.rawValue) }))])
        }
        let format = random.pick(formats)
        let drawing = drawing(for: source)
        for _ in 0..<100 {
            var save = Written.mapping([Written.Entry(key: "format", value: .text(format.rawValue))])
            for option in SaveSettings.descriptions(of: format) where option.key != "format" && random.chance(0.25) {
                save[option.key] = try drawing.draw(option.key, option.schema, &random)
            }
            // The slow half of an encoder's range makes no other pixels.
            if let effort = save["effort"]?.word.flatMap({ Int($0) }) { save["effort"] = .plain("\(min(effort, 2))") }
            // TileTests are about folders.
            if format == .format(.tiles) { save["container"] = .plain("zip") }
            if format == .format(.avif) { save["effort"] = .plain("0") }
            if format == .format(.jxl) { save["effort"] = .plain("3") }
            let renditions = Written.mapping([
                Written.Entry(key: "a", value: .mapping([Written.Entry(key: "save", value: save)]))
            ])
            if isAccepted(DrawnPipeline(written: .mapping([Written.Entry(key: "renditions", value: renditions)]))) {
                return save
            }
        }
        throw Unlucky(what: "a saver of \(format.rawValue)")
    }

    private mutating func stages(
        _ count: Int, for source: DrawnSource, startsScaling: Bool, _ random: inout SeededGenerator
    ) throws -> [Written] {
        let others = StageCatalogue.all.stages.filter { !($0 is any JoiningStage.Type) }.map { $0.name }
        return try (0..<count).map { index in
            try stage(random.pick(index == 0 && startsScaling ? Self.usual : others), for: source, &random)
        }
    }

    private mutating func joining(for source: DrawnSource, _ random: inout SeededGenerator) throws -> Written {
        try stage(
            random.pick(StageCatalogue.all.stages.filter { $0 is any JoiningStage.Type }.map { $0.name }), for: source,
            &random)
    }

    /// One use of a stage that the program's own check lets pass.
    private mutating func stage(
        _ name: String, for source: DrawnSource, _ random: inout SeededGenerator
    ) throws -> Written {
        guard let type = StageCatalogue.all.stage(named: name) else { throw Unlucky(what: "the stage \(name)") }
        let schema = type.mappingSchema(catalogue: .all)
        let isJoining = type is any JoiningStage.Type
        for attempt in 0..<200 {
            // Keys that exclude each other are rarer, the fewer there are.
            let parameters = try drawing(for: source).mapping(schema, optional: attempt % 2 == 0 ? 0.35 : 0.15, &random)
            let stage = Written.mapping([Written.Entry(key: name, value: parameters)])
            var trial = DrawnPipeline(written: .mapping([]))
            if isJoining { trial.written["source"] = .text("set") }
            trial.written["stages"] = .list([stage])
            // Any format that holds animations will do.
            trial.written["renditions"] = .mapping([
                Written.Entry(key: "a", value: .plain("{ save: { format: webp } }"))
            ])
            if isAccepted(trial) { return stage }
        }
        throw Unlucky(what: "the stage \(name)")
    }

    /// A list of stages within a stage: what may be there is what a picture alone may have.
    private func drawing(for source: DrawnSource) -> SchemaDrawing {
        SchemaDrawing(
            definitions: Self.definitions, sides: (source.width, source.height),
            assets: DrawnAsset.allCases.map(\.rawValue), table: DrawnTable.name
        ) { random in
            guard random.chance(0.5) else { return .list([]) }
            var inner = PipelineDrawing()
            return .list(try inner.stages(1, for: source, startsScaling: random.chance(0.5), &random))
        }
    }
}
