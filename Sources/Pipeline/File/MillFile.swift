// The file that `imagemill watch` reads. It says where pictures arrive and where their renditions go; pipelines say
// what to do with them.

/// The mill file that the user wrote. It never changes after reading; a reload reads another one.
package struct MillFile: Sendable {
    package let text: String
    /// The ledger's folder; nil for the system's usual place.
    package let state: WrittenPath?
    package let workers: WorkerCount
    package let inboxes: [MillInbox]
    /// Nil if renditions are not kept.
    package let cache: CacheSettings?
    /// Nil if there is no dashboard.
    package let http: HTTPSettings?
    /// How long running jobs may take after SIGTERM.
    package let drain: Duration
    private let limitGroup: MillLimits

    /// The inboxes that have mistakes and are not in `inboxes`.
    package let otherInboxes: [PartOfInbox]

    /// Reads a mill file.
    /// - Parameter file: the name to show in messages.
    /// - Throws: every mistake at once.
    package init(text: String, file: String) throws(Diagnostics) {
        let (found, mistakes) = Self.reading(text: text, file: file)
        guard let found, mistakes == nil else { throw mistakes ?? Diagnostics(file: file, text: text, items: []) }
        self = found
    }

    /// Reads a mill file as far as that is possible, so that the mistakes of what it names are found too.
    /// - Returns: what is right of it, nil if it is none; and every mistake.
    package static func reading(text: String, file: String) -> (file: MillFile?, mistakes: Diagnostics?) {
        let (root, problems) = readYAML(text, need: "inboxes")
        var log = ReadingLog(catalogue: StageCatalogue([]))
        for problem in problems { log.problem(problem.position, problem.message) }
        let group = root.flatMap { Parameters.read(MillGroup.self, from: $0, owner: "the mill file", &log) }
        guard let group, log.problems.isEmpty else {
            let mixedUp = root.flatMap { Self.kind($0, isOnly: PipelineGroup.self, not: MillGroup.self) }.map {
                [Diagnostic($0, "expected a mill file, found a pipeline; name it as the 'pipeline' of an inbox")]
            }
            let mistakes = Diagnostics(file: file, text: text, items: mixedUp ?? log.problems)
            return (mixedUp == nil ? group.map { MillFile(text, $0) } : nil, mistakes)
        }
        return (MillFile(text, group), nil)
    }

    private init(_ text: String, _ group: MillGroup) {
        self.text = text
        state = group.state
        workers = group.workers
        inboxes = group.inboxes.inboxes
        otherInboxes = group.inboxes.others
        cache = group.cache
        http = group.http
        drain = group.drain
        limitGroup = group.limits
    }

    /// Whether the folders that all inboxes share are those of the text, and no placeholders.
    package var namesItsPlaces: Bool {
        ![state, cache?.path].compactMap(\.self).contains(WrittenPath.placeholder)
    }

    /// The pipelines of inboxes that have mistakes.
    package var otherPipelines: [WrittenPath] { otherInboxes.compactMap(\.pipeline) }

    /// The ledger's folder as a text names it, whatever else is wrong with the text; nil if it names none.
    package static func state(in text: String) -> WrittenPath? {
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("state:") }
        guard let root = readYAML(text).root ?? line.flatMap({ readYAML(String($0)).root }),
            case .mapping(let entries) = root.content, let node = entries.first(where: { $0.key == "state" })?.value
        else { return nil }
        var log = ReadingLog(catalogue: StageCatalogue([]))
        return WrittenPath.read(node, &log)
    }

    /// Whether a text is not valid YAML and has no `state:` line that can be read by itself.
    package static func hasUnreadableState(_ text: String) -> Bool {
        readYAML(text).root == nil && state(in: text) == nil
    }

    /// How much one source may cost.
    /// - Parameter memory: bytes for all workers together, if the file does not say.
    package func limits(memory: Int) -> Limits { limitGroup.limits(memory: memory) }

    /// Whether a text looks more like a mill file than like a pipeline, by its keys.
    package static func isLikely(_ text: String) -> Bool {
        guard let root = readYAML(text).root else {
            return text.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("inboxes:") }
        }
        // `limits` and `source` alone tell nothing; these keys are in every file of their kind.
        let (hasInboxes, hasRenditions) = (root.hasKey("inboxes"), root.hasKey("renditions"))
        if hasInboxes != hasRenditions { return hasInboxes }
        let (mill, pipeline) = (known(MillGroup.self, in: root), known(PipelineGroup.self, in: root))
        if mill != pipeline { return mill > pipeline }
        return nearlyKnown(MillGroup.self, in: root) > nearlyKnown(PipelineGroup.self, in: root)
    }

    /// Where a pipeline would begin that is a mill file instead; nil if it is none.
    static func standsInstead(of pipeline: YAMLNode) -> Position? {
        kind(pipeline, isOnly: MillGroup.self, not: PipelineGroup.self)
    }

    private static func kind(
        _ root: YAMLNode, isOnly one: any ParameterGroup.Type, not other: any ParameterGroup.Type
    ) -> Position? {
        known(one, in: root) > 0 && known(other, in: root) == 0 ? root.position : nil
    }

    private static func known(_ type: any ParameterGroup.Type, in root: YAMLNode) -> Int {
        guard case .mapping(let entries) = root.content else { return 0 }
        let keys = Set(entries.map(\.key))
        return Parameters.describe(type).count { keys.contains($0.key) }
    }

    /// How many keys are known, or probably meant to be.
    private static func nearlyKnown(_ type: any ParameterGroup.Type, in root: YAMLNode) -> Int {
        guard case .mapping(let entries) = root.content else { return 0 }
        let words = Parameters.describe(type).map(\.key)
        return entries.count { words.contains($0.key) || nearestWord(to: $0.key, among: words) != nil }
    }

    /// The JSON Schema of a mill file.
    package static var schema: JSONValue {
        let head: JSONValue = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Imagemill mill file",
        ]
        guard case .object(let body) = MillGroup.mappingSchema() else { return head }
        return head.merging(body).merging(["$defs": ["inbox": InboxSettings.mappingSchema()]])
    }

    /// The parameters of the file, of an inbox and of the cache, for the reference.
    package static var descriptions:
        (file: [ParameterDescription], inbox: [ParameterDescription], cache: [ParameterDescription])
    {
        (
            Parameters.describe(MillGroup.self), Parameters.describe(InboxSettings.self),
            Parameters.describe(CacheSettings.self)
        )
    }
}

