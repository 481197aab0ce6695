// What the daemon answers at which path. The same at every address.
import Engine
import Pipeline

/// The routes of the daemon.
struct DaemonRoutes: HTTPRoutes {
    let control: any DaemonControl

    func handle(_ request: HTTPRequest) throws(HTTPRefusal) -> HTTPHandling {
        let control = control
        switch (request.method, request.path) {
        case (.get, "/"), (.head, "/"): return .now(DashboardPage.response)
        case (.get, "/icon.svg"): return .now(DashboardPage.icon)
        case (.get, "/api/status"): return .now(.json(control.status()))
        case (.get, "/api/dashboard"): return .now(.json(DashboardDocument(control)))
        case (.get, "/api/events"): return .now(HTTPResponse(type: "text/event-stream", body: event(), isStream: true))
        case (.get, "/metrics"):
            let text = DaemonMetrics(status: control.status(), activity: control.activity, standing: control.standing)
                .text
            return .now(HTTPResponse(type: DaemonMetrics.type, body: Array(text.utf8)))
        case (.get, "/healthz"), (.head, "/healthz"):
            return .now(control.isAlive ? .text("alive\n") : .text("the flow does not move\n", .unavailable))
        case (.get, "/readyz"), (.head, "/readyz"):
            let state = control.status().state
            return .now(.text("\(state.rawValue)\n", state == .running ? .ok : .unavailable))
        case (.post, "/api/reload"):
            return .later(.reload) { .json(control.reload()) }
        case (.post, "/api/retry"):
            let retry = try RetryRequest(body: request.body)
            return .later(.retry) { .json(control.retry(retry)) }
        case (.get, let path) where path.hasPrefix(Self.results): return try picture(path)
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
        "/api/retry",
    ]
    private static let results = "/api/results/"

    func event() -> [UInt8] { Array("data: \(json(DashboardDocument(control)))\n\n".utf8) }

    /// `/api/results/NUMBER/picture`. The file is one that the daemon has written and named itself; the request gives a
    /// number only.
    private func picture(_ path: String) throws(HTTPRefusal) -> HTTPHandling {
        let words = path.dropFirst(Self.results.count).split(separator: "/", omittingEmptySubsequences: false)
        let gone = HTTPRefusal(.notFound, "there is no picture of this result")
        guard words.count == 2, words[1] == "picture", words[0].utf8.count < 10, let number = Int(words[0]),
            let file = control.picture(of: number)
        else {
            throw gone
        }
        return .later(.file(outbox: file.outbox)) {
            guard let bytes = try? Self.contents(of: file.outbox, at: file.path), !bytes.isEmpty else {
                return HTTPResponse(gone)
            }
            // It is a picture, whatever somebody may have put in its place: no script in it runs.
            return HTTPResponse(
                type: file.type, body: bytes, headers: [("Content-Security-Policy", "default-src 'none'; sandbox")])
        }
    }

    /// Opens a rendition without following links below the outbox.
    private static func contents(of outbox: BytePath, at path: BytePath) throws(SystemError) -> [UInt8] {
        guard path.staysBelow else { return [] }
        let file = try Directory(outbox).folder(path.directory).opening(path.lastComponent)
        let status = try file.status()
        guard status.kind == .regular, status.bytes <= Activity.largestPicture else { return [] }
        return try file.bytes(at: 0, count: status.bytes)
    }
}
