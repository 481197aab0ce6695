// A mill file with its pipelines, checked as far as that is possible before anything is watched.
import Glibc
package import Pipeline
import Stages
package import System

/// Everything that is wrong with a mill file, its pipelines and its folders.
package struct MillProblems: Error, Sendable, CustomStringConvertible {
    /// The mistakes in the text, for each file.
    package let mistakes: [Diagnostics]
    /// The reasons why what is written correctly cannot work, a sentence each.
    package let refusals: [String]

    package init(mistakes: [Diagnostics], refusals: [String]) { (self.mistakes, self.refusals) = (mistakes, refusals) }

    package var description: String {
        (mistakes.map(\.description) + refusals.map { "imagemill: \($0)" }).joined(separator: "\n")
    }
}

/// A mill that can run: its file is right, its pipelines are loaded, and its folders are apart.
package struct LoadedMill: Sendable {
    package struct Inbox: Sendable {
        package let settings: MillInbox
        /// Absolute, with the links that the user wrote: where they lead may change.
        package let path: BytePath
        package let outbox: BytePath
        package let pipeline: LoadedPipeline
        package let spool: SpoolLocation
        /// Where its folders really are; nil as long as that cannot be seen.
        package internal(set) var places: InboxPlaces?
        /// The files that are read at every start, with what they are.
        let files: [(what: String, place: FolderPlace)]
        /// The hooks, by the events that they get.
        package let hooks: [HookEvent: Hook]

        /// The places of its reports in the outbox.
        package var reports: ReportFiles { ReportFiles(besideRenditions: settings.reports == .beside) }
        package var ignored: IgnoredNames { IgnoredNames(settings.ignore) }
        /// The outbox's key in the record of names; before its file system has answered, when nothing is named, the
        /// path as it is written.
        package var outboxKey: BytePath { places?.outboxKey ?? outbox }

        func hasFolders(of other: Inbox) -> Bool { path == other.path && outbox == other.outbox }
    }

    /// The cache that all inboxes share.
    package struct Cache: Sendable {
        package let folder: BytePath
        /// Nil for the usual bound.
        package let bound: Int?
    }

    package let file: MillFile
    package let state: BytePath
    package let cache: Cache?
    package internal(set) var inboxes: [Inbox]
    /// The mill file.
    let path: String
    /// The folders of the inboxes whose file systems have answered.
    var layout: MillLayout

    /// Reads a mill file's pipelines, and looks at its folders. Makes nothing.
    /// - Parameters:
    ///   - path: of the mill file, to which others are relative.
    ///   - text: its content.
    ///   - patience: how long to wait for the file systems of the inboxes; what hangs is looked at later, by `place`.
    ///   - environment: a variable's value.
    ///   - willRead: hears what is looked at next, such as `the pipeline 'p.yaml' or its assets`.
    /// - Throws: `Diagnostics` or `MillProblems` for what the user has to change, `SystemError` if the system does not
    ///   even let itself be looked at.
    package init(
        path: String, text: String, patience: Duration = .seconds(1), environment: (String) -> String?,
        willRead: (String) -> Void = { _ in }
    ) throws {
        let (read, written) = MillFile.reading(text: text, file: path)
        guard let file = read else { throw written ?? Diagnostics(file: path, text: text, items: []) }
        var loader = MillPipelines(path: path)
        let pipelines = try file.inboxes.map { try loader.load($0.pipeline, given: $0.given, willRead) }
        let others = try file.otherInboxes.map { inbox in
            (part: inbox, files: try inbox.pipeline.flatMap { try loader.load($0, willRead)?.files } ?? [])
        }
        let (mistakes, problems) = (loader.mistakes, (written?.items ?? []) + loader.problems)
        func found(_ more: [Diagnostic] = []) -> [Diagnostics] {
            let own = problems + more
            return (own.isEmpty ? [] : [Diagnostics(file: path, text: text, items: own)]) + mistakes
        }
        // A file with mistakes may hold placeholders for the places of all inboxes.
        let hasPlaces = written == nil || file.namesItsPlaces
        let state = hasPlaces ? Self.state(file.state, at: path, environment: environment) : nil
        if hasPlaces && state == nil {
            throw MillProblems(
                mistakes: found(),
                refusals: ["there is no place for the ledger: write 'state:' into '\(path)', or set $HOME"])
        }
        let cache = hasPlaces ? file.cache.flatMap { Self.cache($0, in: path, environment: environment) } : nil
        if hasPlaces && file.cache != nil && cache == nil {
            throw MillProblems(
                mistakes: found(),
                refusals: ["there is no place for the cache: write its 'path' into '\(path)', or set $HOME"])
        }
        let folders = file.inboxes.map { (Self.absolute($0.path, path), Self.absolute($0.outbox, path)) }
        let moved = zip(file.inboxes, pipelines).compactMap { Self.refusal(of: $0, $1?.loaded.file) }
        let places = Self.places(of: folders, millFile: path, patience: patience)
        let files = try pipelines.enumerated().map { index, pipeline in
            if let pipeline { willRead(pipeline.title) }
            return try MillLayout.files(
                (index == 0 ? [("the mill file", BytePath(path))] : []) + (pipeline?.files ?? []))
        }
        if let state {
            let cacheToo = cache.map { " or the cache '\($0.folder.printable)'" } ?? ""
            willRead("the state folder '\(state.printable)'" + cacheToo)
        }
        var layout = try MillLayout(state: state, cache: cache?.folder)
        for (settings, (files, places)) in zip(file.inboxes, zip(files, places)) {
            if let places { layout.inboxes.append(MillLayout.Inbox(settings, at: places, files: files)) }
        }
        layout.inboxes += Self.layouts(of: others, in: path, patience: patience)
        let misplaced = layout.refusals
        let all = found(misplaced.compactMap { refusal in refusal.position.map { Diagnostic($0, refusal.sentence) } })
        let refusals = moved + misplaced.filter { $0.position == nil }.map(\.sentence)
        guard all.isEmpty, refusals.isEmpty, let state else {
            throw all.count == 1 && refusals.isEmpty ? all[0] : MillProblems(mistakes: all, refusals: refusals)
        }
        (self.file, self.state, self.cache, self.path, self.layout) = (file, state, cache, path, layout)
        inboxes = zip(zip(file.inboxes, folders), zip(pipelines, zip(files, places))).compactMap { pair, found in
            let (settings, (inbox, outbox)) = pair
            let (pipeline, (files, places)) = found
            return pipeline.map {
                Inbox(
                    settings: settings, path: inbox, outbox: outbox, pipeline: $0.loaded,
                    spool: SpoolLocation(inbox: inbox, state: state), places: places, files: files,
                    hooks: Self.hooks(settings, path))
            }
        }
    }

    /// Finds out where the folders of an inbox are. Waits for their file systems.
    package func look(at inbox: Inbox) throws(SystemError) -> InboxPlaces {
        try InboxPlaces(inbox: inbox.path, outbox: inbox.outbox, millFile: path)
    }

    /// Takes in where the folders of an inbox are.
    /// - Returns: the inbox with its places; nil if it is no longer in the mill file, or has other folders by now.
    /// - Throws: `MillProblems` if they are not apart from others.
    package mutating func place(_ inbox: Inbox, at places: InboxPlaces) throws(MillProblems) -> Inbox? {
        let name = inbox.settings.name
        guard let index = inboxes.firstIndex(where: { $0.settings.name == name && $0.hasFolders(of: inbox) }) else {
            return nil
        }
        var new = layout
        new.inboxes.removeAll { $0.name == name }
        new.inboxes.append(MillLayout.Inbox(inboxes[index].settings, at: places, files: inboxes[index].files))
        // Those that were placed before are apart.
        guard new.refusals.isEmpty else {
            throw MillProblems(mistakes: [], refusals: new.refusals.map(\.sentence))
        }
        layout = new
        inboxes[index].places = places
        return inboxes[index]
    }

    /// Takes over where folders are from the configuration before, for those that do not answer now.
    /// - Throws: `MillProblems` if they are not apart from others.
    package mutating func takePlaces(of old: LoadedMill) throws(MillProblems) {
        for inbox in inboxes where inbox.places == nil {
            guard let places = old.inboxes.first(where: { $0.hasFolders(of: inbox) })?.places else { continue }
            _ = try place(inbox, at: places)
        }
    }

    /// Where the folders of the inboxes are, each looked at on a thread of its own; nil for those that cannot be looked
    /// at, or not in time.
    private static func places(
        of folders: [(BytePath, BytePath)], millFile: String, patience: Duration
    ) -> [InboxPlaces?] {
        let looks = folders.map { inbox, outbox in
            Background { try? InboxPlaces(inbox: inbox, outbox: outbox, millFile: millFile) }
        }
        let end = Moment.now + patience
        return looks.map { $0.value(until: end) ?? nil }
    }

    /// The folders of inboxes with mistakes, without those that could not be read or do not answer in time.
    /// - Parameter inboxes: each with its files that are read at every start.
    private static func layouts(
        of inboxes: [(part: PartOfInbox, files: [(what: String, path: BytePath)])], in millFile: String,
        patience: Duration
    ) -> [MillLayout.Inbox] {
        let looks = inboxes.map { part, files in
            let (inbox, outbox) = (
                part.path.map { absolute($0, millFile) }, part.outbox.map { absolute($0, millFile) }
            )
            return Background { () -> MillLayout.Inbox? in
                guard let inbox else { return nil }
                let mounts = MountTable.current
                return try? MillLayout.Inbox(
                    name: part.name, inbox: FolderPlace.looking(inbox, mounts),
                    outbox: outbox.map { try FolderPlace.looking($0, mounts) },
                    files: MillLayout.files(files), position: part.position)
            }
        }
        let end = Moment.now + patience
        return looks.compactMap { $0.value(until: end) ?? nil }
    }

    /// The state folder of a mill file, without a look at its pipelines and folders.
    /// A file with mistakes names it too: the daemon that runs has read an earlier one, and can say what it thinks of
    /// this one.
    /// - Throws: `Diagnostics` for what is no mill file.
    package static func stateFolder(path: String, text: String, environment: (String) -> String?) throws -> BytePath? {
        if !MillFile.isLikely(text) { _ = try MillFile(text: text, file: path) }
        return state(MillFile.state(in: text), at: path, environment: environment)
    }

    private static func state(_ written: WrittenPath?, at path: String, environment: (String) -> String?) -> BytePath? {
        if let written { return absolute(written, path) }
        return folder(environment, named: "STATE_DIRECTORY") ?? folder(
            environment, named: "XDG_STATE_HOME", appending: "imagemill")
            ?? folder(environment, named: "HOME", appending: ".local/state/imagemill")
    }

    private static func cache(_ settings: CacheSettings, in file: String, environment: (String) -> String?) -> Cache? {
        let usual =
            folder(environment, named: "CACHE_DIRECTORY") ?? folder(
                environment, named: "XDG_CACHE_HOME", appending: "imagemill")
            ?? folder(environment, named: "HOME", appending: ".cache/imagemill")
        let folder = settings.path.map { absolute($0, file) } ?? usual
        return folder.map { Cache(folder: $0, bound: settings.size?.value) }
    }

    /// A folder that a variable of the environment names, or one in it.
    private static func folder(
        _ environment: (String) -> String?, named variable: String, appending rest: String = ""
    ) -> BytePath? {
        // systemd separates several folders by colons.
        guard let value = environment(variable)?.split(separator: ":").first, value.first == "/" else { return nil }
        return BytePath(String(value)).appending(BytePath(rest))
    }

    static func hooks(_ inbox: MillInbox, _ file: String) -> [HookEvent: Hook] {
        Dictionary(uniqueKeysWithValues: inbox.hooks.map { ($0.event, Hook($0.settings) { absolute($0, file) }) })
    }

    private static func absolute(_ path: WrittenPath, _ file: String) -> BytePath {
        let resolved = path.resolved(beside: BytePath(file))
        if resolved.bytes.first == UInt8(ascii: "/") { return resolved }
        return (FileSystem.absolute(BytePath(".")) ?? BytePath("/")).appending(resolved)
    }

    /// Thumbnails are found by the addresses of their sources, and sidecars are values for parameters.
    private static func refusal(of inbox: MillInbox, _ pipeline: PipelineFile?) -> String? {
        if let pipeline, inbox.sidecar == .required, pipeline.settings.isEmpty || pipeline.source == .set {
            let why = pipeline.source == .set ? "takes sets, which have none" : "has no parameters"
            return "inbox '\(inbox.name)': 'sidecar: required', and its pipeline \(why); remove 'sidecar'"
        }
        guard pipeline?.makesThumbnails == true, inbox.originals != .keep else { return nil }
        return
            "inbox '\(inbox.name)': 'layout: freedesktop' makes thumbnails of files where they are, and 'originals: \(inbox.originals.rawValue)' takes "
            + "them away; write 'originals: keep'"
    }
}

