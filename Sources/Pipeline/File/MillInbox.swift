// One inbox of `mill.yaml`.

/// A folder that is watched, and what to do with the files in it.
@dynamicMemberLookup package struct MillInbox: Sendable {
    /// Tells inboxes apart in the state folder, in logs and in the status.
    package let name: String
    package let position: Position
    private let settings: InboxSettings

    fileprivate init(_ settings: InboxSettings, at position: Position) {
        (self.settings, self.position) = (settings, position)
        name = settings.name ?? settings.defaultName
    }

    package subscript<Value>(dynamicMember setting: KeyPath<InboxSettings, Value>) -> Value {
        settings[keyPath: setting]
    }

    /// The limits of this inbox.
    package func limits(within mill: Limits) -> Limits {
        var limits = settings.limits.applied(to: mill)
        limits.allowed = settings.allowed.formats
        return limits
    }
}

/// The parts of an inbox with mistakes that could be read; nil for the others.
package struct PartOfInbox: Sendable {
    package let name: String
    package let path, outbox, pipeline: WrittenPath?
    package let position: Position
}

/// The settings of an inbox as they are written.
package struct InboxSettings: ParameterGroup, Sendable {
    package let path, outbox, pipeline: WrittenPath
    let name: String?
    package let settle, incompleteAfter, zeroByteAfter, setQuiet: Duration
    package let originals: OriginalPolicy
    package let watch: WatchMode
    /// How often a source is tried that may succeed another time.
    package let attempts: Int
    package let priority: Int
    package let collision: CollisionPolicy
    package let duplicates: DuplicatePolicy
    package let sidecar: SidecarPolicy
    /// Renditions are put into the same sub-folders as their sources.
    package let keepsTree: Bool
    private let ignored: NamePatternList
    package var ignore: [NamePattern] { ignored.patterns }
    package let reports: ReportPlace
    /// The limits that differ from those of the mill.
    package let limits: LimitOverrides
    /// The formats on request that it reads.
    package let allowed: AllowedFormats
    /// The actions on warnings that differ from those of the pipeline.
    package let policy: WarningPolicy
    /// Values for the parameters of the pipeline.
    package let given: GivenParameters
    /// It has workers of its own.
    package let isolates: Bool
    /// Nil if everything is kept.
    package let keepDone, keepFailed: Retention?
    package let onSuccess, onFailure, onPause: HookSettings?
    /// Those of the keys for folders and for the name that were understood.
    private let understood: Set<String>

    package init(_ p: inout Parameters) {
        path = p.required("path", "The folder to watch, with its sub-folders.")
        outbox = p.required("outbox", "The folder for the renditions.")
        pipeline = p.required("pipeline", "The pipeline file.")
        name = p.optional(
            "name",
            "How the inbox is called in logs, in the status and in the state folder; default the last part of 'path'.")
        originals = p.optional(
            "originals", .move,
            "What to do with a source that is done: move it to done/, keep it, or delete it. One whose decoder warned of damage is not deleted."
        )
        settle = p.optional(
            "settle", .seconds(2),
            "How long a file must not change before it is taken, if nothing shows that its writer has closed it.")
        incompleteAfter = p.optional(
            "incomplete-after", .seconds(600),
            "How long to wait for the rest of an incomplete file before trying to decode it anyway.")
        zeroByteAfter = p.optional("zero-byte-after", .seconds(60), "When a file of 0 bytes counts as a failure.")
        setQuiet = p.optional(
            "set-quiet", .seconds(5),
            "How long a set's folder must be quiet before it is taken; a file named .done ends the wait.")
        watch = p.optional(
            "watch", .auto, "By events, by looking at intervals, or auto: events but for network file systems.")
        attempts = p.optional("attempts", 3, in: 1...100, "How often a source is tried before it goes to failed/.")
        collision = p.optional(
            "collision", .version, "When a name belongs to another source: version (a-2.webp), fail, or overwrite.")
        duplicates = p.optional(
            "duplicates", .process,
            "When another source of the inbox had the same bytes, and the same pipeline, as far as the ledger goes back: process it too, skip it, or fail."
        )
        sidecar = p.optional(
            "sidecar", .optional,
            "If the pipeline has parameters: whether a picture's own values, photo.jpg.yaml beside photo.jpg, may come while it settles, or must come until 'incomplete-after'."
        )
        keepsTree = p.optional("keep-tree", true, "Puts renditions into the same sub-folders as their sources.")
        priority = p.optional(
            "priority", 1, in: 1...100, "The share of this inbox if several wait: 2 gets twice as many turns as 1.")
        ignored = p.optional(
            "ignore", NamePatternList([]),
            "More names to pass over; with ! before it, a usual leftover that is taken after all.")
        reports = p.optional(
            "reports", .beside,
            "Where reports go: beside the renditions, or to the folder reports/ in the outbox; always under the source's sub-folders."
        )
        limits = p.optional(
            "limits", LimitOverrides(),
            "Limits of this inbox that differ from the mill's, such as { max-pixels: 300M }; all but max-memory.")
        allowed = p.optional(
            "allow", AllowedFormats(),
            "Formats that are read besides the usual ones: \(AllowedFormats.explanation)"
        )
        policy = p.optional(
            "policy", WarningPolicy(),
            "The action on each warning, ignore, warn or fail, if it differs from the pipeline's, such as { upscaled: fail }."
        )
        given = p.optional(
            "set", GivenParameters(),
            "Values for the parameters of the pipeline, such as { side: 100 }; a point is written as \"30% 70%\".")
        isolates = p.optional(
            "isolate", false,
            "Gives the inbox worker processes of its own, which meet no picture of another inbox. Idle ones count within 'workers' too; they start when it has work, and end when it has none or another inbox needs their place."
        )
        keepDone = p.optional(
            "keep-done",
            "How long originals stay in done/, and how much of them: 30d, 10G, or { age: 30d, size: 10G }. Default: all of them, for good."
        )
        keepFailed = p.optional("keep-failed", "The same for failed/. What is removed there is lost.")
        onSuccess = p.optional(
            "on-success",
            "What gets the report of a source that is done: a command such as [/usr/local/bin/notify, done], { command: [...], timeout: 1m }, or { webhook: https://example.org/hook, secret: FILE }."
        )
        onFailure = p.optional("on-failure", "The same for a source that has failed for good.")
        onPause = p.optional("on-pause", "The same when the inbox pauses.")
        understood = Set(
            ["path", "outbox", "pipeline"].filter { p.has($0) && p.understood($0) }
                + ["name"].filter { p.understood($0) })
        if let name, !Self.canName(name) { p.problem(at: "name", "the name '\(name)' cannot be the name of a folder") }
        if incompleteAfter < settle {
            p.problem(at: "incomplete-after", "'incomplete-after' is shorter than 'settle'; it must be longer")
        }
    }

    /// Names are folders below `state`.
    private static func canName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && name.utf8.count <= 200
            && !name.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "/") || $0 == 0x7F }
    }

    /// The last part of the path, without what a name cannot begin with.
    fileprivate var defaultName: String {
        let last = BytePath(path.text).withoutTrailingSlashes.lastComponent.text
        return Self.canName(last) ? last : "inbox"
    }

    var hasKnownName: Bool { understood.contains("name") }

    /// The inbox as far as it is understood.
    func part(at position: Position) -> PartOfInbox {
        func known(_ path: WrittenPath, _ key: String) -> WrittenPath? { understood.contains(key) ? path : nil }
        return PartOfInbox(
            name: (hasKnownName ? name : nil) ?? defaultName, path: known(path, "path"),
            outbox: known(outbox, "outbox"), pipeline: known(pipeline, "pipeline"), position: position)
    }
}

