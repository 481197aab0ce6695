// The page of all commands in the reference, from the same declarations as `--help`.

enum CommandReference {
    /// The page in Markdown.
    static func page() throws -> String {
        let commands = try CommandDescription.all().shownCommands
        let sections = commands.flatMap { command in
            let words = ["imagemill", command.commandName]
            return [section(command, words)] + command.shownCommands.map { section($0, words + [$0.commandName]) }
        }
        let list = commands.map {
            "| [`\($0.commandName)`](#imagemill-\($0.commandName)) | \(escaped($0.abstract ?? "")) |\n"
        }.joined()
        let head = "# Commands\n\nWhat `imagemill COMMAND --help` and the manual (`man imagemill-run`) show too.\n\n"
        return head + "| command | what it does |\n|---|---|\n" + list + "\n" + sections.joined(separator: "\n")
    }

    private static func section(_ command: CommandDescription, _ words: [String]) -> String {
        var text =
            "## `\(words.joined(separator: " "))`\n\n\(escaped(command.abstract ?? ""))\n\n```text\n\(command.usage(words))\n```\n"
        for block in command.blocks {
            switch block {
            case .paragraph(let words): text += "\n\(escaped(words))\n"
            case .example(let lines): text += "\n```text\n\(lines.joined(separator: "\n"))\n```\n"
            }
        }
        for group in command.groups {
            text +=
                "\n**\(group.title)**\n\n" + group.arguments.map { "- `\($0.term)`: \(escaped($0.meaning))\n" }.joined()
        }
        return text
    }

    /// Outside of code, Markdown takes these characters for marks.
    private static func escaped(_ text: String) -> String {
        var isCode = false
        return text.map { character in
            if character == "`" { isCode.toggle() }
            return !isCode && "*<>|_[]".contains(character) ? "\\\(character)" : String(character)
        }.joined()
    }
}
