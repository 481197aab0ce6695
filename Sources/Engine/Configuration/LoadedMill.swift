// A mill file with its pipelines, checked as far as that is possible before anything is watched.
import Glibc
package import Pipeline
import Stages

/// Everything that is wrong with a mill file, its pipelines and its folders.
package struct MillProblems: Error, Sendable, CustomStringConvertible {
    /// What is written wrongly, for each file.
    package let mistakes: [Diagnostics]
    /// What is right as written and cannot work, a sentence each.
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
        /// The outbox's key in the record of names: its path from the mill file if it is below that folder, so that a
        /// project can be moved as a whole; otherwise the absolute path. Links are resolved.
        package let outboxKey: BytePath
        /// The hooks, by the events that they get.
        package let hooks: [HookEvent: Hook]

        /// The places of its reports in the outbox.
        package var reports: ReportFiles { ReportFiles(besideRenditions: settings.reports == .beside) }
        package var ignored: IgnoredNames { IgnoredNames(settings.ignore) }
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
    package let inboxes: [Inbox]

    /// Reads a mill file's pipelines, and looks at its folders. Makes nothing.
    /// - Parameters:
    ///   - path: of the mill file, to which others are relative.
    ///   - text: what it says.
    ///   - environment: a variable's value.
    /// - Throws: `Diagnostics` or `MillProblems` for what the user has to change, `SystemError` if the system does not
    ///   even let itself be looked at.
    package init(path: String, text: String, environment: (String) -> String?) throws {
        let file = try MillFile(text: text, file: path)
        var loader = MillPipelines(path: path)
        let pipelines = try file.inboxes.map { try loader.load($0.pipeline) }
        var mistakes = loader.mistakes
        if !loader.problems.isEmpty {
            mistakes.insert(Diagnostics(file: path, text: text, items: loader.problems), at: 0)
        }
        guard let state = Self.state(of: file, at: path, environment: environment) else {
            throw MillProblems(
                mistakes: mistakes,
                refusals: ["there is no place for the ledger: write 'state:' into '\(path)', or set $HOME"])
        }
        let cache = file.cache.flatMap { Self.cache($0, in: path, environment: environment) }
        if file.cache != nil && cache == nil {
            throw MillProblems(
                mistakes: mistakes,
                refusals: ["there is no place for the cache: write its 'path' into '\(path)', or set $HOME"])
        }
        let folders = file.inboxes.map { (Self.absolute($0.path, path), Self.absolute($0.outbox, path)) }
        let moved = zip(file.inboxes, pipelines).compactMap { Self.refusal(of: $0, $1?.loaded.file) }
        let misplaced = try Self.layout(
            of: file, at: path, folders: folders, pipelines: pipelines, state: state, cache: cache?.folder
        ).refusals
        let placed = misplaced.compactMap { refusal in refusal.position.map { Diagnostic($0, refusal.sentence) } }
        if !placed.isEmpty { mistakes.append(Diagnostics(file: path, text: text, items: placed)) }
        let refusals = moved + misplaced.filter { $0.position == nil }.map(\.sentence)
        guard mistakes.isEmpty && refusals.isEmpty else { throw MillProblems(mistakes: mistakes, refusals: refusals) }
        self.file = file
        self.state = state
        self.cache = cache
        inboxes = zip(zip(file.inboxes, folders), pipelines).compactMap { pair, pipeline in
            let (settings, (inbox, outbox)) = pair
            return pipeline.map {
                Inbox(
                    settings: settings, path: inbox, outbox: outbox, pipeline: $0.loaded,
                    spool: SpoolLocation(inbox: inbox, state: state),
                    outboxKey: Self.key(of: outbox, millFile: path), hooks: Self.hooks(settings, path))
            }
        }
    }

    /// The state folder of a mill file, without a look at its pipelines and folders.
    /// - Throws: `Diagnostics` for what is written wrongly.
    package static func stateFolder(path: String, text: String, environment: (String) -> String?) throws -> BytePath? {
        state(of: try MillFile(text: text, file: path), at: path, environment: environment)
    }

    private static func key(of outbox: BytePath, millFile: String) -> BytePath {
        let outbox = outbox.withoutTrailingSlashes
        // The outbox itself may not have been made yet.
        let real =
            FileSystem.absolute(outbox) ?? FileSystem.absolute(outbox.directory)?.appending(outbox.lastComponent)
            ?? outbox
        let folder = FileSystem.absolute(DurableFile.folder(of: BytePath(millFile)))
        guard let folder, real.isAtOrBelow(folder), real != folder else { return real }
        return BytePath(Array(real.bytes[folder.bytes.count...].drop { $0 == UInt8(ascii: "/") }))
    }

    private static func state(of file: MillFile, at path: String, environment: (String) -> String?) -> BytePath? {
        if let state = file.state { return absolute(state, path) }
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

    private static func hooks(_ inbox: MillInbox, _ file: String) -> [HookEvent: Hook] {
        Dictionary(uniqueKeysWithValues: inbox.hooks.map { ($0.event, Hook($0.settings) { absolute($0, file) }) })
    }

    private static func absolute(_ path: WrittenPath, _ file: String) -> BytePath {
        let resolved = path.resolved(beside: BytePath(file))
        if resolved.bytes.first == UInt8(ascii: "/") { return resolved }
        return (FileSystem.absolute(BytePath(".")) ?? BytePath("/")).appending(resolved)
    }

    /// Thumbnails are found by the addresses of their sources.
    private static func refusal(of inbox: MillInbox, _ pipeline: PipelineFile?) -> String? {
        guard pipeline?.makesThumbnails == true, inbox.originals != .keep else { return nil }
        return
            "inbox '\(inbox.name)': 'layout: freedesktop' makes thumbnails of files where they are, and 'originals: \(inbox.originals.rawValue)' takes "
            + "them away; write 'originals: keep'"
    }

    private static func layout(
        of file: MillFile, at path: String, folders: [(BytePath, BytePath)], pipelines: [MillPipelines.Found?],
        state: BytePath,
        cache: BytePath?
    ) throws -> MillLayout {
        let mounts = MountTable.current
        let own = ("the mill file", BytePath(path))
        let inboxes = try zip(zip(file.inboxes, folders), pipelines).enumerated().map { index, entry in
            let ((settings, (inbox, outbox)), pipeline) = entry
            let read: [(what: String, path: BytePath)] = (index == 0 ? [own] : []) + (pipeline?.files ?? [])
            let files = try read.map { ($0.what, try FolderPlace.looking($0.path, mounts)) }
            return MillLayout.Inbox(
                name: settings.name, inbox: try .looking(inbox, mounts), outbox: try .looking(outbox, mounts),
                files: files,
                position: settings.position)
        }
        let shelves = try ["work", "done", "failed"].map {
            try FolderPlace.looking(state.appending(BytePath($0)), mounts)
        }
        let cache = try cache.map { try FolderPlace.looking($0, mounts) }
        return MillLayout(state: try .looking(state, mounts), shelves: shelves, cache: cache, inboxes: inboxes)
    }
}

/// Loads the pipelines of a mill file, each once, and gathers what is wrong with them.
private struct MillPipelines {
    struct Found {
        let loaded: LoadedPipeline
        /// The pipeline and its assets.
        let files: [(what: String, path: BytePath)]
    }

    /// The mill file.
    let path: String
    private(set) var mistakes: [Diagnostics] = []
    /// Mistakes of the mill file itself.
    private(set) var problems: [Diagnostic] = []
    private var found: [BytePath: Found] = [:]

    init(path: String) { self.path = path }

    /// - Throws: trouble that is nobody's mistake.
    mutating func load(_ written: WrittenPath) throws -> Found? {
        let file = written.resolved(beside: BytePath(path))
        if let known = found[file] { return known }
        do {
            let loaded = try LoadedPipeline(path: file.text)
            let assets = loaded.file.assets.map { ("the asset", file.directory.appending(BytePath($0.path))) }
            found[file] = Found(loaded: loaded, files: [("the pipeline", file)] + assets)
        } catch let error as Diagnostics {
            if !mistakes.contains(error) { mistakes.append(error) }
        } catch let error as SystemError where error.mayPass {
            throw error
        } catch {
            let remedy =
                written.text.contains(".")
                ? "" : "; write the path of a file, as shipped pipelines have names in `imagemill run` only"
            problems.append(
                Diagnostic(written.position, "the pipeline '\(written.text)' cannot be used: \(error)\(remedy)"))
        }
        return found[file]
    }
}

extension LoadedMill.Inbox {
    /// The settings of the inbox's watcher.
    package func watchSettings(takesSets: Bool) -> WatchSettings {
        WatchSettings(
            name: settings.name, path: path, mode: settings.watch,
            times: SettleTimes(
                settle: settings.settle, incompleteAfter: settings.incompleteAfter,
                zeroByteAfter: settings.zeroByteAfter),
            setQuiet: settings.setQuiet, takesSets: takesSets, ignored: ignored)
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
