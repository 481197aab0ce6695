// kill -9 at random moments. `make chaos` does it a hundred times; a plain test run does it a few.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct ChaosTests {
    private static let kills = Int(ProcessInfo.processInfo.environment["IMAGEMILL_KILLS"] ?? "") ?? 15

    @Test
    func `however a run is killed, its cache is whole, within its bound, and the next run gets everything right`()
        async throws
    {
        let runner = try CommandRunner()
        let sizes = [8, 12, 16, 20, 24, 32]
        try runner.folder.write(
            "renditions:\n"
                + sizes.map {
                    "  s\($0):\n    stages:\n      - resize: { size: \"\($0)x\($0)\" }\n    save: { format: png }\n"
                }.joined(),
            to: "p.yaml")
        for index in 0..<30 {
            let picture = try await SamplePicture.png.encode(
                TestPicture.make(width: 40, height: 40) { x, y in [UInt8(x * 6), UInt8(y * 6), UInt8(index * 8)] })
            try runner.folder.write(picture, to: "in/\(index).png")
        }
        // Room for a third of everything, so that there is always something to evict.
        let bound = 16 << 10
        for kill in 0..<Self.kills {
            let options = ["run", "p.yaml", "in", "--cache", "cache", "--cache-size", "\(bound)", "--force", "--quiet"]
            // Every third time two of them share the cache, and one is left alive.
            let other = kill % 3 == 2 ? try runner.start(options + ["-o", "other"]) : nil
            let victim = try runner.start(options + ["-o", "out"])
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...350)))
            victim.signal(SIGKILL)
            _ = try await victim.finish()
            if let other { #expect(try await other.finish().exit == 0) }
            #expect(size(of: runner.folder.path("cache/objects")) <= bound, "after kill \(kill)")
            // A run that was killed before it came to its cache has not made it.
            guard runner.exists("cache/index.sqlite") else { continue }
            let verified = try await runner.run("cache", "verify", "cache")
            #expect(verified.exit == 0, "after kill \(kill): \(verified.output)\(verified.errors)")
        }
        #expect(
            try await runner.run([
                "run", "p.yaml", "in", "-o", "out", "--cache", "cache", "--cache-size", "\(bound)", "--force",
            ]).exit == 0)
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "plain").exit == 0)
        // A name with a dot is what a run left that was killed between giving a file its temporary name and its own.
        let made = runner.files().filter { !$0.hasPrefix(".") }
        #expect(made == runner.files(in: "plain") && made.count == 30 * sizes.count)
        for name in made { #expect(try runner.bytes("out/" + name) == runner.bytes("plain/" + name)) }
    }

    private func size(of folder: String) -> Int {
        (FileManager.default.subpaths(atPath: folder) ?? []).filter { $0.contains("/") }.reduce(0) { sum, name in
            sum + (((try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.size]) as? Int) ?? 0)
        }
    }
}
