// The manual's pages of the commands, from the same declarations as `--help`.
import ArgumentParser
import Engine
import FoundationEssentials

/// A command as the parser describes it.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "short" ? "-" : "--") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let sectionTitle: String?
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?
    }

    let commandName: String
    let abstract: String?
    let discussion: String?
    let shouldDisplay: Bool?
    let arguments: [Argument]?
    let subcommands: [CommandDescription]?

    private struct Dump: Decodable { let command: CommandDescription }

    /// The program with all of its commands.
    static func all() throws -> CommandDescription {
        try JSONDecoder().decode(Dump.self, from: Data(RootCommand._dumpHelp().utf8)).command
    }
}

enum CommandPages {
    /// File names below `docs/man`, and what they hold.
    static func pages() throws -> [(name: String, text: String)] {
        let program = try CommandDescription.all()
        let commands = (program.subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
        var pages: [(name: String, text: String)] = [("imagemill.1", overview(program, commands))]
        for command in commands {
            let words = ["imagemill", command.commandName]
            pages.append(page(command, words: words))
            for inner in command.subcommands ?? [] where inner.commandName != "help" { pages.append(page(inner, words: words + [inner.commandName])) }
        }
        return pages
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
        page.paragraph((commands.map { "imagemill-\($0.commandName)(1)" } + ["imagemill-pipeline(5)", "imagemill-mill(5)"]).joined(separator: ", "))
        return page.text
    }

    /// - Parameter words: what the user types: the program and the command.
    private static func page(_ command: CommandDescription, words: [String]) -> (name: String, text: String) {
        let name = words.joined(separator: "-")
        var page = ManualPage(name, section: 1, version: imagemillVersion, summary: sentence(command.abstract))
        let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
        let positional = arguments.filter { $0.kind == "positional" }
        page.heading("Synopsis")
        let places = positional.map { argument in
            let text = "<\(argument.valueName ?? "")>" + (argument.isRepeating ? "..." : "")
            return argument.isOptional ? "[\(text)]" : text
        }
        page.paragraph((words + ["[OPTIONS]"] + places).joined(separator: " "))
        describe(command, in: &page)
        if !positional.isEmpty {
            page.heading("Arguments")
            for argument in positional { page.entry("<\(argument.valueName ?? "")>", [argument.abstract ?? ""]) }
        }
        let options = arguments.filter { $0.kind != "positional" }
        var titles: [String] = []
        for option in options where !titles.contains(option.sectionTitle ?? "") { titles.append(option.sectionTitle ?? "") }
        for title in titles {
            page.heading(title.isEmpty ? "Options" : title)
            for option in options where (option.sectionTitle ?? "") == title { list(option, in: &page) }
        }
        page.heading("See also")
        page.paragraph("imagemill(1), imagemill-pipeline(5), imagemill-mill(5)")
        return (name + ".1", page.text)
    }

    private static func list(_ option: CommandDescription.Argument, in page: inout ManualPage) {
        let names = (option.names ?? []).map(\.text).joined(separator: ", ")
        let value = option.kind == "option" ? " <\(option.valueName ?? "value")>" : ""
        let fallback = option.defaultValue.map { " Default: \($0)." } ?? ""
        page.entry(names + value, [(option.abstract ?? "") + (option.kind == "option" ? fallback : "")])
    }

    /// The discussion: paragraphs, and examples, whose lines are indented or begin with the word.
    private static func describe(_ command: CommandDescription, in page: inout ManualPage) {
        guard let discussion = command.discussion else { return }
        page.heading("Description")
        for block in discussion.split(separator: "\n\n") {
            let lines = block.split(separator: "\n").map(String.init)
            if lines.contains(where: { $0.hasPrefix("  ") || $0.hasPrefix("Example:") }) {
                page.verbatim(
                    lines.map { $0.hasPrefix("Example: ") ? String($0.dropFirst(9)) : $0.hasPrefix("         ") ? String($0.dropFirst(9)) : $0 })
            } else {
                page.paragraph(lines.joined(separator: " "))
            }
        }
    }

    private static func sentence(_ abstract: String?) -> String {
        let text = abstract ?? ""
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
