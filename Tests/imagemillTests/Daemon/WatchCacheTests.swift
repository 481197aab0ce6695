// The cache of a drop folder: hits that ask no worker, one cache for all inboxes, its bound, kill -9, and the status.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct WatchCacheTests {
    /// Two inboxes with pipelines that differ in a name only.
    private func drop(size: String = "1G") throws -> WatchedFolder {
        let inboxes = ["in", "in2"].enumerated().map { index, name in
            "  - { path: \(name), outbox: \(name)-out, pipeline: p\(index).yaml, settle: 200ms }\n"
        }
        let drop = try WatchedFolder(
            mill: "state: state\nworkers: 2\ncache: { path: cache, size: \(size) }\ninboxes:\n" + inboxes.joined())
        for (index, name) in ["{stem}-{rendition}.{ext}", "{stem}_{rendition}.{ext}"].enumerated() {
            try drop.runner.folder.write(
                "renditions:\n  a: { stages: [ { resize: { size: 32x32 } } ], save: { format: png }, file: \"\(name)\" }\n",
                to: "p\(index).yaml")
        }
        try drop.makeFolder("in2")
        return drop
    }

    private func report(_ drop: WatchedFolder, _ name: String) throws -> BatchDocument.Entry {
        try JSONDecoder().decode(BatchDocument.Entry.self, from: Data(drop.runner.bytes(name)))
    }

    private func cached(_ drop: WatchedFolder, _ name: String) throws -> [Bool] {
        try report(drop, name).renditions.map(\.cached)
    }

    @Test func `a source whose renditions another inbox has made is published without a worker`() async throws {
        let drop = try drop()
        let watch = try await drop.start()
        try await drop.drop("a.jpg")
        try await drop.until("in-out/a.jpg.json", "state/done/in/a.jpg")
        #expect(try cached(drop, "in-out/a.jpg.json") == [false])

        let workers = watch.children
        #expect(workers.count >= 2)
        for worker in workers { #expect(kill(worker, SIGSTOP) == 0) }
        defer { for worker in workers { kill(worker, SIGCONT) } }
        try await drop.drop("b.jpg", into: "in2")
        try await drop.until("in2-out/b.jpg.json")
        #expect(try cached(drop, "in2-out/b.jpg.json") == [true])
        #expect(try drop.runner.bytes("in2-out/b_a.png") == drop.runner.bytes("in-out/a-a.png"))

        // The check can fail: what is not in the cache waits for a worker.
        try await drop.drop("c.png", into: "in2")
        try await Task.sleep(for: .seconds(2))
        #expect(!drop.runner.exists("in2-out/c.png.json"))
        for worker in workers { kill(worker, SIGCONT) }
        try await drop.until("in2-out/c.png.json")
        #expect(try await drop.stop(watch).exit == 0)
        #expect(try await drop.runner.run("cache", "verify", "cache").output == "2 renditions: all is well\n")
    }

    @Test
    func `the status says how full the cache is and what it was good for; its document is as the schema says`()
        async throws
    {
        let drop = try drop()
        let watch = try await drop.start()
        for (inbox, name) in [("in", "a.jpg"), ("in2", "b.jpg"), ("in", "c.png")] {
            try await drop.drop(name, into: inbox)
            try await drop.until("\(inbox)-out/\(name).json")
        }
        let result = try await drop.runner.run("status", "--state", "state", "--json")
        try drop.runner.folder.write(result.output, to: "status.json")
        let check = try await drop.runner.validate("status", ["status.json"])
        #expect(check.exit == 0, "\(check.output)\(check.errors)")
        let cache = try #require(try await drop.status()["cache"] as? [String: Any])
        #expect(cache["renditions"] as? Int == 2 && cache["hits"] as? Int == 1 && cache["misses"] as? Int == 2)
        #expect(cache["bound-bytes"] as? Int == 1 << 30)
        let bytes = try #require(cache["bytes"] as? Int)
        let stats = try await drop.runner.run("cache", "stats", "cache")
        #expect(stats.output == "2 renditions, \(bytes) bytes\n")
        let text = try await drop.runner.run("status", "--state", "state").output
        #expect(text.contains("/cache: 2 renditions, "))
        #expect(text.contains(" of 1024 MiB; 1 taken from it, 2 not found since the start\n"), "\(text)")

        // A reload changes the bound at once.
        let mill = String(decoding: try drop.runner.bytes("mill.yaml"), as: UTF8.self)
        try drop.runner.folder.write(
            mill.replacingOccurrences(of: "size: 1G", with: "size: \(bytes - 1)"), to: "mill.yaml")
        #expect(try await drop.runner.run("reload", "--state", "state").exit == 0)
        #expect(try await drop.runner.run("cache", "stats", "cache").output.hasPrefix("1 rendition, "))
        try await drop.stop(watch)
    }

    @Test
    func `killed again and again beside a run, the cache stays within its bound and is never damaged`() async throws {
        let bound = 24_000
        let drop = try drop(size: "\(bound)")
        try drop.runner.folder.write(
            "renditions:\n  a: { scale: [1, 2, 3], stages: [ { resize: { width: 20 } } ], save: { format: png } }\n",
            to: "p0.yaml")
        func stored() -> Int {
            let objects = drop.runner.folder.path("cache/objects")
            return (FileManager.default.subpaths(atPath: objects) ?? []).reduce(0) { sum, name in
                var status = stat()
                guard lstat(objects + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
                return sum + Int(status.st_size)
            }
        }
        var names: [String] = []
        for round in 0..<4 {
            let watch = try await drop.start()
            for number in 0..<6 {
                names.append("\(round)-\(number).jpg")
                try drop.drop(names.last!, try await SamplePicture.noise(width: 60, height: 40 + 6 * round + number))
            }
            let beside = try drop.runner.start([
                "run", "p1.yaml", "state/done", "-o", "beside", "--cache", "cache", "--cache-size", "\(bound)", "-q",
            ])
            for _ in 0..<(4 + 3 * round) {
                try await Task.sleep(for: .milliseconds(30))
                #expect(stored() <= bound)
            }
            watch.signal(SIGKILL)
            beside.signal(SIGKILL)
            _ = try await (watch.finish(), beside.finish())
        }
        let watch = try await drop.start()
        try await drop.until("all are done: \(drop.files("in-out").count)") {
            names.allSatisfy { drop.runner.exists("in-out/\($0).json") }
        }
        #expect(try await drop.stop(watch).exit == 0)
        #expect(stored() <= bound && stored() > 0)
        let check = try await drop.runner.run("cache", "verify", "cache")
        #expect(check.exit == 0, "\(check.output)")
        for name in names {
            let report = try report(drop, "in-out/\(name).json")
            for rendition in report.renditions {
                #expect(try drop.runner.bytes("in-out/" + rendition.path).count == rendition.bytes)
            }
        }
    }

    @Test func `a cache that cannot be used is said once and in the status, and fails no source`() async throws {
        let drop = try drop()
        try drop.runner.folder.write("a file", to: "cache")
        let refused = try await drop.runner.run("check", "mill.yaml")
        #expect(refused.exit == 78 && refused.errors.contains("/cache' is no folder"), "\(refused.errors)")
        try FileManager.default.removeItem(atPath: drop.runner.folder.path("cache"))
        let watch = try await drop.start()
        try drop.runner.folder.write("a file", to: "cache")
        for name in ["a.jpg", "b.jpg"] {
            try await drop.drop(name)
            try await drop.until("in-out/\(name).json")
        }
        #expect(
            watch.errorsSoFar.components(separatedBy: "the work goes on without it").count == 2, "\(watch.errorsSoFar)")
        let trouble = (try await drop.status()["cache"] as? [String: Any])?["trouble"] as? String
        #expect(trouble?.contains("cannot make the folder") == true)
        try await drop.stop(watch)
    }

    @Test
    func `the cache is in systemd's folder unless the file names one; never in an inbox, an outbox or among sources`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline()
        func check(_ cache: String, _ variables: String = "") async throws -> CommandResult {
            try runner.folder.write(
                "state: state\ncache:\(cache)\ninboxes:\n  - { path: in, outbox: out, pipeline: p.yaml }\n",
                to: "mill.yaml")
            return try await runner.shell("mkdir -p in; \(variables) \"$IMAGEMILL\" check mill.yaml")
        }
        #expect(
            try await check("", "CACHE_DIRECTORY=/var/cache/imagemill:/x").output.contains(
                "cache: /var/cache/imagemill, at most 1024 MiB"))
        #expect(
            try await check(" { size: 5G }", "XDG_CACHE_HOME=/home/a/c").output.contains(
                "cache: /home/a/c/imagemill, at most 5120 MiB"))
        #expect(try await check(" { path: c }").output.contains("\(runner.folder.path("c")), at most 1024 MiB"))
        for (path, words) in [
            ("in/c", "is inside of the inbox"), ("out", "is inside of the outbox"), (".", "is inside of the cache"),
            ("state/work/c", "where Imagemill keeps sources"),
        ] {
            let result = try await check(" { path: \(path) }")
            #expect(result.exit == 78 && result.errors.contains(words), "\(path): \(result.errors)")
        }
        let unknown = try await check(" { folder: c }")
        #expect(unknown.exit == 78 && unknown.errors.contains("unknown key 'folder' in the cache"), "\(unknown.errors)")
    }
}
