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
