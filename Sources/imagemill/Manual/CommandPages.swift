// The manual's pages of the commands, from the same declarations as `--help`.
import Engine

enum CommandPages {
    /// File names below `docs/man`, and what they hold.
    static func pages() throws -> [(name: String, text: String)] {
        let program = try CommandDescription.all()
        let pages = program.shownCommands.flatMap { command in
            let words = ["imagemill", command.commandName]
            return [page(command, words: words)]
                + command.shownCommands.map { page($0, words: words + [$0.commandName]) }
        }
        return [("imagemill.1", overview(program, program.shownCommands))] + pages
    }

    private static func overview(_ program: CommandDescription, _ commands: [CommandDescription]) -> String {
        var page = ManualPage("imagemill", section: 1, version: imagemillVersion, summary: sentence(program.abstract))
        page.heading("Synopsis")
        page.paragraph("imagemill COMMAND [OPTIONS]")
        page.heading("Commands")
        for command in commands { page.entry(command.commandName, [command.abstract ?? ""]) }
        describe(program, in: &page)
        page.heading("Environment")
        page.entry("NO_COLOR", ["No colors, unless --color says otherwise."])
        page.entry("STATE_DIRECTORY, XDG_STATE_HOME", ["The state folder of a drop folder whose mill file names none."])
        page.heading("See also")
        let pages = commands.map { "imagemill-\($0.commandName)(1)" } + ["imagemill-pipeline(5)", "imagemill-mill(5)"]
        page.paragraph(pages.joined(separator: ", "))
        return page.text
    }

    /// - Parameter words: what the user types: the program and the command.
    private static func page(_ command: CommandDescription, words: [String]) -> (name: String, text: String) {
        let name = words.joined(separator: "-")
        var page = ManualPage(name, section: 1, version: imagemillVersion, summary: sentence(command.abstract))
        page.heading("Synopsis")
        page.paragraph(command.usage(words))
        describe(command, in: &page)
        for group in command.groups {
            page.heading(group.title)
            for argument in group.arguments { page.entry(argument.term, [argument.meaning]) }
        }
        page.heading("See also")
        page.paragraph("imagemill(1), imagemill-pipeline(5), imagemill-mill(5)")
        return (name + ".1", page.text)
    }

    private static func describe(_ command: CommandDescription, in page: inout ManualPage) {
        guard !command.blocks.isEmpty else { return }
        page.heading("Description")
        for block in command.blocks {
            switch block {
            case .paragraph(let text): page.paragraph(text)
            case .example(let lines): page.verbatim(lines)
            }
        }
    }

    private static func sentence(_ abstract: String?) -> String {
        let text = abstract ?? ""
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