/// The parameters of the whole file.
struct MillGroup: ParameterGroup {
    let state: WrittenPath?
    let workers: WorkerCount
    let inboxes: InboxList
    let cache: CacheSettings?
    let http: HTTPSettings?
    let drain: Duration
    let limits: MillLimits

    init(_ p: inout Parameters) {
        state = p.optional(
            "state",
            "The ledger's folder; default $STATE_DIRECTORY, which systemd sets, or ~/.local/state/imagemill. On the inbox's file system, work/, done/ and failed/ are here too."
        )
        workers = p.optional(
            "workers", .auto,
            "Worker processes; auto is one for each core. There are more while an inbox that has work is given its share of them and others have more than theirs."
        )
        inboxes = p.required("inboxes", "The folders to watch.")
        cache = p.optional(
            "cache",
            "Keeps renditions for all inboxes, so that none is made twice: the settings below, or {} for their defaults."
        )
        http = p.optional(
            "http",
            "Where a dashboard and metrics are served: 127.0.0.1:8080, the path of a Unix socket, or { address: 0.0.0.0:8080, token: FILE }, where the file has a secret that requests have to bring along. Takes effect at the next start."
        )
        drain = p.optional("drain", .seconds(30), "How long running jobs may take to finish after SIGTERM.")
        limits = MillLimits(&p)
    }
}

/// The limits, as `imagemill run` has them.
struct MillLimits: ParameterGroup {
    private let source: LimitOverrides
    private let memory: ByteCount?

    init(_ p: inout Parameters) {
        source = LimitOverrides(&p)
        memory = p.optional("max-memory", "Memory for all workers together; default half of the machine's.")
        if let memory, memory.value < CostModel.base {
            p.problem(
                at: "max-memory",
                "'max-memory' is less than any picture needs; allow \(CostModel.smallestBudget) or more")
        }
    }

    func limits(memory usual: Int) -> Limits {
        var limits = Limits()
        limits.maximumMemory = memory?.value ?? usual
        return source.applied(to: limits)
    }
}
