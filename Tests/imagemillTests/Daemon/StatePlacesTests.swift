// Where state and socket are when nobody says so.
import Pipeline
import TestSupport
import Testing

@testable import imagemill

@Suite struct StatePlacesTests {
    @Test func `the state folder is systemd's, else the user's own`() {
        let cases: [([String: String], String)] = [
            (["STATE_DIRECTORY": "/var/lib/imagemill:/var/lib/x", "HOME": "/h"], "/var/lib/imagemill"),
            (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/imagemill"),
            (["XDG_STATE_HOME": "relative", "HOME": "/h"], "/h/.local/state/imagemill"),
            (["HOME": "/h"], "/h/.local/state/imagemill"),
        ]
        for (variables, path) in cases { #expect(StatePlaces(variables).defaultState == BytePath(path)) }
    }

    @Test func `the socket is in systemd's runtime folder, else in the state folder`() {
        #expect(
            StatePlaces(["RUNTIME_DIRECTORY": "/run/imagemill"]).socketFolder(state: BytePath("/s"))
                == BytePath("/run/imagemill"))
        #expect(StatePlaces([:]).socketFolder(state: BytePath("/s")) == BytePath("/s"))
    }

    @Test func `the service is installed if its unit or its state folder is there`() throws {
        for path in ["usr/lib/systemd/system/imagemill.service", "var/lib/imagemill/ledger"] {
            let folder = try TemporaryFolder()
            #expect(!StatePlaces.hasService(in: BytePath(folder.path)))
            try folder.write("", to: path)
            #expect(StatePlaces.hasService(in: BytePath(folder.path)), "\(path)")
        }
    }

    @Test func `what systemd makes for the service is known from its variables and from the packaged units`() throws {
        let folder = try TemporaryFolder()
        let root = BytePath(folder.path)
        let service = StatePlaces(["STATE_DIRECTORY": "/v/a:/v/b", "CACHE_DIRECTORY": "/c"])
        func found(_ places: StatePlaces) -> [String] {
            ["/v/a", "/v/b/x", "/c", "/v", "/var/lib/imagemill/shop", "/var/cache/imagemill", "/var/lib"].filter {
                places.isMadeBySystemd(BytePath($0), root: root)
            }
        }
        #expect(found(service) == ["/v/a", "/v/b/x", "/c"])
        #expect(found(StatePlaces([:])).isEmpty)
        try folder.write("", to: "usr/lib/systemd/system/imagemill.service")
        #expect(found(StatePlaces([:])) == ["/var/lib/imagemill/shop", "/var/cache/imagemill"])
    }

    @Test func `a daemon is looked for where it was said, else where it may be`() {
        let places = StatePlaces(["HOME": "/h"])
        func paths(_ state: String?, _ service: String?) -> [String] {
            places.sockets(state: state.map { BytePath($0) }, service: service).map(\.text)
        }
        #expect(paths("/s", nil) == ["/s/status.sock"])
        #expect(paths(nil, "products") == ["/run/imagemill/products/status.sock"])
        #expect(paths(nil, nil) == ["/h/.local/state/imagemill/status.sock", "/run/imagemill/status.sock"])
    }
}
