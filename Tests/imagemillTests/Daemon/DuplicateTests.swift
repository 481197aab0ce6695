// Sources with the bytes of another one in an inbox.
import Foundation
import TestSupport
import Testing

@Suite struct DuplicateTests {
    private func folder(_ policy: String, more: String = "") throws -> WatchedFolder {
        try WatchedFolder(inbox: "duplicates: \(policy)\(more)")
    }

    private func document(_ folder: WatchedFolder, _ name: String) throws -> [String: Any] {
        let data = Data(try folder.runner.bytes(name))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func `one that is skipped is done without renditions, and its report names the other one`() async throws {
        let drop = try folder("skip")
        let watch = try await drop.start()
        let picture = try await SamplePicture.noise(width: 40, height: 30)
        try drop.drop("a.jpg", picture)
        try await drop.until("state/done/in/a.jpg")
        let first = try drop.runner.bytes("out/a.jpg.json")
        try drop.drop("sub/b.jpg", picture)
        try await drop.until("state/done/in/sub/b.jpg")
        let report = try document(drop, "out/sub/b.jpg.json")
        let warnings = try #require(report["warnings"] as? [[String: String]])
        #expect(warnings.map { $0["code"] } == ["duplicate-skipped"], "\(report)")
        #expect(warnings.first?["message"]?.hasPrefix("'a.jpg' had the same bytes") == true, "\(report)")
        #expect((report["renditions"] as? [Any])?.isEmpty == true && report["status"] as? String == "done")
        let renditions = drop.files("out").filter { !$0.hasSuffix(".json") && !$0.contains(".imagemill") }
        #expect(renditions.allSatisfy { $0.hasPrefix("a") } && !renditions.isEmpty, "\(renditions)")

        // Dropped again under its own name, it keeps what it has.
        try drop.drop("a.jpg", picture)
        try await drop.until("it was taken") { !drop.runner.exists("in/a.jpg") }
        try drop.drop("c.jpg", try await SamplePicture.noise(width: 41, height: 30))
        try await drop.until("state/done/in/c.jpg")
        #expect(try drop.runner.bytes("out/a.jpg.json") == first)
        #expect(renditions.allSatisfy { drop.runner.exists("out/" + $0) }, "\(renditions)")
        try await drop.stop(watch)
    }

    @Test func `one that fails is kept with the reason`() async throws {
        let drop = try folder("fail")
        let watch = try await drop.start()
        let picture = try await SamplePicture.noise(width: 40, height: 30)
        try drop.drop("a.jpg", picture)
        try await drop.until("state/done/in/a.jpg")
        try drop.drop("b.jpg", picture)
        try await drop.until("state/failed/in/b.jpg.error.json")
        let note = try document(drop, "state/failed/in/b.jpg.error.json")
        #expect(
            "\(note)".contains("duplicate") && "\(note)".contains("a.jpg") && "\(note)".contains("had the same bytes"),
            "\(note)")
        try await drop.stop(watch)
    }

    @Test func `an original that stays is done again by another pipeline, and is no copy of itself`() async throws {
        let drop = try folder("skip", more: ", originals: keep")
        let watch = try await drop.start()
        try drop.drop("a.jpg", try await SamplePicture.noise(width: 40, height: 30))
        try await drop.until("out/a.jpg.json")
        try drop.runner.folder.write(
            "renditions: { small: { stages: [ { resize: { size: 10x } } ], save: { format: png } } }\n", to: "p.yaml")
        watch.signal(SIGHUP)
        try await drop.until("out/a.png")
        try await drop.stop(watch)
    }

    @Test func `of many copies at once only those are made that are worked on at the same time`() async throws {
        let drop = try folder("skip")
        let picture = try await SamplePicture.noise(width: 60, height: 50)
        // Two workers with a group of sixteen each.
        let (copies, most) = (60, 32)
        for index in 0..<copies { try drop.drop("\(index).jpg", picture) }
        let watch = try await drop.start()
        try await drop.until("all are done") {
            (0..<copies).allSatisfy { drop.runner.exists("state/done/in/\($0).jpg") }
        }
        let made = drop.files("out").filter { !$0.hasSuffix(".json") && !$0.contains(".imagemill") }
        let sources = Set(made.map { $0.prefix { $0 != "." && $0 != "-" } })
        // Whether one that is worked on at the same time will be done is not known yet.
        #expect((1...most).contains(sources.count), "\(made)")
        try await drop.stop(watch)
    }

    @Test func `earlier contents of a name do not count, nor a source whose renditions were removed`() async throws {
        let drop = try folder("skip", more: ", originals: delete")
        let watch = try await drop.start()
        let pictures = [
            try await SamplePicture.noise(width: 40, height: 30), try await SamplePicture.noise(width: 41, height: 30),
        ]
        var made: [[UInt8]] = []
        for picture in [pictures[0], pictures[1], pictures[0]] {
            try drop.drop("a.jpg", picture)
            try await drop.until("it is done") {
                !drop.runner.exists("in/a.jpg") && drop.runner.exists("out/a.jpg.json")
            }
            try drop.drop("next-\(made.count).jpg", try await SamplePicture.noise(width: 50 + made.count, height: 30))
            try await drop.until("out/next-\(made.count).jpg.json")
            made.append(try drop.runner.bytes("out/a.webp"))
        }
        #expect(made[0] == made[2] && made[0] != made[1])
        // Its renditions were removed: it is made again.
        try FileManager.default.removeItem(atPath: drop.runner.folder.path("out/a.webp"))
        try drop.drop("a.jpg", pictures[0])
        try await drop.until("out/a.webp")
        try await drop.stop(watch)
    }

    @Test func `an original of which nothing is made is not deleted`() async throws {
        let drop = try WatchedFolder(inbox: "originals: delete")
        try drop.runner.folder.write(
            "renditions: { a: { when: { name: \"logo*\" }, save: { format: png } } }\n", to: "p.yaml")
        let watch = try await drop.start()
        try drop.drop("x.jpg", try await SamplePicture.noise(width: 40, height: 30))
        try await drop.until("state/done/in/x.jpg")
        try await drop.stop(watch)
    }
}
