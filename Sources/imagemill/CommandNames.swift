// What is said of a command that does not exist.
import ArgumentParser
import Pipeline

enum CommandNames {
    /// What other programs call these commands.
    private static let synonyms = [
        "new": "init", "create": "init", "convert": "run", "resize": "run", "process": "run", "render": "run", "batch": "run", "validate": "check",
        "lint": "check", "start": "watch", "serve": "watch", "daemon": "watch", "service": "watch", "list": "stages", "explain": "plan",
        "inspect": "plan", "ps": "status",
    ]

    /// What is wrong with the first argument of the program, and what was probably meant; nil if it is a command or an option.
    static func complaint(about word: String) -> String? {
        let commands = RootCommand.configuration.subcommands.map { $0.configuration }
        let all = commands.compactMap { $0.commandName } + ["help"]
        let known = commands.filter { $0.shouldDisplay }.compactMap { $0.commandName } + ["help"]
        guard !word.hasPrefix("-"), !all.contains(word), word != "version" else { return nil }
        let head = "there is no command '\(oneLine(word))'"
        if let synonym = synonyms[word] { return "\(head); did you mean '\(synonym)'?" }
        let near = suggestion(for: word, among: known)
        if !near.isEmpty { return head + near }
        if word.contains("/") || word.contains(".") || ShippedPipelines.names.contains(word) {
            return "\(head); to render pictures: imagemill run PIPELINE PICTURES -o DIR"
        }
        return "\(head); the commands are \(known.joined(separator: ", "))"
    }
}