/// Loads the pipelines of a mill file, each once, and gathers what is wrong with them.
private struct MillPipelines {
    struct Found {
        let loaded: LoadedPipeline
        /// The pipeline and its assets.
        let files: [(what: String, path: BytePath)]

        var title: String { Self.title(of: files[0].path) }

        static func title(of pipeline: BytePath) -> String { "the pipeline '\(pipeline.printable)' or its assets" }
    }

    /// The mill file.
    let path: String
    private(set) var mistakes: [Diagnostics] = []
    /// Mistakes of the mill file itself.
    private(set) var problems: [Diagnostic] = []
    private var found: [Use: Found] = [:]

    /// A pipeline with values for its parameters.
    private struct Use: Hashable {
        let file: BytePath
        let given: GivenParameters
    }

    init(path: String) { self.path = path }

    /// - Throws: trouble that is nobody's mistake.
    mutating func load(
        _ written: WrittenPath, given: GivenParameters = GivenParameters(), _ willRead: (String) -> Void
    ) throws -> Found? {
        let file = written.resolved(beside: BytePath(path))
        let use = Use(file: file, given: given)
        if let known = found[use] { return known }
        willRead(Found.title(of: file))
        do {
            let loaded = try LoadedPipeline(path: file.text, given: given.values)
            let assets = loaded.file.assets.map { ("the asset", file.directory.appending(BytePath($0.path))) }
            found[use] = Found(loaded: loaded, files: [("the pipeline", file)] + assets)
        } catch let error as Diagnostics {
            if !mistakes.contains(error) { mistakes.append(error) }
        } catch let error as SystemError where error.mayPass {
            throw error
        } catch {
            let remedy =
                written.text.contains(".")
                ? ""
                : "; write the path of a file, such as /usr/share/imagemill/pipelines/\(written.text).yaml: shipped pipelines have names in `imagemill run` only"
            problems.append(
                Diagnostic(written.position, "the pipeline '\(written.text)' cannot be used: \(error)\(remedy)"))
        }
        return found[use]
    }
}