/// `inboxes`: a list of inboxes.
struct InboxList: ParameterValue {
    /// Those without mistakes.
    let inboxes: [MillInbox]
    /// The others, as far as they are understood.
    var others: [PartOfInbox] = []

    static var expectation: String { "a list of inboxes, each with 'path', 'outbox' and 'pipeline'" }
    static var schema: JSONValue { ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/inbox"]] }
    static var placeholder: InboxList { InboxList(inboxes: []) }
    var written: String { "[]" }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> InboxList? {
        guard case .list(let items) = node.content else { return nil }
        if items.isEmpty { log.problem(node.position, "'inboxes' is empty: nothing would be watched") }
        var (inboxes, others): ([MillInbox], [PartOfInbox]) = ([], [])
        var (known, names): ([PartOfInbox], Set<String>) = ([], [])
        for item in items {
            let problemsBefore = log.problems.count
            guard let group = Parameters.read(InboxSettings.self, from: item, owner: "the inbox", &log) else {
                continue
            }
            let isRight = log.problems.count == problemsBefore
            let part = group.part(at: item.position)
            if let path = part.path, let other = known.first(where: { $0.path?.text == path.text }) {
                log.problem(
                    item.position,
                    "the folder '\(path.text)' is an inbox already, in line \(other.position.line); remove one of them"
                )
                // Its folders are those of the other one, which is no further mistake.
                others.append(
                    PartOfInbox(
                        name: part.name, path: nil, outbox: nil, pipeline: part.pipeline, position: part.position))
                continue
            }
            if part.path != nil, group.hasKnownName, !names.insert(part.name).inserted {
                log.problem(
                    item.position, "two inboxes are called '\(part.name)'; give one of them a 'name' of its own")
            }
            known.append(part)
            if isRight { inboxes.append(MillInbox(group, at: item.position)) } else { others.append(part) }
        }
        return InboxList(inboxes: inboxes, others: others)
    }
}
