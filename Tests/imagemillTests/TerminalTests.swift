// The output for terminals that are narrow, cannot go back, or have no letters but ASCII.
import Foundation
import TestSupport
import Testing

@testable import imagemill

@Suite struct TerminalTests {
    private let line = ProgressLine(finished: 4321, total: 98_765, failed: 12, rate: "123.4", left: "12 min 30 s")

    @Test func `a line of progress says at every width only what is so`() {
        #expect(line.fitting(79).hasSuffix("4321/98765, 12 failed  123.4/s  12 min 30 s left"))
        for width in 1...79 {
            let shown = line.fitting(width)
            #expect(shown.count <= width)
            // A rate, a count or a time is there whole or not at all.
            for (part, beginning) in [
                ("123.4/s", "123"), ("4321/98765", "43"), ("12 min 30 s left", "min"), ("12 failed", "failed"),
            ] {
                #expect(shown.contains(part) == shown.contains(beginning), "\(width): \(shown)")
            }
        }
        #expect(line.fitting(40) == "4321/98765, 12 failed  12 min 30 s left")
    }

    @Test func `a line that is too long is cut after one of its parts`() {
        let line = "shop  12 settling, 345 ready; 6789 done, 10 failed"
        #expect(Terminal.cut(line, 60) == line)
        #expect(Terminal.cut(line, 40) == "shop  12 settling, 345 ready ...")
        #expect(Terminal.cut(line, 24) == "shop  12 settling ...")
        #expect(Terminal.cut("and 1234 other inboxes", 9) == "and ...")
        for width in 1...60 { #expect(Terminal.cut(line, width).count <= width) }
    }

    @Test func `the locale of the C library decides whether there is more than ASCII`() {
        func hasUTF8(_ variables: [String: String]) -> Bool { Terminal.hasUTF8 { variables[$0] } }
        #expect(hasUTF8(["LANG": "de_DE.UTF-8"]) && hasUTF8(["LC_CTYPE": "C.utf8"]))
        #expect(!hasUTF8([:]) && !hasUTF8(["LC_ALL": "C", "LANG": "de_DE.UTF-8"]) && !hasUTF8(["LANG": "POSIX"]))
        #expect(hasUTF8(["LC_ALL": "", "LANG": "en_US.UTF-8"]))
        #expect(Terminal.ascii("██░ a → b (6×4) ≈ ä") == "##- a -> b (6x4) ~ ä")
    }

    /// Runs over some pictures on a pseudo-terminal.
    private func run(_ variables: String, columns: Int, _ options: String = "") async throws -> String {
        let runner = try CommandRunner()
        try runner.pipeline(size: "100%", format: "avif")
        let slow = try await SamplePicture.noise(width: 500, height: 400)
        for index in 1...4 { try runner.folder.write(slow, to: "in/\(index).jpg") }
        let line = "stty cols \(columns); \\\"$IMAGEMILL\\\" run p.yaml in -o out --jobs 1 \(options)"
        let result = try await runner.shell("\(variables) script -qec \"\(line)\" /dev/null")
        #expect(result.exit == 0, "\(result.output)")
        return result.output
    }

    @Test func `a dumb terminal gets no control sequences, and one without UTF-8 only ASCII`() async throws {
        let dumb = try await run("TERM=dumb LC_ALL=C.UTF-8", columns: 80, "-v")
        #expect(!dumb.contains("\u{1B}") && dumb.contains("1.jpg → out/1.avif (500×400"), "\(dumb)")
        let plain = try await run("TERM=xterm LC_ALL=C", columns: 80, "-v")
        #expect(plain.utf8.allSatisfy { $0 < 0x80 }, "\(plain)")
        #expect(plain.contains("1.jpg -> out/1.avif (500x400") && plain.contains("#") && plain.contains(" left"))
    }

    @Test func `forty columns hold a line of progress that is so`() async throws {
        let shown = try await run("TERM=xterm LC_ALL=C.UTF-8", columns: 40)
        let lines = shown.components(separatedBy: "\r\u{1B}[2K").filter { $0.contains("/4") }
        #expect(!lines.isEmpty, "\(shown)")
        for line in lines {
            #expect(line.count <= 39 && (!line.contains(".") || line.contains("/s  ")), "\(line)")
        }
    }
}