extension Pause {
    /// The pause at the start while it cannot be seen where the folders of an inbox are.
    init(silent inbox: LoadedMill.Inbox) {
        self.init(
            .ioError,
            "the file system of the inbox '\(inbox.path.printable)' or of its outbox '\(inbox.outbox.printable)' does not answer"
        )
    }
}

extension LoadedMill.Inbox {
    /// The settings of the inbox's watcher.
    package func watchSettings(takesSets: Bool) -> WatchSettings {
        var watch = WatchSettings(
            name: settings.name, path: path, mode: settings.watch,
            times: SettleTimes(
                settle: settings.settle, incompleteAfter: settings.incompleteAfter,
                zeroByteAfter: settings.zeroByteAfter),
            setQuiet: settings.setQuiet, takesSets: takesSets, ignored: ignored)
        watch.allowed = settings.allowed.formats
        watch.companions = companions
        return watch
    }

    /// The files that its pictures bring along: with values for the parameters of the pipeline, and the other file of a photo.
    var companions: CompanionRule {
        var rule = CompanionRule()
        rule.ignored = ignored
        if !pipeline.file.settings.isEmpty { rule.sidecars = settings.sidecar == .required ? .required : .optional }
        // Raw files are no members of sets.
        if settings.allowed.formats.contains(.raw), pipeline.file.source != .set { rule.raw = pipeline.file.raw }
        return rule
    }

    /// Makes the outbox if nothing but itself is missing, as `run` does. For the start only: an outbox that vanishes
    /// later is waited for, since what vanished may be a mount. If the folder above is missing too, `outboxPause` says
    /// so.
    package func makeOutbox() throws(SystemError) {
        guard try FileSystem.status(outbox) == nil, try FileSystem.status(outbox.directory)?.kind == .directory else {
            return
        }
        try FileSystem.makeDirectories(outbox)
    }

    /// Why nothing can be written to the outbox now; nil if it can.
    package var outboxPause: Pause? {
        do throws(SystemError) {
            let folder = try Directory(outbox)
            guard faccessat(folder.file.descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
                throw SystemError("write into the outbox '\(outbox.printable)'")
            }
            return nil
        } catch {
            return Pause(error, missing: .missingOutbox)
        }
    }
}
