// The daemon's answers, by path. The same at every address.
import Engine
import Glibc
import Pipeline
import System

/// The routes of the daemon.
struct DaemonRoutes: HTTPRoutes {
    let control: any DaemonControl

    private typealias Answer =
        @Sendable (_ routes: DaemonRoutes, _ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling

    /// The answer for each method that a path takes.
    private static let paths: [String: [HTTPRequest.Method: Answer]] = [
        "/": [.get: { _, _ in .now(DashboardPage.response) }],
        "/report": [.get: { routes, _ in .later(.report) { DayReport(journal: routes.control.journal).response } }],
        "/metrics": [.get: { routes, _ in .now(routes.metrics) }],
        "/healthz": [.get: { routes, _ in .now(routes.health) }],
        "/readyz": [.get: { routes, _ in .now(routes.readiness) }],
        "/api/status": [.get: { routes, _ in .now(.json(routes.control.status())) }],
        "/api/dashboard": [.get: { routes, _ in .now(.json(DashboardDocument(routes.control))) }],
        "/api/events": [
            .get: { routes, _ in .now(HTTPResponse(type: "text/event-stream", body: routes.event(), isStream: true)) }
        ],
        "/api/configuration": [.get: { routes, _ in .now(.text(routes.control.configuration)) }],
        "/api/history": [.get: { routes, _ in .later(.ledger) { Self.history(routes.control) } }],
        "/api/reload": [.post: { routes, _ in .later(.reload) { .json(routes.control.reload()) } }],
        "/api/retry": [
            .get: { routes, _ in .now(.json(RetryProgress(count: routes.control.retrying))) },
            .post: { (routes, request) throws(HTTPRefusal) in try routes.retry(request) },
        ],
        "/api/pause": [.post: { (routes, request) throws(HTTPRefusal) in try routes.pause(request, true) }],
        "/api/resume": [.post: { (routes, request) throws(HTTPRefusal) in try routes.pause(request, false) }],
        "/api/failures": [.get: { (routes, request) throws(HTTPRefusal) in try routes.failures(request) }],
        "/api/failures/original": [
            .get: { (routes, request) throws(HTTPRefusal) in try routes.original(request.query["name"] ?? "") }
        ],
        "/api/failures/picture": [
            .get: { (routes, request) throws(HTTPRefusal) in try routes.picture(request.query["name"] ?? "") }
        ],
    ].merging(DashboardPage.icons.mapValues { icon in [.get: { _, _ in .now(icon) }] }) { path, _ in path }

    func handle(_ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling {
        // The connection leaves out the body.
        let method = request.method == .head ? .get : request.method
        let shown = oneLine(String(request.path.prefix(200)))
        let refusal = HTTPRefusal(.methodNotAllowed, "'\(shown)' does not take \(request.method.rawValue)")
        if request.path.hasPrefix(Self.results) {
            guard method == .get else { throw refusal }
            return try rendition(request.path)
        }
        guard let answers = Self.paths[request.path] else {
            throw HTTPRefusal(.notFound, "there is no '\(shown)' here")
        }
        guard let answer = answers[method] else { throw refusal }
        return try answer(self, request)
    }

    private var metrics: HTTPResponse {
        let text = DaemonMetrics(status: control.status(), activity: control.activity, standing: control.standing).text
        return HTTPResponse(type: DaemonMetrics.type, body: Array(text.utf8))
    }

    private var health: HTTPResponse {
        if let missing = control.missingState { return .text("\(missing)\n", .unavailable) }
        return control.isAlive ? .text("alive\n") : .text("the flow does not move\n", .unavailable)
    }

    private var readiness: HTTPResponse {
        let state = control.status().state
        return .text("\(state.rawValue)\n", state == .running ? .ok : .unavailable)
    }

    private func retry(_ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling {
        let (retry, control) = (try RetryRequest(body: request.body), control)
        return .later(.retry) { .json(control.retry(retry)) }
    }

    private func pause(_ request: HTTPRequest, _ isPaused: Bool) throws(HTTPRefusal) -> HTTPHandling {
        let (pause, control) = (try PauseRequest(body: request.body, isPaused: isPaused), control)
        return .later(.ledger) { .json(control.pause(pause)) }
    }

    private func failures(_ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling {
        let (query, control) = (try FailureQuery(request.query), control)
        let offset = Int(request.query["offset"] ?? "") ?? 0
        return .later(.listing) { .json(FailureList(control.standing, query, offset: offset)) }
    }

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
