// The tools of the experiments: one that finds nothing must have looked.
import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct ChaosToolsTests {
    // MARK: - The checker of invariants

    /// A drop folder after two successes, one of which was dropped twice, and a failure.
    private func dropFolder() async throws -> CommandRunner {
        let runner = try CommandRunner()
        for name in ["inbox", "work", "out"] {
            try FileManager.default.createDirectory(atPath: runner.folder.path(name), withIntermediateDirectories: true)
        }
        try runner.folder.write("original a", to: "done/a.jpg")
        try runner.folder.write("second a", to: "done/a~2.jpg")
        try runner.folder.write("bad", to: "failed/b\n.jpg")
        try runner.folder.write(#"{"code":"truncated","replay":"imagemill run"}"#, to: "failed/b\n.jpg.error.json")
        let picture = try await SamplePicture.png.encode(TestPicture.solid([9, 9, 9], width: 20, height: 10))
        try runner.folder.write(picture, to: "out/a-small.png")
        try runner.folder.write(report(bytes: picture.count), to: "out/reports/a.jpg.json")
        let sums = try await runner.shell("sha256sum done/* failed/*.jpg > dropped.txt")
        try #require(sums.exit == 0)
        // sha256sum marks a name with a line feed by a backslash before the digest.
        let lines = try String(contentsOfFile: runner.folder.path("dropped.txt"), encoding: .utf8).replacingOccurrences(
            of: "\\", with: "")
        try runner.folder.write(lines, to: "dropped.txt")
        return runner
    }

    private func report(bytes: Int, width: Int = 20) -> String {
        #"{"status":"done","source":{"path":"a.jpg"},"renditions":[{"path":"a-small.png","bytes":\#(bytes),"width":\#(width),"height":10}]}"#
    }

    private func check(_ runner: CommandRunner, _ more: String = "--settled") async throws -> CommandResult {
        try await runner.shell(
            "/usr/bin/python3 '\(Checkout.path)/Tests/Chaos/invariants.py' --dropped dropped.txt --inbox inbox --work work --done done "
                + "--failed failed --outbox out \(more)")
    }

    @Test func `all is well after two successes and a failure`() async throws {
        let result = try await check(dropFolder())
        #expect(
            result.exit == 0 && result.output == "all holds: 1 pictures decoded\n", "\(result.output)\(result.errors)")
    }

    @Test(arguments: [
        ("rm done/a.jpg", "lost: 1 of the drops with SHA-256 "),
        ("cp done/a.jpg done/a~3.jpg", "more than was dropped: 1 with SHA-256 "),
        ("rm out/a-small.png", "b'a-small.png', of the report b'reports/a.jpg.json', is missing"),
        ("echo >> out/a-small.png", "b'a-small.png' has "),
        ("cp out/a-small.png out/x.png", "the rendition b'x.png' is in no report"),
        ("rm out/reports/a.jpg.json", "b'a.jpg' is done and has no report"),
        ("echo '{' > out/reports/c.jpg.json", "the report b'reports/c.jpg.json' is not whole"),
        ("cp out/reports/a.jpg.json out/reports/z.jpg.json", "b'a-small.png' is listed by two reports"),
        ("touch out/.imagemill-1.part", "a temporary file is left in outbox: b'.imagemill-1.part'"),
        ("mv done/a.jpg work/", "work/ still has b'a.jpg'"),
        ("mv done/a.jpg inbox/", "the inbox still has b'a.jpg'"),
        ("rm failed/*.error.json", "has failed without a reason"),
        ("rm failed/b*.jpg", "the note b'b\\n.jpg.error.json' has no source beside it"),
        ("sed -i s/truncated/bored/ failed/*.json", "has failed for an unknown reason: 'bored'"),
        ("sed -i s/:20,/:21,/ out/reports/a.jpg.json", "has 20 x 10 pixels, its report says 21 x 10"),
    ])
    func `each kind of damage is found and named`(command: String, words: String) async throws {
        let runner = try await dropFolder()
        try #require(try await runner.shell(command).exit == 0)
        let result = try await check(runner)
        #expect(result.exit == 1 && result.output.contains(words), "\(result.output)\(result.errors)")
    }

    @Test func `a rendition that cannot be decoded to its end is found, though its size is right`() async throws {
        let runner = try await dropFolder()
        let whole = try await SamplePicture.noise(width: 200, height: 100)
        try runner.folder.write(Array(whole.prefix(whole.count / 2)), to: "out/a-small.png")
        try runner.folder.write(report(bytes: whole.count / 2, width: 200), to: "out/reports/a.jpg.json")
        let result = try await check(runner)
        #expect(result.exit == 1 && result.output.contains("'a-small.png'"), "\(result.output)")
    }

    @Test func `while work is under way, what is in the inbox and in work/ is not lost`() async throws {
        let runner = try await dropFolder()
        try #require(try await runner.shell("mv done/a.jpg work/; mv done/a~2.jpg inbox/").exit == 0)
        #expect(try await check(runner, "").exit == 0)
    }

    @Test(arguments: [
        ("true", "all holds"), ("rm inbox/a.jpg", "lost: b'a.jpg' is not in the inbox, which keeps its originals"),
        ("echo >> inbox/a.jpg", "b'a.jpg' in the inbox is not what was dropped"),
        ("echo > inbox/x.jpg", "more than was dropped: b'x.jpg' in the inbox"),
        ("cp inbox/a.jpg done/", "b'a.jpg' is in done/, but the inbox keeps its originals"),
        ("echo >> failed/bad.jpg", "b'bad.jpg' in failed/ is not a copy of what was dropped"),
    ])
    func `with originals that stay, what is missing, changed or elsewhere is found`(command: String, words: String)
        async throws
    {
        let runner = try await dropFolder()
        let damaged = try await runner.shell(
            """
            rm -r done failed && mkdir done failed && echo original > inbox/a.jpg && echo bad > inbox/bad.jpg && cp inbox/bad.jpg failed/ &&
            echo '{"code":"truncated","replay":"imagemill run"}' > failed/bad.jpg.error.json && (cd inbox && sha256sum *) > dropped.txt && \(command)
            """)
        try #require(damaged.exit == 0, "\(damaged.errors)")
        let result = try await check(runner, "--settled --originals keep")
        #expect(
            result.exit == (command == "true" ? 0 : 1) && result.output.contains(words),
            "\(result.output)\(result.errors)")
    }

    @Test(arguments: [
        ("true", "all holds"), ("rm out/reports/* out/*.png", "lost: b'a.jpg' is gone and no report lists it"),
        ("echo 'b2  b.jpg' >> dropped.txt", "lost: b'b.jpg' is gone and no report lists it"),
        ("touch done/a.jpg", "b'a.jpg' is in done/, but the inbox deletes its originals"),
    ])
    func `with originals that are deleted, each that is gone is in a report`(command: String, words: String)
        async throws
    {
        let runner = try await dropFolder()
        let damaged = try await runner.shell(
            "rm -r done failed && mkdir done failed && echo 'a1  a.jpg' > dropped.txt && \(command)")
        try #require(damaged.exit == 0, "\(damaged.errors)")
        let result = try await check(runner, "--settled --originals delete")
        #expect(
            result.exit == (command == "true" ? 0 : 1) && result.output.contains(words),
            "\(result.output)\(result.errors)")
    }

    @Test(arguments: [
        ("move", "true", "all holds"), ("delete", "rm done/album/*", "all holds"),
        ("move", "rm done/album/2.jpg", "lost: 1 of the drops with SHA-256 "),
        (
            "move", "sed -i 's/,{.path.:.album.2.jpg.}//' out/reports/album.json",
            "lists 1 members, and 2 were dropped: [b'album/2.jpg'] are missing"
        ),
        (
            "delete", "rm done/album/* && echo 'c3  album/late.jpg' >> dropped.txt",
            "lost: b'album/late.jpg' is gone and no report lists it"
        ),
        ("move", "rm out/reports/album.json", "b'album' is done and has no report"),
        ("move", "mv done/album failed/", "b'album' has failed without a reason"),
    ])
    func `the report of a set lists the members that were dropped, and what it does not list is not deleted`(
        policy: String, command: String, words: String
    ) async throws {
        let runner = try await dropFolder()
        let report =
            #"{"status":"done","source":{"path":"album","members":[{"path":"album/1.jpg"},{"path":"album/2.jpg"}]},"renditions":[]}"#
        let damaged = try await runner.shell(
            """
            rm -r done failed out && mkdir -p done/album failed out/reports && echo 1 > done/album/1.jpg && echo 2 > done/album/2.jpg &&
            touch done/album/.done && (cd done && sha256sum album/*.jpg) > dropped.txt && echo '\(report)' > out/reports/album.json &&
            echo '{"album": [["album/1.jpg", "album/2.jpg"]]}' > sets.json && \(command)
            """)
        try #require(damaged.exit == 0, "\(damaged.errors)")
        let result = try await check(runner, "--settled --originals \(policy) --sets sets.json")
        #expect(
            result.exit == (words == "all holds" ? 0 : 1) && result.output.contains(words),
            "\(result.output)\(result.errors)")
    }

    // MARK: - The calls that fail

    private static let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    private func shim(_ runner: CommandRunner) async throws {
        let line =
            "cc -shared -fPIC -O2 -Wall -Wextra -Werror -o shim.so '\(Checkout.path)/Tests/Chaos/failing-calls.c' -ldl -pthread && mkdir root && echo 0123456789 > from"
        let result = try await runner.shell(line)
        try #require(result.exit == 0, "\(result.errors)")
    }

    private func copy(_ runner: CommandRunner, _ settings: String) async throws -> CommandResult {
        try await runner.shell(
            "rm -f root/* log; FAILING_ROOT=\"$PWD/root\" FAILING_LOG=log \(settings) LD_PRELOAD=./shim.so dd if=from of=root/to bs=99 status=none"
        )
    }

    @Test(.enabled(if: hasCompiler))
    func `each call below the folder fails in its turn, and no other; without a number they are counted`() async throws
    {
        let runner = try CommandRunner()
        try await shim(runner)
        #expect(try await copy(runner, "").exit == 0)
        let log = try String(contentsOfFile: runner.folder.path("log"), encoding: .utf8)
        let calls = log.split(separator: "\n").count
        #expect(calls >= 3 && !log.contains("failed") && log.contains(" write ") && !log.contains("/from"))
        for call in 1...calls {
            _ = try await copy(runner, "FAILING_CALL=\(call) FAILING_ERROR=ENOSPC")
            let failed = try String(contentsOfFile: runner.folder.path("log"), encoding: .utf8).split(separator: "\n")
                .filter {
                    $0.hasSuffix("failed")
                }
            #expect(failed.count == 1 && failed[0].hasPrefix("\(call) "))
        }
        let first = try await copy(runner, "FAILING_CALL=1 FAILING_ERROR=ENOSPC")
        #expect(first.exit != 0 && first.errors.contains("No space left on device"))
    }

    @Test(.enabled(if: hasCompiler))
    func `a short write writes half, and a program that copes goes on`() async throws {
        let runner = try CommandRunner()
        try await shim(runner)
        for call in 1...6 {
            _ = try await copy(runner, "FAILING_CALL=\(call) FAILING_ERROR=SHORT")
            let log = try String(contentsOfFile: runner.folder.path("log"), encoding: .utf8)
            guard log.contains("write") && log.contains("failed") else { continue }
            #expect(log.split(separator: "\n").filter { $0.contains(" write ") }.count == 2)
            #expect(try String(contentsOfFile: runner.folder.path("root/to"), encoding: .utf8) == "0123456789\n")
            return
        }
        Issue.record("no call was a write")
    }

    @Test(.enabled(if: hasCompiler))
    func `the answer of one rename or unlink is lost: it is done, and says that there is nothing`() async throws {
        let runner = try CommandRunner()
        try await shim(runner)
        // Python's rename and unlink are those of the C library.
        let script =
            "import ctypes, os; os.chdir('root'); open('a', 'w').close(); open('b', 'w').close(); "
            + "c = ctypes.CDLL(None, use_errno=True); print(c.renameat2(-100, b'a', -100, b'c', 1), ctypes.get_errno()); "
            + "print(c.unlink(b'a'), ctypes.get_errno(), os.listdir('.')); print(c.rename(b'b', b'd'), os.listdir('.'))"
        let result = try await runner.shell(
            "FAILING_ROOT=\"$PWD/root\" FAILING_CALL=1 FAILING_ERROR=LOST LD_PRELOAD=./shim.so /usr/bin/python3 -c \"\(script)\""
        )
        #expect(result.output == "-1 22\n-1 2 ['b']\n0 ['d']\n", "\(result.output)\(result.errors)")
    }

    @Test(.enabled(if: hasCompiler))
    func `a setting that means nothing is refused: the experiment would prove nothing`() async throws {
        let runner = try CommandRunner()
        try await shim(runner)
        #expect(
            try await copy(runner, "FAILING_ERROR=EWHAT").errors
                == "failing-calls: FAILING_ERROR is not one that is known\n")
        #expect(try await runner.shell("LD_PRELOAD=./shim.so /bin/true").exit == 64)
    }
}
