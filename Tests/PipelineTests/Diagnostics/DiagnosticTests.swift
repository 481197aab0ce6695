import Stages
import Testing

@testable import Pipeline

struct DiagnosticTests {
    @Test(arguments: Fixture.all)
    func `each fixture brings exactly the messages that are below it`(fixture: Fixture) {
        #expect(messages(of: fixture.input, file: fixture.name + ".yaml") == fixture.expected)
    }

    @Test(arguments: Fixture.all)
    func `line ends of Windows change no message`(fixture: Fixture) {
        let input = fixture.input.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        #expect(messages(of: input, file: "a.yaml") == messages(of: fixture.input, file: "a.yaml"))
    }

    @Test
    func `the fixtures are there`() {
        #expect(Fixture.all.count >= 30)
    }

    @Test
    func `mistakes are in the order of the text`() {
        let items = [
            Diagnostic(Position(line: 2, column: 1), "second"), Diagnostic(Position(line: 1, column: 3), "first"),
        ]
        let diagnostics = Diagnostics(file: "a.yaml", text: "one\ntwo", items: items)
        #expect(diagnostics.items.map(\.message) == ["first", "second"])
        #expect(
            diagnostics.description == "a.yaml:1:3: error: first\n  one\n    ^\na.yaml:2:1: error: second\n  two\n  ^")
    }

    @Test
    func `a tab before the place stays a tab, so that the caret is below it`() {
        let diagnostics = Diagnostics(
            file: "a", text: "a:\t b", items: [Diagnostic(Position(line: 1, column: 5), "wrong")])
        #expect(diagnostics.description == "a:1:5: error: wrong\n  a:\t b\n    \t ^")
    }

    @Test
    func `columns count Unicode scalars, so that umlauts before the place move nothing`() {
        let diagnostics = Diagnostics(
            file: "a", text: "größe: ä", items: [Diagnostic(Position(line: 1, column: 8), "wrong")])
        #expect(diagnostics.description == "a:1:8: error: wrong\n  größe: ä\n         ^")
    }

    @Test
    func `a place behind the last line shows no line`() {
        let diagnostics = Diagnostics(file: "a", text: "x", items: [Diagnostic(Position(line: 9, column: 1), "wrong")])
        #expect(diagnostics.description == "a:9:1: error: wrong")
    }

    private func messages(of text: String, file: String) -> String {
        do throws(Diagnostics) {
            _ = try PipelineFile(text: text, file: file, catalogue: .all)
            return "no mistake"
        } catch {
            return error.description
        }
    }
}
