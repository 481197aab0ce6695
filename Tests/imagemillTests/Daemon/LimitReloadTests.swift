// Limits that are raised while the drop folder works.
import TestSupport
import Testing

@Suite struct LimitReloadTests {
    @Test(
        "A reload raises each limit: what it has kept out is done when it is tried again",
        arguments: [
            "max-memory: 50M", "max-pixels: 1K", "max-source-bytes: 100", "max-side: 20", "max-bands: 1", "max-output-bytes: 20",
        ])
    func raised(limit: String) async throws {
        let rest = "state: state\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml, settle: 200ms }\n"
        let drop = try WatchedFolder(mill: limit + "\n" + rest)
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("state/failed/in/a.jpg", "state/failed/in/a.jpg.error.json")
        let name = limit.prefix { $0 != ":" }
        let note = String(decoding: try drop.runner.bytes("state/failed/in/a.jpg.error.json"), as: UTF8.self)
        #expect(note.contains("(\(name))"), "\(note)")
        try drop.runner.folder.write(rest, to: "mill.yaml")
        let reload = try await drop.runner.run("reload", "--state", "state")
        #expect(reload.exit == 0 && !reload.output.contains("next start"), "\(reload)")
        #expect(try await drop.runner.run("retry", "--state", "state", "a.jpg").exit == 0)
        try await drop.until("out/a.jpg.json", "state/done/in/a.jpg")
        #expect(try await drop.stop(watch).exit == 0)
    }
}
