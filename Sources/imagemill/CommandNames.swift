// The mistakes in the command line that are found before any command reads it.
import ArgumentParser
import Engine
import Pipeline
import System

enum CommandNames {
    /// The names that other programs have for these commands.
    private static let synonyms = [
        "new": "init", "create": "init", "convert": "run", "resize": "run", "process": "run", "render": "run",
        "batch": "run", "validate": "check",
        "lint": "check", "start": "watch", "serve": "watch", "daemon": "watch", "service": "watch", "list": "stages",
        "explain": "plan",
        "inspect": "plan", "ps": "status",
    ]

    /// The mistake in the program's arguments, and what was probably meant; nil if a command can read them.
    static func complaint(about words: [String]) -> String? {
        guard let first = words.first, first != "version" else { return nil }
        let commands = RootCommand.configuration.subcommands.map { $0.configuration }
        let all = commands.compactMap { $0.commandName } + ["help"]
        if first.hasPrefix("-") { return misplacedOption(first) }
        if first == "help", words.count > 1, !all.contains(words[1]), !words[1].hasPrefix("-") {
            return complaint(about: Array(words.dropFirst()))
        }
        guard !all.contains(first) else { return repeatedOption(in: words) }
        let head = "there is no command '\(oneLine(first))'"
        if let synonym = synonyms[first] { return "\(head); did you mean '\(synonym)'?" }
        let known = commands.filter { $0.shouldDisplay }.compactMap { $0.commandName } + ["help"]
        if let command = words.dropFirst().first(where: { known.contains($0) }) {
            return "the command comes first: imagemill \(command) \(oneLine(first)) …"
        }
        let near = suggestion(for: first, among: known)
        if !near.isEmpty { return head + near }
        if first.contains("/") || first.contains(".") || ShippedPipelines.names.contains(first) {
            return "\(head); to render pictures: imagemill run PIPELINE PICTURES -o DIR"
        }
        return "\(head); the commands are \(known.joined(separator: ", "))"
    }

    /// An option of `run` without the command.
    private static func misplacedOption(_ word: String) -> String? {
        let name = String(word.prefix { $0 != "=" })
        func has(_ command: String?) -> Bool { options(of: command).contains { $0.texts.contains(name) } }
        guard has("run"), !has(nil) else { return nil }
        return "\(name) is an option of 'run'; the command comes first: imagemill run \(name) …"
    }

    /// An option with one value that is given twice; the parser would take the last one without a word.
    private static func repeatedOption(in words: [String]) -> String? {
        let given = words.dropFirst().prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0 != "-" }.map {
            $0.prefix { $0 != "=" }
        }
        guard Set(given).count < given.count || given.contains("-o") && given.contains("--output") else { return nil }
        for option in options(of: words[0]) where option.kind == "option" && !option.isRepeating {
            if given.count(where: { option.texts.contains(String($0)) }) > 1 {
                return "\(option.texts.last ?? "an option") is given twice; leave one of them out"
            }
        }
        return nil
    }

    /// The complaint about a word that the command's parser does not take for one of its options; nil if it takes all of
    /// them. Only asked after it has refused the words, since to describe the commands takes a while.
    static func complaint(aboutOptionsIn words: [String]) -> String? {
        guard let command = words.first else { return nil }
        let own = options(of: command).flatMap(\.texts)
        guard !own.isEmpty else { return nil }
        for word in words.dropFirst().prefix(while: { $0 != "--" }) where word.hasPrefix("-") && word != "-" {
            let name = String(word.prefix { $0 != "=" })
            guard !own.contains(name), !["--help", "-h", "--version"].contains(name) else { continue }
            if isFileName(word) {
                return "'\(oneLine(word))' begins like an option; for the file of that name write ./\(oneLine(word))"
            }
            guard name.hasPrefix("--"), suggestion(for: name, among: own).isEmpty else { continue }
            let others = RootCommand.configuration.subcommands.compactMap { $0.configuration.commandName }.filter {
                $0 != command && options(of: $0).contains { $0.texts.contains(name) }
            }
            let place = others.isEmpty ? "" : "; \(listed(others)) \(others.count == 1 ? "has" : "have") it"
            return "'\(command)' has no option \(oneLine(name))\(place); imagemill \(command) --help lists its own"
        }
        return nil
    }

    private static func isFileName(_ word: String) -> Bool {
        let path = RawArguments.paths([word])[0]
        return (try? FileSystem.status(path, followLinks: false))??.kind != nil
            || isNamedLikeAPicture(path, allowed: Set(SourceFormat.onRequest))
    }

    /// - Parameter command: nil for the program itself.
    private static func options(of command: String?) -> [CommandDescription.Argument] {
        guard let program = try? CommandDescription.all() else { return [] }
        guard let command else { return program.arguments ?? [] }
        return program.subcommands?.first { $0.commandName == command }?.arguments ?? []
    }
}

extension CommandDescription.Argument {
    /// `-o`, `--output`.
    fileprivate var texts: [String] { (names ?? []).map(\.text) }
}
