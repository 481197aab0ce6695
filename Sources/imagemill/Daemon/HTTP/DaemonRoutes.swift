// What the daemon answers at which path. The same at every address.
import Engine
import Glibc
import Pipeline
import System

/// The routes of the daemon.
struct DaemonRoutes: HTTPRoutes {
    let control: any DaemonControl

    func handle(_ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling {
        let control = control
        // The connection leaves out the body.
        switch (request.method == .head ? .get : request.method, request.path) {
        case (.get, "/"): return .now(DashboardPage.response)
        case (.get, let path) where DashboardPage.icons[path] != nil: return .now(DashboardPage.icons[path]!)
        case (.get, "/api/status"): return .now(.json(control.status()))
        case (.get, "/api/dashboard"): return .now(.json(DashboardDocument(control)))
        case (.get, "/api/events"): return .now(HTTPResponse(type: "text/event-stream", body: event(), isStream: true))
        case (.get, "/metrics"):
            let text = DaemonMetrics(status: control.status(), activity: control.activity, standing: control.standing)
                .text
            return .now(HTTPResponse(type: DaemonMetrics.type, body: Array(text.utf8)))
        case (.get, "/healthz"):
            if let missing = control.missingState { return .now(.text("\(missing)\n", .unavailable)) }
            return .now(control.isAlive ? .text("alive\n") : .text("the flow does not move\n", .unavailable))
        case (.get, "/readyz"):
            let state = control.status().state
            return .now(.text("\(state.rawValue)\n", state == .running ? .ok : .unavailable))
        case (.post, "/api/reload"):
            return .later(.reload) { .json(control.reload()) }
        case (.post, "/api/retry"):
            let retry = try RetryRequest(body: request.body)
            return .later(.retry) { .json(control.retry(retry)) }
        case (.post, "/api/pause"), (.post, "/api/resume"):
            let pause = try PauseRequest(body: request.body, isPaused: request.path == "/api/pause")
            return .later(.ledger) { .json(control.pause(pause)) }
        case (.get, "/api/history"): return .later(.ledger) { Self.history(control) }
        case (.get, "/api/configuration"): return .now(.text(control.configuration))
        case (.get, "/report"): return .later(.report) { DayReport(journal: control.journal).response }
        case (.get, "/api/retry"): return .now(.json(RetryProgress(count: control.retrying)))
        case (.get, "/api/failures"):
            let query = try FailureQuery(request.query)
            let offset = Int(request.query["offset"] ?? "") ?? 0
            return .later(.listing) { .json(FailureList(control.standing, query, offset: offset)) }
        case (.get, "/api/failures/original"): return try original(request.query["name"] ?? "")
        case (.get, "/api/failures/picture"): return try picture(request.query["name"] ?? "")
        case (.get, let path) where path.hasPrefix(Self.results): return try rendition(path)
        case (.post, let path), (.get, let path), (.head, let path):
            // The path exists, but not for this method.
            if Self.known.contains(path) {
                throw HTTPRefusal(.methodNotAllowed, "'\(path)' does not take \(request.method.rawValue)")
            }
            throw HTTPRefusal(.notFound, "there is no '\(oneLine(String(path.prefix(200))))' here")
        }
    }

    private static let known: Set = [
        "/", "/api/status", "/api/dashboard", "/api/events", "/metrics", "/healthz", "/readyz", "/api/reload",
        "/api/retry", "/api/failures", "/api/failures/original",
        "/api/failures/picture", "/api/pause",
        "/api/resume", "/api/history", "/api/configuration", "/report",
    ]
    private static let results = "/api/results/"

    func event() -> [UInt8] { Array("data: \(json(DashboardDocument(control)))\n\n".utf8) }

    private static func history(_ control: any DaemonControl) -> HTTPResponse {
        do {
            return .json(HistoryDocument(try control.history(), now: wallClock()))
        } catch {
            return HTTPResponse(HTTPRefusal(.unavailable, "the ledger cannot be read: \(error)"))
        }
    }

    // MARK: - Files

    /// A larger file is not held in memory for a browser.
    static let largestFile = 32 << 20

    /// `/api/results/NUMBER/renditions/INDEX`. The file is one that the daemon has written and named itself; the request
    /// gives numbers only.
    private func rendition(_ path: String) throws(HTTPRefusal) -> HTTPHandling {
        let words = path.dropFirst(Self.results.count).split(separator: "/", omittingEmptySubsequences: false)
        let gone = HTTPRefusal(.notFound, "there is no such rendition of this result")
        func number(_ word: Substring) -> Int? { word.utf8.count < 10 ? Int(word) : nil }
        guard words.count == 3, words[1] == "renditions", let result = number(words[0]), let index = number(words[2]),
            let file = control.rendition(index, of: result)
        else {
            throw gone
        }
        return .later(.file(folder: file.outbox)) {
            Self.answer(file.path, in: file.outbox, orElse: gone) { bytes in
                guard let type = file.type else { return .attachment(bytes, named: file.path) }
                return .picture(bytes, type: type, named: file.path)
            }
        }
    }

    /// A source in `failed/` that a request names.
    private struct FailedSource {
        let inbox: String
        let folder: BytePath
        /// From that folder.
        let path: BytePath
        let control: any DaemonControl

        static let gone = HTTPRefusal(.notFound, "this source is not in failed/ any more")

        /// - Parameter name: one of the list; nothing else can be asked for.
        init(_ name: String, _ control: any DaemonControl) throws(HTTPRefusal) {
            guard let name = BytePath(percentEncoded: name),
                let inbox = name.components.first.map({ BytePath($0).text }),
                let folder = control.failedFolder(of: inbox)
            else { throw Self.gone }
            (self.inbox, self.folder, self.control) = (inbox, folder, control)
            path = name.relative(below: BytePath(inbox))
        }

        /// Its entry in the list.
        var entry: StandingFailures.Entry? {
            (control.standing[inbox]?.failures?.entries ?? []).first { $0.path == path }
        }
    }

    /// The original of a failed source, as a file to save.
    private func original(_ name: String) throws(HTTPRefusal) -> HTTPHandling {
        let source = try FailedSource(name, control)
        return .later(.file(folder: source.folder)) {
            guard let entry = source.entry else { return HTTPResponse(FailedSource.gone) }
            guard entry.bytes != nil else {
                return HTTPResponse(HTTPRefusal(.conflict, "this source is a set of several files"))
            }
            return Self.answer(source.path, in: source.folder, orElse: FailedSource.gone) {
                .attachment($0, named: source.path)
            }
        }
    }

    /// A small picture of a failed source, which a worker makes of it: what is sent is the program's own.
    private func picture(_ name: String) throws(HTTPRefusal) -> HTTPHandling {
        let source = try FailedSource(name, control)
        return .later(.picture(folder: source.folder)) {
            guard let entry = source.entry, entry.canBeShown,
                let picture = source.control.picture(ofFailed: source.path, in: source.inbox)
            else { return .nothing }
            return .picture(picture, type: "image/png", named: BytePath("preview.png"))
        }
    }

    private static func answer(
        _ path: BytePath, in folder: BytePath, orElse gone: HTTPRefusal, _ response: ([UInt8]) -> HTTPResponse
    ) -> HTTPResponse {
        do throws(SystemError) {
            guard let bytes = try contents(of: folder, at: path) else {
                let sentence =
                    "the file is larger than \(largestFile >> 20) MiB; it is at '\(folder.appending(path).printable)'"
                return HTTPResponse(HTTPRefusal(.conflict, sentence))
            }
            return response(bytes)
        } catch {
            return HTTPResponse(gone)
        }
    }

    /// Opens a file without following links below the folder.
    /// - Returns: nil if it is too large.
    private static func contents(of folder: BytePath, at path: BytePath) throws(SystemError) -> [UInt8]? {
        guard path.staysBelow else { throw SystemError("open '\(path.printable)'", code: EINVAL) }
        let file = try Directory(folder).folder(path.directory).opening(path.lastComponent)
        let status = try file.status()
        guard status.kind == .regular else { throw SystemError("open '\(path.printable)'", code: EINVAL) }
        return status.bytes > largestFile ? nil : try file.bytes(at: 0, count: status.bytes)
    }
}
