// The drop folder as a process: signals, the service manager, the socket, and the end.
import Engine
import Glibc
import Logging
import Pipeline
import Synchronization
import System

/// Runs a drop folder until it is stopped.
final class Daemon: DaemonControl {
    private let folder: DropFolder
    private let file: String
    /// The file's absolute path; nil if it is not there.
    private let mill: BytePath?
    private let log: DaemonLog
    private let counts: Activity
    private let spools: StandingWatch
    private let recent: RecentEvents
    private let sink: LogSink
    private let http: HTTPSettings?
    private let manager: ServiceManager?
    private let sockets: BytePath
    private let started = (text: timestamp(), moment: Moment.now)
    private let stopping = Cancellation()

    private struct State {
        var isReady = false
        /// A reload was asked for before it was ready.
        var isStale = false
        var reload = StatusDocument.Reload()
        var retrying: Retry.Count?
        var drain: Duration
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - file: the mill file, for reloads.
    ///   - variables: the environment.
    ///   - http: where it serves besides its own socket; nil if it does not.
    init(_ folder: DropFolder, file: String, variables: [String: String], news: DaemonNews, http: HTTPSettings?) {
        self.folder = folder
        self.file = file
        self.http = http
        (log, counts, spools, recent, sink) = (news.log, news.activity, news.spools, news.events, news.sink)
        mill = FileSystem.absolute(BytePath(file))
        manager = ServiceManager(variables)
        sockets = StatePlaces(variables).socketFolder(state: folder.stateFolder)
        state = Mutex(State(drain: .seconds(30)))
    }

    /// Serves until SIGTERM or SIGINT. Blocks the thread.
    /// - Parameters:
    ///   - signals: end it, or have it read the configuration again.
    ///   - drain: how long running jobs may take at the end.
    /// - Throws: what `DropFolder.start` throws.
    func run(until signals: DaemonSignals, drain: Duration) throws {
        state.withLock { $0.drain = drain }
        signals.handle { [self] in take(signal: $0) }
        let web = try http.map { try HTTPListener($0, beside: BytePath(file)) }
        let own = try HTTPListener.unix(sockets.appending(BytePath(StatePlaces.socketName)))
        let server = try HTTPServer([own] + (web.map { [$0] } ?? []), DaemonRoutes(control: self))
        defer { server.stop() }
        try folder.start()
        let isStale = state.withLock { state in
            state.isReady = true
            return state.isStale
        }
        log.logger.notice("started", metadata: .event(.started))
        recent.noted("started")
        if let http { log.logger.notice("\(http.dashboardSentence(beside: BytePath(file)))") }
        manager?.tell(.ready, .status(sentence))
        if isStale { reloadInBackground() }
        serve()
        stop()
    }

    private func take(signal: CInt) {
        if signal == SIGHUP {
            let isReady = state.withLock { state in
                if !state.isReady { state.isStale = true }
                return state.isReady
            }
            if isReady { reloadInBackground() }
        } else if stopping.isRaised {
            _exit(128 + signal)
        } else {
            stopping.raise(signal: signal)
        }
    }

    private func reloadInBackground() {
        if !startThread({ [self] in _ = reload() }) {
            log.logger.warning("the configuration was not read again: \(SystemError.noThread)")
        }
    }

    /// Tells the service manager that the flow is alive, and how it goes, until it is time to stop.
    private func serve() {
        let turn: Duration = sink.hasLiveLines ? .milliseconds(250) : Self.turn
        let interval = min(manager?.watchdogInterval ?? turn, turn)
        var told = ""
        spools.look(at: folder.status.inboxes)
        while !stopping.isRaised {
            var waiting = [pollfd(fd: stopping.descriptor, events: Int16(POLLIN), revents: 0)]
            _ = poll(&waiting, 1, CInt(clamping: Int(interval / .milliseconds(1))))
            if folder.isAlive() { manager?.tell(.alive) }
            let status = folder.status
            spools.look(at: status.inboxes)
            sink.show(status.lines)
            let now = Self.sentence(status)
            if now != told { manager?.tell(.status(now)) }
            told = now
        }
    }

    private static let turn = Duration.seconds(2)

    private func stop() {
        sink.show([])
        let drain = state.withLock { $0.drain }
        let milliseconds = Int(drain / .milliseconds(1))
        manager?.tell(.stopping, .status("finishing running jobs"), .extendTimeout(milliseconds + 15_000))
        log.logger.notice("stopping: finishing running jobs, starting no new ones")
        folder.drain(within: drain)
        log.logger.notice("stopped", metadata: .event(.stopped))
    }

    private var sentence: String { Self.sentence(folder.status) }

    private static func sentence(_ status: DropFolderStatus) -> String {
        let ready = status.inboxes.reduce(0) { $0 + $1.watching.counts.ready }
        let waiting = status.inboxes.reduce(0) { $0 + $1.waiting }
        let paused = status.inboxes.count { $0.pause != nil }
        let words = ["\(status.running.count) running", "\(ready) ready"] + (waiting > 0 ? ["\(waiting) waiting"] : [])
        let pauses = paused > 0 ? ["\(paused) of \(status.inboxes.count) inboxes paused"] : []
        return (words + pauses).joined(separator: ", ")
    }

    // MARK: - Requests

