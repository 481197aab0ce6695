// The rules for requests from other sites' pages and from other hosts' users.
import FoundationEssentials
import Pipeline

/// The rules for the requests that come in at one address.
struct HTTPAccess: Sendable {
    /// The socket's permissions decide who may connect.
    var isUnixSocket = false
    /// The token that each request must have; nil on the loopback address, which needs none.
    var token: String?

    /// The header of a request that changes something, which a page of another site cannot send without asking first.
    static let header = "x-imagemill"

    /// - Throws: why the request is refused.
    func check(_ request: HTTPRequest) throws(HTTPRefusal) {
        if !isUnixSocket { try checkHost(request) }
        try checkSite(request)
        if let token, !["/healthz", "/readyz"].contains(request.path) { try checkToken(request, token) }
        if request.method == .post { try checkChange(request) }
    }

    /// A page whose name was made to lead here (DNS rebinding) has its own name in `Host`. With a token such a page
    /// gets nothing.
    private func checkHost(_ request: HTTPRequest) throws(HTTPRefusal) {
        guard let host = request.headers["host"] else { throw HTTPRefusal(.badRequest, "the request has no 'Host'") }
        guard token == nil, !Self.isLoopback(host) else { return }
        throw HTTPRefusal(
            .forbidden,
            "the host '\(oneLine(String(host.prefix(100))))' is not this one; ask for localhost, or set a token")
    }

    /// - Parameter host: with or without a port: a tunnel may have another one.
    static func isLoopback(_ host: String) -> Bool {
        let isBracketed = host.hasPrefix("[")
        let end = isBracketed ? host.firstIndex(of: "]").map { host.index(after: $0) } : host.firstIndex(of: ":")
        let (name, rest) = (host[..<(end ?? host.endIndex)].lowercased(), host[(end ?? host.endIndex)...])
        guard rest.isEmpty || rest.first == ":" && rest.dropFirst().utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return false
        }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name)
    }

    /// Browsers say what page a request comes from. A link to a page may be on any page, and the report, which is shut
    /// off from the daemon, is of no site at all when it is loaded anew.
    private func checkSite(_ request: HTTPRequest) throws(HTTPRefusal) {
        guard let site = request.headers["sec-fetch-site"], site != "same-origin", site != "none" else { return }
        let isPage = ["/", "/report"].contains(request.path)
        if request.method != .post && isPage && request.headers["sec-fetch-mode"] == "navigate" { return }
        throw HTTPRefusal(.forbidden, "the request comes from a page of another site")
    }

    /// As a bearer's, for programs, or as the password of any user, for browsers.
    private func checkToken(_ request: HTTPRequest, _ token: String) throws(HTTPRefusal) {
        let words = request.headers["authorization"]?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        var given: String?
        if words.count == 2, words[0].lowercased() == "bearer" { given = words[1] }
        if words.count == 2, words[0].lowercased() == "basic", let data = Data(base64Encoded: words[1]) {
            given = String(decoding: data, as: UTF8.self).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false
            ).dropFirst().first
                .map(String.init)
        }
        guard let given, Self.areEqual(given, token) else {
            throw HTTPRefusal(.unauthorized, "the token is missing or wrong")
        }
    }

    /// Takes as long whichever byte differs.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func checkChange(_ request: HTTPRequest) throws(HTTPRefusal) {
        if let origin = request.headers["origin"] {
            let host = request.headers["host"] ?? ""
            guard origin == "http://\(host)" || origin == "https://\(host)" else {
                throw HTTPRefusal(.forbidden, "the request comes from a page of another site")
            }
        }
        guard request.headers[Self.header] != nil else {
            throw HTTPRefusal(.forbidden, "a request that changes something needs the header 'X-Imagemill: 1'")
        }
    }
}
