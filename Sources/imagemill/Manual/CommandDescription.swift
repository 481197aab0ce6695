// The commands as the parser describes them, for the manual and the reference.
import ArgumentParser
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

    /// A part of the longer description.
    enum Block {
        case paragraph(String)
        case example([String])
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

extension CommandDescription {
    /// The commands of this one that users see.
    var shownCommands: [CommandDescription] {
        (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
    }

    /// - Parameter words: what the user types: the program and the command.
    func usage(_ words: [String]) -> String {
        let places = (arguments ?? []).filter { $0.shouldDisplay && $0.kind == "positional" }.map { argument in
            let text = argument.term + (argument.isRepeating ? "..." : "")
            return argument.isOptional ? "[\(text)]" : text
        }
        return (words + ["[OPTIONS]"] + places).joined(separator: " ")
    }

    /// Arguments and options below their titles, in the order of `--help`.
    var groups: [(title: String, arguments: [Argument])] {
        var groups: [(title: String, arguments: [Argument])] = []
        let shown = (arguments ?? []).filter(\.shouldDisplay)
        for argument in shown.filter({ $0.kind == "positional" }) + shown.filter({ $0.kind != "positional" }) {
            let title = argument.kind == "positional" ? "Arguments" : argument.sectionTitle ?? "Options"
            if let index = groups.firstIndex(where: { $0.title == title }) {
                groups[index].arguments.append(argument)
            } else {
                groups.append((title, [argument]))
            }
        }
        return groups
    }

    /// The discussion: paragraphs, and examples, whose lines are indented or begin with the word.
    var blocks: [Block] {
        (discussion ?? "").split(separator: "\n\n").map { block in
            let lines = block.split(separator: "\n").map(String.init)
            guard lines.contains(where: { $0.hasPrefix("  ") || $0.hasPrefix("Example:") }) else {
                return .paragraph(lines.joined(separator: " "))
            }
            return .example(
                lines.map { $0.hasPrefix("Example: ") || $0.hasPrefix("         ") ? String($0.dropFirst(9)) : $0 })
        }
    }
}

extension CommandDescription.Argument {
    /// As the user types it: `<sources>`, or `-o, --output <dir>`.
    var term: String {
        guard kind != "positional" else { return "<\(valueName ?? "")>" }
        let value = kind == "option" ? " <\(valueName ?? "value")>" : ""
        return (names ?? []).map(\.text).joined(separator: ", ") + value
    }

    var meaning: String {
        let fallback = kind == "option" ? defaultValue.map { " Default: \($0)." } ?? "" : ""
        return (abstract ?? "") + fallback
    }
}