    func status() -> StatusDocument {
        let (isReady, reload) = state.withLock { ($0.isReady, $0.reload) }
        let status = folder.status
        let isDraining = status.isDraining || stopping.isRaised
        let phase: StatusDocument.State
        if isDraining { phase = .draining } else { phase = isReady ? .running : .starting }
        var document = StatusDocument(
            process: Int(getpid()), state: phase, started: started.text,
            uptimeSeconds: started.moment.milliseconds(until: .now) / 1000)
        document.mill = mill.map { ShownPath($0) }
        document.fill(from: status)
        document.fill(from: spools.found)
        document.reload = reload
        return document
    }

    var activity: Activity.Snapshot { counts.snapshot }
    var standing: [String: Standing] { spools.found }
    var isAlive: Bool { folder.isAlive() }
    var missingState: String? { folder.missingState?.message }

    var events: [RecentEvents.Event] { recent.all }
    var configuration: String { folder.configuration.file.masked }
    var journal: BytePath { folder.stateFolder.appending(BytePath("journal.jsonl")) }

    func history() throws -> [HistoryHour] { try folder.history() }

    func pause(_ request: PauseRequest) -> ControlReply {
        let inbox = "'\(oneLine(request.inbox))'"
        do throws(StoreError) {
            switch try folder.pause(request.inbox, request.isPaused) {
            case .noSuchInbox:
                let names = folder.status.inboxes.map { oneLine($0.name) }
                return ControlReply(
                    ok: false, "there is no inbox \(inbox)",
                    details: ["the inboxes: \(names.joined(separator: ", "))"])
            case .paused:
                return ControlReply(ok: true, "\(inbox) is paused until it is resumed; running jobs finish")
            case .resumed:
                return ControlReply(ok: true, "\(inbox) is resumed", details: trouble(of: request.inbox))
            case .notPausedByRequest:
                return ControlReply(
                    ok: true, "\(inbox) was not paused by request", details: trouble(of: request.inbox))
            }
        } catch {
            return ControlReply(ok: false, "\(inbox) was left as it is: \(error)")
        }
    }

    /// Why an inbox is still paused after a person has resumed it, if it is.
    private func trouble(of inbox: String) -> [String] {
        folder.status.inboxes.filter { $0.name == inbox }.compactMap(\.pause).filter { $0.reason != .byRequest }.map {
            "it is paused (\($0.reason.rawValue)) and goes on by itself when the cause is gone: \($0.message)"
        }
    }

    var failuresRevision: Int { spools.revision }
    var retrying: Retry.Count? { state.withLock { $0.retrying } }

    func rendition(_ index: Int, of result: Int) -> ServedRendition? {
        guard let result = counts.result(result), result.renditions.indices.contains(index),
            let outbox = folder.status.inboxes.first(where: { $0.name == result.inbox })?.outbox
        else { return nil }
        let rendition = result.renditions[index]
        return ServedRendition(outbox: outbox, path: rendition.path, type: rendition.type)
    }

    func failedFolder(of inbox: String) -> BytePath? {
        folder.status.inboxes.first { $0.name == inbox }?.folders?.failed
    }

    func picture(ofFailed path: BytePath, in inbox: String) -> [UInt8]? {
        try? folder.picture(ofFailed: path, in: inbox)
    }

    func reload() -> ControlReply {
        guard state.withLock({ $0.isReady }), !stopping.isRaised else {
            return ControlReply(ok: false, "the daemon is starting or stopping")
        }
        manager?.tell(.reloading)
        defer { manager?.tell(.ready, .status(sentence)) }
        do {
            let (new, notes) = try folder.reload { [file] in try WatchCommand.load(file) }
            state.withLock { state in
                state.drain = new.file.drain
                state.reload = StatusDocument.Reload(state: .done, time: timestamp())
            }
            log.logger.notice("read '\(file)' again", metadata: .event(.reloaded))
            recent.noted("the configuration was read again")
            let late = new.file.http == http ? [] : ["'http' takes effect at the next start"]
            return ControlReply(
                ok: true, "read '\(file)' again", details: notes + late + new.hookProblems.map(\.message))
        } catch {
            let lines = "\(error)".split(separator: "\n").map(String.init)
            state.withLock { $0.reload = StatusDocument.Reload(state: .refused, time: timestamp(), diagnostics: lines) }
            recent.noted("a new configuration was refused")
            for line in lines { log.logger.error("\(line)", metadata: .event(.reloadRefused)) }
            return ControlReply(
                ok: false, "'\(file)' was refused; the old configuration is still at work", details: lines)
        }
    }

    func retry(_ request: RetryRequest) -> ControlReply {
        let selected = request.selection.map { query in
            query.selected(from: spools.found).map { BytePath($0.inbox).appending($0.entry.path) }
        }
        let names = selected ?? request.names
        state.withLock { $0.retrying = Retry.Count() }
        defer { state.withLock { $0.retrying = nil } }
        let (moved, problems) = folder.retry(request.all ? nil : names) { [self] count in
            state.withLock { $0.retrying = count }
        }
        let inboxes = folder.status.inboxes
        for inbox in inboxes { spools.changed(inbox.name) }
        spools.look(at: inboxes)
        let waits = inboxes.compactMap { inbox in
            inbox.pause.flatMap { pause in
                moved.contains { $0.isAtOrBelow(inbox.path) }
                    ? "the inbox '\(inbox.name)' is paused, so they wait: \(pause.message)" : nil
            }
        }
        let count = "\(counted(moved.count, "source")) moved back"
        if !moved.isEmpty { recent.noted("\(counted(moved.count, "failed source")) moved back to be tried again") }
        let sentence = problems.isEmpty ? count : moved.isEmpty ? "nothing was moved back" : "\(count), but not all"
        return ControlReply(ok: problems.isEmpty, sentence, details: problems + waits)
    }
}
