// A disk that is full, and folders that may not be written to: the environment's fault, so the exit code says to try
// again.
import Foundation
import TestSupport
import Testing

@Suite struct DiskTroubleTests {
    /// Runs a test with a file system of a few bytes at `out`.
    private func withTinyDisk(_ runner: CommandRunner, kilobytes: Int, _ work: () async throws -> Void) async throws {
        let path = runner.folder.path("out")
        mkdir(path, 0o755)
        let mounted = try await runner.shell("mount -t tmpfs -o size=\(kilobytes)k,mode=777 none out")
        try #require(mounted.exit == 0, "\(mounted.errors)")
        do {
            try await work()
        } catch {
            _ = try await runner.shell("umount -l out")
            throw error
        }
        _ = try await runner.shell("umount -l out")
    }

    private static func mayMount() -> Bool {
        guard TestMachine.isRoot, let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
            return false
        }
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") } ?? "0"
        let mask = UInt64(line.split { " \t".contains($0) }.last ?? "0", radix: 16) ?? 0
        return mask & (1 << 21) != 0
    }

    @Test(.enabled(if: mayMount()))
    func `a full disk is disk-full and exit code 75; what fits is complete, and nothing is half-written`() async throws
    {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "png")
        try runner.folder.write(try await SamplePicture.noise(width: 900, height: 900), to: "in/large.jpg")
        try await runner.picture("in/small.jpg")
        // Room for the record and its log, whichever is done first, and for what is probed; none for the large one.
        try await withTinyDisk(runner, kilobytes: 600) {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--report", "report.json")
            let report = try runner.report("report.json")
            #expect(report.outcomes == ["large.jpg": "disk-full", "small.jpg": "done"], "\(result.errors)")
            #expect(report["large.jpg"]?.error?.retryable == true)
            #expect(report["large.jpg"]?.error?.message.contains("No space left on device") == true)
            #expect(result.exit == 75)
            #expect(runner.files() == ["small.png"])
            #expect(try await runner.size(of: "out/small.png") == [64, 48])
        }
    }

    @Test(.enabled(if: mayMount()))
    func `a disk without any room at all is exit code 75, and says so`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await withTinyDisk(runner, kilobytes: 64) {
            _ = try await runner.shell("dd if=/dev/zero of=out/filler bs=4k 2>/dev/null")
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
            #expect(result.exit == 75, "\(result.errors)")
            #expect(result.errors.lowercased().contains("no space left") || result.errors.contains("full"))
            #expect(runner.files() == ["filler"])
        }
    }

    @Test(.enabled(if: mayMount()), arguments: [[], ["--report", "report.json", "--state", "state"]])
    func `a disk that fills up ends the run once, with what was done and the folder, and blames no picture`(
        elsewhere: [String]
    ) async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "tiff")
        for number in 0..<60 {
            try runner.folder.write(
                try await SamplePicture.noise(width: 200, height: 200), to: "in/\(number).jpg")
        }
        try await withTinyDisk(runner, kilobytes: 2000) {
            let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"] + elsewhere)
            #expect(result.exit == 75)
            let lines = result.errors.split(separator: "\n")
            #expect(lines.count == 3, "\(result.errors)")
            #expect(
                lines.first?.hasPrefix("stopped: ") == true && lines.first?.contains(" of 60 sources done, ") == true)
            #expect(result.errors.contains("'out'") || result.errors.contains("'out/.imagemill'"))
            #expect(result.errors.contains("No space left on device; make room there\n"))
            if !elsewhere.isEmpty {
                #expect(lines.first?.hasSuffix("; report: report.json") == true)
                #expect(try !runner.report("report.json").outcomes.values.contains { $0 != "done" })
            }
            let quiet = try await runner.run(["run", "-q", "p.yaml", "in", "-o", "out"] + elsewhere)
            #expect(quiet.exit == 75 && quiet.errors.split(separator: "\n").count == 2, "\(quiet.errors)")
        }
    }

    @Test(.enabled(if: mayMount()), arguments: [8, 16, 24, 40, 64, 100])
    func `a disk that is too small for the record of names says that, with the folder`(kilobytes: Int) async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await withTinyDisk(runner, kilobytes: kilobytes) {
            for _ in 0..<2 {
                let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
                #expect(result.exit == 75)
                #expect(result.errors.lowercased().contains("no space left"), "\(result.errors)")
                #expect(result.errors.contains("'out"), "\(result.errors)")
            }
        }
    }

    @Test(.enabled(if: mayMount()))
    func `a full disk is to be tried again, whatever else was wrong`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "png")
        try runner.folder.write(try await SamplePicture.noise(width: 900, height: 900), to: "in/large.jpg")
        try runner.folder.write("no picture", to: "in/broken.jpg")
        try await withTinyDisk(runner, kilobytes: 400) {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--report", "report.json")
            #expect(
                try runner.report("report.json").outcomes == ["large.jpg": "disk-full", "broken.jpg": "not-an-image"])
            #expect(result.exit == 75, "\(result.errors)")
        }
    }

    @Test(.enabled(if: mayMount()))
    func `a file of another size limit: a rendition that outgrows the disk while it is encoded leaves nothing`()
        async throws
    {
        let runner = try CommandRunner()
        try runner.folder.write(
            "renditions:\n  a: { save: { format: jpeg } }\n  b: { save: { format: png } }\n  c: { save: { format: tiff } }\n",
            to: "p.yaml")
        try runner.folder.write(try await SamplePicture.noise(width: 600, height: 600), to: "in/x.jpg")
        try await withTinyDisk(runner, kilobytes: 500) {
            let result = try await runner.run("run", "p.yaml", "in", "-o", "out", "--report", "report.json")
            #expect(try runner.report("report.json").outcomes == ["x.jpg": "disk-full"])
            #expect(result.exit == 75)
            #expect(runner.files().isEmpty, "all renditions of a source or none")
        }
    }

    @Test func `an output folder that may not be written to is named before any work, with its name`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        mkdir(runner.folder.path("out"), 0o755)
        chmod(runner.folder.path("out"), 0o555)
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out"], user: .unprivileged)
        #expect(result.exit == 75)
        #expect(result.errors.contains("the output folder 'out': Permission denied"), "\(result.errors)")
        #expect(runner.files().isEmpty)
    }

    @Test func `a sub-folder that may not be written to fails the sources that go there, and no others`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try await runner.picture("in/sub/b.jpg")
        for (name, mode) in [("out", mode_t(0o777)), ("out/sub", 0o555)] {
            mkdir(runner.folder.path(name), 0o755)
            chmod(runner.folder.path(name), mode)
        }
        let result = try await runner.run(["run", "p.yaml", "in", "-o", "out", "--keep-tree"], user: .unprivileged)
        #expect(result.exit == 75)
        let report = try runner.report()
        #expect(report.outcomes == ["a.jpg": "done", "sub/b.jpg": "output-not-writable"])
        #expect(report["sub/b.jpg"]?.error?.message == "cannot write 'sub/b.webp': Permission denied")
        #expect(runner.files() == ["a.webp"])
    }

    @Test func `an output folder that is a file is refused, and the file is left alone`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("mine", to: "out")
        let result = try await runner.run("run", "p.yaml", "in", "-o", "out")
        #expect(result.exit == 64)
        #expect(result.errors.contains("the output folder 'out' is a file"))
        #expect(try runner.bytes("out") == Array("mine".utf8))
    }

    @Test func `a folder that is where a rendition should be gets a version beside it`() async throws {
        let runner = try CommandRunner()
        try runner.pipeline()
        try await runner.picture("in/a.jpg")
        try runner.folder.write("x", to: "out/a.webp/x")
        #expect(try await runner.run("run", "p.yaml", "in", "-o", "out").exit == 0)
        #expect(runner.files() == ["a-2.webp", "a.webp/x"])
    }
}
