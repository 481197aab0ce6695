/// A hook: the command or the webhook that gets the events of an inbox.
package struct HookSettings: ParameterValue, Equatable {
    package enum Action: Equatable, Sendable {
        /// The program and its arguments; no shell reads them. The program is a path if it has a slash.
        case command(WrittenPath, [String])
        /// - secret: a file with the key of the signatures.
        case webhook(url: String, secret: WrittenPath?)
    }

    package let action: Action
    /// How long it may take.
    package let timeout: Duration
    package let position: Position

    package static let usualTimeout = Duration.seconds(30)

    package static let expectation =
        "a command such as [notify-send, done], { command: [...], timeout: 1m }, or { webhook: https://example.org/hook, secret: FILE }"
    package static var schema: JSONValue { ["anyOf": [Command.schema, Group.mappingSchema()]] }
    package static var placeholder: HookSettings {
        HookSettings(action: Command.placeholder.action, timeout: usualTimeout, position: Position(line: 1, column: 1))
    }
    package var written: String { "[]" }

    package static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> HookSettings? {
        if case .list = node.content {
            return Command.read(node, &log).map {
                HookSettings(action: $0.action, timeout: usualTimeout, position: node.position)
            }
        }
        guard case .mapping = node.content, let group = Parameters.read(Group.self, from: node, owner: "the hook", &log)
        else { return nil }
        switch (group.command, group.webhook) {
        case (let command?, nil):
            return HookSettings(action: command.action, timeout: group.timeout, position: node.position)
        case (nil, let url?):
            if ["http://", "https://"].contains(where: { url.hasPrefix($0) }),
                url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            {
                return HookSettings(
                    action: .webhook(url: url, secret: group.secret), timeout: group.timeout, position: node.position)
            }
            log.problem(node.position, "expected an address that begins with http:// or https://, found '\(url)'")
        case (nil, nil), (_?, _?): log.problem(node.position, "a hook has either a 'command' or a 'webhook'")
        }
        return nil
    }

    private struct Group: ParameterGroup {
        let command: Command?
        let webhook: String?
        let secret: WrittenPath?
        let timeout: Duration

        init(_ p: inout Parameters) {
            command = p.optional(
                "command",
                "The program and its arguments, such as [/usr/local/bin/notify, --quiet]. It gets the report on its standard input."
            )
            webhook = p.optional("webhook", "An address that the report is sent to, by POST. Needs curl.")
            secret = p.optional("secret", "A file with the key of the signature in 'X-Imagemill-Signature'.")
            timeout = p.optional("timeout", HookSettings.usualTimeout, "How long it may take.")
        }
    }

    private struct Command: ParameterValue {
        let program: WrittenPath
        let arguments: [String]

        var action: Action { .command(program, arguments) }

        static var expectation: String { "a list with a program and its arguments" }
        static var schema: JSONValue { ["type": "array", "minItems": 1, "items": ["type": "string"]] }
        static var placeholder: Command { Command(program: .placeholder, arguments: []) }
        var written: String { "[]" }

        static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Command? {
            guard case .list(let items) = node.content, !items.isEmpty else { return nil }
            let words = items.compactMap(\.text)
            guard words.count == items.count, words[0] != "", words.allSatisfy({ !$0.utf8.contains(0) }) else {
                log.problem(node.position, "expected \(expectation), each a text")
                return nil
            }
            return Command(
                program: WrittenPath(text: words[0], position: items[0].position), arguments: Array(words.dropFirst()))
        }
    }
}
