// Pictures of the documentation must show what there is now: the commands of their pages, the dashboard, the report.
import Foundation
import TestSupport
import Testing

@Suite struct ShotTests {
    private static let inputs = "/usr/bin/python3 '\(Checkout.path)/docs/shots/inputs'"

    @Test func `no picture is older than what it shows`() async throws {
        let result = try await CommandRunner().shell("\(Self.inputs) check")
        #expect(result.exit == 0, "\(result.errors)")
    }

    @Test(arguments: [
        (
            "sed -i 's/width: 180/width: 181/' docs/guide/contact-sheets.md", "docs/guide/contact-sheets.md",
            "guide-pictures"
        ),
        ("echo ' ' >> docs/guide/samples/lake.svg", "docs/guide/samples/lake.svg", "guide-pictures"),
        ("echo >> Sources/imagemill/Daemon/Dashboard/dashboard.html", "dashboard.html", "shots"),
        ("echo >> Sources/imagemill/Report/report.css", "report.css", "shots"),
        ("echo >> pipelines/watermark.yaml", "pipelines/watermark.yaml", "shots"),
    ])
    func `a picture is older after a change of what it shows, and the task that makes it anew is named`(
        change: String, file: String, task: String
    ) async throws {
        let runner = try await copy()
        let changed = try await runner.shell("\(change) && \(Self.inputs) check .")
        #expect(changed.exit == 1, "\(changed.errors)")
        let lines = changed.errors.split(separator: "\n").filter {
            $0.contains(file) && $0.hasSuffix("run `make \(task)`")
        }
        #expect(!lines.isEmpty, "\(changed.errors)")
    }

    @Test func `a change of a page's prose makes no picture older`() async throws {
        let runner = try await copy()
        let result = try await runner.shell(
            "sed -i 's/^All pictures/Every picture/' docs/guide/contact-sheets.md && \(Self.inputs) check .")
        #expect(result.exit == 0, "\(result.errors)")
    }

    @Test func `a picture that nothing shows, and one that is missing, are found`() async throws {
        let runner = try await copy()
        let result = try await runner.shell(
            "mv docs/images/masks.png docs/images/other.png && \(Self.inputs) check .")
        #expect(result.errors.contains("docs/images/masks.png: it is missing; run `make guide-pictures`"))
        #expect(result.errors.contains("docs/images/other.png: nothing says what it is made from"))
    }

    @Test func `the terminal in README shows what the program prints; if this fails, run 'make shots'`() async throws {
        let runner = try CommandRunner()
        let made = try await runner.shell(
            "'\(Checkout.path)/docs/shots/run' '\(CommandRunner.executable)' made terminal.png")
        #expect(made.exit == 0, "\(made.errors)")
        let printed = String(decoding: try runner.bytes("made/terminal.txt"), as: UTF8.self)
        #expect(try Self.timeless(printed) == Self.timeless(Checkout.text("docs/images/terminal.txt")))
    }

    /// A text without seconds and rates.
    private static func timeless(_ text: String) throws -> String {
        text.replacing(/[0-9.]+ s \([0-9.]+\/s\)/, with: "… s")
    }

    /// A copy of what pictures are made from.
    private func copy() async throws -> CommandRunner {
        let runner = try CommandRunner()
        let copied = try await runner.shell(
            "cd '\(Checkout.path)' && cp -r --parents docs pipelines Sources/imagemill '\(runner.folder.path("."))'")
        try #require(copied.exit == 0, "\(copied.errors)")
        return runner
    }
}
