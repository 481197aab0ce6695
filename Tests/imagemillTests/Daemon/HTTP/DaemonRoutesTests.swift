// The answers of the daemon at each path.
import Foundation
import Pipeline
import TestSupport
import Testing

@testable import Engine
@testable import System
@testable import imagemill

@Suite struct DaemonRoutesTests {
    private func answer(
        _ routes: DaemonRoutes, _ path: String, _ query: [String: String] = [:]
    ) throws -> HTTPResponse {
        switch try routes.handle(HTTPRequest(method: .get, path: path, query: query, headers: [:])) {
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

    @Test func `a rendition is one that the daemon has named, read without following a link`() throws {
        let folder = try TemporaryFolder()
        try folder.write("pixels", to: "out/sub/a.webp")
        try folder.write("secret", to: "secret.webp")
        #expect(symlink("../secret.webp", folder.path("out/link.webp")) == 0)
        func file(_ name: String, _ type: String? = "image/webp") -> ServedRendition {
            ServedRendition(outbox: BytePath(folder.path("out")), path: BytePath(name), type: type)
        }
        let pictures = [
            1: file("sub/a.webp"), 2: file("link.webp"), 3: file("../secret.webp"), 4: file("gone.webp"),
            5: file("sub"), 6: file("sub/a.webp", nil),
        ]
        let routes = DaemonRoutes(control: FakeDaemon(pictures: pictures))
        let response = try answer(routes, "/api/results/1/renditions/0")
        #expect(response.type == "image/webp" && response.body == Array("pixels".utf8))
        #expect(response.headers.contains { $0 == ("Content-Security-Policy", "default-src 'none'; sandbox") })
        for number in 2...5 {
            #expect(try answer(routes, "/api/results/\(number)/renditions/0").status == .notFound, "\(number)")
        }
        // A file that a browser does not show is saved.
        let saved = try answer(routes, "/api/results/6/renditions/0")
        #expect(saved.type == "application/octet-stream" && saved.body == Array("pixels".utf8))
        #expect(saved.headers.contains { $0 == ("Content-Disposition", "attachment; filename*=UTF-8''a.webp") })
        for path in [
            "9/renditions/0", "1", "1/", "-1/renditions/0", "1/renditions/1", "1/renditions/-1", "1/renditions",
            "1/renditions/0/x", "/renditions/0", "1/../../secret", "%31/renditions/0",
        ] {
            #expect(throws: HTTPRefusal.self) { try answer(routes, "/api/results/" + path) }
        }
    }

    @Test
    func `an original is one of the list, is sent as a file to save, and nothing else in its folder can be asked for`()
        throws
    {
        let folder = try TemporaryFolder()
        let script = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
        for name in ["x\r\nEvil: 1.svg", "other.svg", "secret"] { try folder.write(script, to: "failed/" + name) }
        let failed = BytePath(folder.path("failed"))
        let standing = Standing(failures: StandingFailures(failed))
        // It came after the look.
        try folder.write("late", to: "failed/late")
        try folder.write("x", to: "elsewhere")
        #expect(symlink("../elsewhere", folder.path("failed/link")) == 0)
        #expect(unlink(folder.path("failed/other.svg")) == 0)
        #expect(symlink("../elsewhere", folder.path("failed/other.svg")) == 0)
        let routes = DaemonRoutes(control: FakeDaemon(standing: ["in": standing], failed: ["in": failed]))
        func original(_ name: String) throws -> HTTPResponse {
            try answer(routes, "/api/failures/original", ["name": name])
        }
        let response = try original("in/x%0D%0AEvil%3A%201.svg")
        #expect(response.body == Array(script.utf8) && response.type == "application/octet-stream")
        let head = String(decoding: response.bytes(isHead: true), as: UTF8.self)
        for line in [
            "X-Content-Type-Options: nosniff", "Content-Security-Policy: default-src 'none'; sandbox",
            "Content-Disposition: attachment; filename*=UTF-8''x%0D%0AEvil%3A%201.svg",
        ] { #expect(head.contains("\r\n\(line)\r\n"), "\(head)") }
        for name in ["in/late", "in/link", "in/other.svg", "in/../elsewhere", "in/", "in"] {
            #expect(try original(name).status == .notFound, "\(name)")
        }
        for name in ["", "nowhere/secret", "/secret", "%zz"] {
            #expect(throws: HTTPRefusal.self) { try original(name) }
        }
    }

    @Test func `a source that was refused or has cost a worker has no picture, and no other file has one`() throws {
        let folder = try TemporaryFolder()
        let failed = BytePath(folder.path("failed"))
        for code in FailureCode.allCases {
            try folder.write("x", to: "failed/\(code.rawValue)")
            let note = FailureNote(
                source: BytePath(code.rawValue), job: "7", inbox: BytePath("/in"), quarantined: BytePath(code.rawValue),
                pipeline: BytePath("/p.yaml"), failure: Failure(code, stage: "read", "so"), attempts: 1)
            try folder.write(json(note), to: "failed/\(code.rawValue).error.json")
        }
        try folder.write("x", to: "failed/without-note")
        try folder.write("x", to: "failed/set/a")
        let standing = Standing(failures: StandingFailures(failed, describing: 100))
        let routes = DaemonRoutes(control: FakeDaemon(standing: ["in": standing], failed: ["in": failed]))
        func picture(_ name: String) throws -> HTTPResponse {
            try answer(routes, "/api/failures/picture", ["name": "in/" + name])
        }
        let shown = try FailureCode.allCases.filter { try picture($0.rawValue).status == .ok }
        let list = FailureList(["in": standing], FailureQuery(), offset: 0)
        for failure in list.failures { #expect(failure.isShown == shown.contains { $0.rawValue == failure.code }) }
        #expect(shown.contains(.nameTaken) && shown.contains(.truncated))
        for code in [FailureCode.notAnImage, .tooManyPixels, .tooMuchMemory, .timedOut, .workerCrashed, .outOfMemory] {
            #expect(!shown.contains(code), "\(code)")
        }
        let sent = try picture("name-taken")
        #expect(sent.type == "image/png" && sent.body.count == 10)
        #expect(sent.headers.contains { $0 == ("Content-Security-Policy", "default-src 'none'; sandbox") })
        for name in ["without-note", "set", "set/a", "nowhere", "../x", ""] {
            #expect(try picture(name).status == .noContent, "\(name)")
        }
        #expect(throws: HTTPRefusal.self) { try answer(routes, "/api/failures/picture", ["name": "nowhere/x"]) }
    }

    @Test(arguments: [
        "/", "/icon.svg", "/api/status", "/api/dashboard", "/api/events", "/metrics", "/healthz", "/readyz",
        "/api/history", "/api/configuration", "/report", "/api/retry", "/api/failures",
    ])
    func `what can be read can be asked for its head too`(path: String) throws {
        let routes = DaemonRoutes(control: FakeDaemon())
        guard case .now(let head) = try routes.handle(HTTPRequest(method: .head, path: path, headers: [:])) else {
            return
        }
        #expect(try head.status == answer(routes, path).status)
    }

    @Test func `what changes something refuses the method`() {
        let routes = DaemonRoutes(control: FakeDaemon())
        for path in ["/api/reload", "/api/pause", "/api/resume"] {
            #expect(throws: HTTPRefusal(.methodNotAllowed, "'\(path)' does not take HEAD")) {
                try routes.handle(HTTPRequest(method: .head, path: path, headers: [:]))
            }
        }
        for path in [
            "/", "/icon.svg", "/icon-trouble.svg", "/api/status", "/api/failures/picture", "/report",
            "/api/results/in/a.webp",
        ] {
            #expect(throws: HTTPRefusal(.methodNotAllowed, "'\(path)' does not take POST")) {
                try routes.handle(HTTPRequest(method: .post, path: path, headers: [:]))
            }
        }
    }

    @Test func `the page of the last day tells a journal that cannot be read from one without news`() throws {
        let folder = try TemporaryFolder()
        let journal = BytePath(folder.path("journal.jsonl"))
        #expect(DayReport(journal: journal).response.status == .notFound)
        try folder.write("\u{0}\u{0}\n", to: "journal.jsonl")
        #expect(DayReport(journal: journal).response.status == .unavailable)
        try FileManager.default.removeItem(atPath: journal.text)
        #expect(symlink("journal.jsonl", journal.text) == 0)
        let broken = DayReport(journal: journal).response
        #expect(broken.status == .unavailable)
        let text = String(decoding: broken.body, as: UTF8.self)
        #expect(text.contains("the journal cannot be read: cannot open '\(journal.text)'"), "\(text)")
    }

    @Test func `health and readiness are told apart`() throws {
        var starting = FakeDaemon.busy
        starting.state = .draining
        let routes = DaemonRoutes(control: FakeDaemon(starting))
        #expect(try answer(routes, "/healthz").status == .ok && answer(routes, "/readyz").status == .unavailable)
        #expect(try answer(DaemonRoutes(control: FakeDaemon()), "/readyz").status == .ok)
    }
}
