// What the daemon answers at which path.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import imagemill

@Suite struct DaemonRoutesTests {
    private func answer(_ routes: DaemonRoutes, _ path: String) throws -> HTTPResponse {
        switch try routes.handle(HTTPRequest(method: .get, path: path, headers: [:])) {
        case .now(let response): response
        case .later(_, let work): work()
        }
    }

    @Test
    func `the page may run and fetch nothing but its own, and its own script and style are allowed by their digests`()
        throws
    {
        let response = try answer(DaemonRoutes(control: FakeDaemon()), "/")
        let policy = try #require(response.headers.first { $0.name == "Content-Security-Policy" }?.value)
        #expect(
            policy.hasPrefix("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe")
                && policy.contains("connect-src 'self'"))
        let text = String(decoding: response.body, as: UTF8.self)
        // Text becomes no markup, and nothing is fetched from elsewhere.
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=\"", "https:", "onclick",
        ] {
            #expect(!text.contains(word), "\(word)")
        }
    }

    @Test func `a picture is one that the daemon has named, read without following a link`() throws {
        let folder = try TemporaryFolder()
        try folder.write("pixels", to: "out/sub/a.webp")
        try folder.write("secret", to: "secret.webp")
        #expect(symlink("../secret.webp", folder.path("out/link.webp")) == 0)
        func file(_ name: String) -> (outbox: BytePath, path: BytePath, type: String) {
            (BytePath(folder.path("out")), BytePath(name), "image/webp")
        }
        let pictures = [
            1: file("sub/a.webp"), 2: file("link.webp"), 3: file("../secret.webp"), 4: file("gone.webp"),
            5: file("sub"),
        ]
        let routes = DaemonRoutes(control: FakeDaemon(pictures: pictures))
        let response = try answer(routes, "/api/results/1/picture")
        #expect(response.type == "image/webp" && response.body == Array("pixels".utf8))
        #expect(response.headers.contains { $0 == ("Content-Security-Policy", "default-src 'none'; sandbox") })
        for number in 2...5 {
            #expect(try answer(routes, "/api/results/\(number)/picture").status == .notFound, "\(number)")
        }
        for path in ["9/picture", "1", "1/", "-1/picture", "1/picture/x", "/picture", "1/../../secret", "%31/picture"] {
            #expect(throws: HTTPRefusal.self) { try answer(routes, "/api/results/" + path) }
        }
    }

    @Test func `health and readiness are told apart`() throws {
        var starting = FakeDaemon.busy
        starting.state = .draining
        let routes = DaemonRoutes(control: FakeDaemon(starting))
        #expect(try answer(routes, "/healthz").status == .ok && answer(routes, "/readyz").status == .unavailable)
        #expect(try answer(DaemonRoutes(control: FakeDaemon()), "/readyz").status == .ok)
    }
}
