// The manual and the completions, tried in the programs that read them.
import Foundation
import TestSupport
import Testing

@Suite struct ManualTests {
    private static let pages =
        ((try? FileManager.default.contentsOfDirectory(atPath: Checkout.path + "/docs/man")) ?? []).sorted()
    private static func has(_ program: String) -> Bool {
        ["/usr/bin/", "/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + program) }
    }

    @Test func `every command and both files have a page`() async throws {
        let commands = try await CommandRunner().run("--help").output.split(separator: "SUBCOMMANDS:\n").last ?? ""
        let names = commands.matches(of: #/\n  ([a-z]+) +[A-Z]/#).map { String($0.output.1) } + ["run"]
        #expect(names.count > 10)
        for name in names { #expect(Self.pages.contains("imagemill-\(name).1"), "\(name)") }
        #expect(
            Self.pages.contains("imagemill.1") && Self.pages.contains("imagemill-pipeline.5")
                && Self.pages.contains("imagemill-mill.5"))
    }

    @Test(.enabled(if: has("groff")))
    func `groff has nothing to say against a page, and shows options and examples`() async throws {
        let runner = try CommandRunner()
        for page in Self.pages {
            let result = try await runner.shell("groff -man -Tutf8 -ww '\(Checkout.path)/docs/man/\(page)' | col -b")
            #expect(result.exit == 0 && result.errors.isEmpty, "\(page): \(result.errors)")
        }
        let run = try await runner.shell(
            "groff -man -Tutf8 '\(Checkout.path)/docs/man/imagemill-run.1' | sed 's/\\x1b\\[[0-9;]*m//g' | col -bx")
        #expect(
            run.output.contains("--exclude <exclude>")
                && run.output.contains("imagemill run web-photos photos/ -o out/"), "\(run.output)")
    }

    @Test
    func `completions are accepted by the shells that are installed, and bash completes commands and options`()
        async throws
    {
        let runner = try CommandRunner()
        for (shell, check) in [("bash", "bash -n"), ("zsh", "zsh -n"), ("fish", "fish -n")] {
            let made = try await runner.run("--generate-completion-script", shell)
            #expect(made.exit == 0 && !made.output.isEmpty)
            try runner.folder.write(made.output, to: "completion.\(shell)")
            guard Self.has(shell) else { continue }
            let result = try await runner.shell("\(check) completion.\(shell)")
            #expect(result.exit == 0, "\(shell): \(result.errors)")
        }
        let script = """
            source completion.bash; shopt -s extglob
            COMP_WORDS=(imagemill wa); COMP_CWORD=1; COMP_LINE='imagemill wa'; COMP_POINT=12
            _imagemill; echo "${COMPREPLY[@]}"
            """
        try runner.folder.write(script, to: "try.bash")
        let result = try await runner.shell("bash try.bash")
        #expect(result.output.contains("watch"), "\(result.output)\(result.errors)")
        try runner.folder.write(
            script.replacing(
                "(imagemill wa); COMP_CWORD=1; COMP_LINE='imagemill wa'; COMP_POINT=12",
                with: "(imagemill stages nine); COMP_CWORD=2; COMP_LINE='imagemill stages nine'; COMP_POINT=21"),
            to: "stage.bash")
        let stage = try await runner.shell("bash stage.bash")
        for name in ["nine-slice", "save"] {
            #expect(stage.output.contains(" \(name)"), "\(stage.output)\(stage.errors)")
        }
    }
}
