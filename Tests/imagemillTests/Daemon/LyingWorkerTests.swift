// `imagemill watch` with workers that pictures have taken over, made of real ones with a stub before them.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct LyingWorkerTests {
    /// The actions of a worker in place of an honest answer, and the code that the source of each ends with.
    private static let lies = [
        "liar": "output-rejected", "late": "output-rejected", "babble": "worker-crashed", "miser": "worker-crashed",
        "giant": "worker-crashed",
        "full": "worker-crashed", "talker": "corrupt", "beggar": "worker-crashed", "poison": "worker-crashed",
        "deadly": "worker-crashed",
        "threadless": "worker-crashed",
    ]

    @Test
    func `each lie of a worker costs its own source, the inbox never pauses, and the sources after it are done`()
        async throws
    {
        let drop = try WatchedFolder(inbox: "attempts: 1")
        let runner = drop.runner
        let fixtures = Checkout.path + "/Tests/Fixtures"
        let compiling = try await runner.shell(
            "$(command -v cc || command -v clang) -shared -fPIC -o other.so '\(fixtures)/other-worker.c' -ldl && cp '\(fixtures)/lying-worker.py' ."
        )
        try #require(compiling.exit == 0, "\(compiling)")
        let watch = try await drop.start(
            variables: [
                "LD_PRELOAD=\(runner.folder.path("other.so"))", "OTHER_WORKER=\(runner.folder.path("lying-worker.py"))",
            ])
        let picture = try await SamplePicture.jpeg.bytes
        // Bytes after the end of a JPEG belong to no picture.
        for lie in Self.lies.keys { try drop.drop("\(lie).jpg", picture + Array(lie.utf8)) }
        for good in ["a.jpg", "zz.jpg"] { try drop.drop(good, picture) }
        try await drop.until("out/a.jpg.json", "out/zz.jpg.json")
        for (lie, code) in Self.lies {
            let note = "state/failed/in/\(lie).jpg.error.json"
            try await drop.until("state/failed/in/\(lie).jpg", note)
            let document = try JSONSerialization.jsonObject(with: Data(try runner.bytes(note))) as? [String: Any]
            #expect(document?["code"] as? String == code, "\(lie): \(document ?? [:])")
        }
        // The stub was asked, not the program's own worker.
        let log = String(decoding: try runner.bytes("log"), as: UTF8.self).split(separator: "\n")
        #expect(Set(log.map { $0.split(separator: " ")[1] }).count > Self.lies.count / 2, "\(log)")
        let (pause, inbox) = (try await drop.pause(), try await drop.inbox())
        #expect(pause == nil && inbox["failed"] as? Int == Self.lies.count)
        #expect(drop.files("out").filter { !$0.hasSuffix(".json") } == ["a.webp", "zz.webp"])
        #expect(try runner.bytes("out/a.webp") == runner.bytes("out/zz.webp"))
        let ended = try await drop.stop(watch)
        #expect(ended.exit == 0, "\(ended.errors)")
        #expect(drop.files("in").isEmpty && drop.files("state/work").isEmpty)
    }
}
