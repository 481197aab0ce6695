// The rules of access: pages of other sites, names that were made to lead here, other hosts.
import Testing

@testable import imagemill

@Suite struct HTTPAccessTests {
    private let token = "0123456789abcdef"

    private func status(
        _ access: HTTPAccess, _ method: HTTPRequest.Method, _ path: String, _ headers: [String: String]
    ) -> HTTPStatus {
        do {
            try access.check(HTTPRequest(method: method, path: path, headers: headers))
            return .ok
        } catch {
            return error.status
        }
    }

    @Test func `on the loopback address the name has to be its own, with any port`() {
        let good = ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]", "LOCALHOST"]
        for host in good { #expect(status(HTTPAccess(), .get, "/metrics", ["host": host]) == .ok, "\(host)") }
        let bad = [
            "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:80x", "[::1].evil", "[::1",
            "", "::1", "10.0.0.1",
        ]
        for host in bad { #expect(status(HTTPAccess(), .get, "/metrics", ["host": host]) == .forbidden, "\(host)") }
        #expect(status(HTTPAccess(), .get, "/metrics", [:]) == .badRequest)
        #expect(status(HTTPAccess(isUnixSocket: true), .get, "/metrics", [:]) == .ok)
        #expect(
            status(
                HTTPAccess(token: token), .get, "/metrics",
                ["host": "pictures.example", "authorization": "Bearer \(token)"]) == .ok)
    }

    @Test func `the token comes as a bearer's or as a password; without it only health is shown`() {
        let access = HTTPAccess(token: token)
        func status(_ authorization: String?, _ path: String = "/api/status") -> HTTPStatus {
            self.status(access, .get, path, ["host": "a", "authorization": authorization].compactMapValues { $0 })
        }
        #expect(status("Bearer \(token)") == .ok && status("bearer \(token)") == .ok)
        // any:0123456789abcdef
        #expect(status("Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=") == .ok)
        for wrong in [
            nil, "", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Bearer \(token)0", token, "Basic \(token)",
            "Basic YW55", "Digest \(token)",
        ] {
            #expect(status(wrong) == .unauthorized, "\(wrong ?? "none")")
        }
        #expect(status(nil, "/healthz") == .ok && status(nil, "/readyz") == .ok && status(nil, "/") == .unauthorized)
        #expect(
            HTTPAccess.areEqual("abc", "abc") && !HTTPAccess.areEqual("abc", "abd") && !HTTPAccess.areEqual("abc", "ab")
        )
    }

    @Test func `a page of another site can link to the dashboard and the report, and nothing else`() {
        func get(_ path: String, _ site: String, _ mode: String) -> HTTPStatus {
            status(HTTPAccess(), .get, path, ["host": "localhost", "sec-fetch-site": site, "sec-fetch-mode": mode])
        }
        #expect(
            get("/", "cross-site", "navigate") == .ok && get("/", "none", "navigate") == .ok
                && get("/api/status", "same-origin", "cors") == .ok)
        // Loaded anew, the report comes from no site: it may ask for nothing of the daemon's.
        #expect(get("/report", "cross-site", "navigate") == .ok && get("/report", "cross-site", "cors") == .forbidden)
        #expect(
            get("/", "cross-site", "no-cors") == .forbidden
                && get("/api/results/1/picture", "cross-site", "no-cors") == .forbidden)
        #expect(
            get("/api/status", "same-site", "cors") == .forbidden
                && get("/metrics", "cross-site", "navigate") == .forbidden)
    }

    @Test func `what changes something needs the header, and comes from no other page`() {
        func post(_ more: [String: String], _ access: HTTPAccess = HTTPAccess()) -> HTTPStatus {
            status(access, .post, "/api/retry", ["host": "localhost:8080"].merging(more) { $1 })
        }
        #expect(post([:]) == .forbidden)
        #expect(post(["x-imagemill": "1"]) == .ok)
        #expect(post(["x-imagemill": "1", "origin": "http://localhost:8080", "sec-fetch-site": "same-origin"]) == .ok)
        for origin in ["http://evil.example", "null", "http://localhost", "http://localhost:80800", "file://"] {
            #expect(post(["x-imagemill": "1", "origin": origin]) == .forbidden, "\(origin)")
            #expect(
                post(["x-imagemill": "1", "origin": origin], HTTPAccess(isUnixSocket: true)) == .forbidden, "\(origin)")
        }
        #expect(post(["x-imagemill": "1", "sec-fetch-site": "same-site"]) == .forbidden)
    }
}
