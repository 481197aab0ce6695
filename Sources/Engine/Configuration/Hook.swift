// A hook of an inbox, ready to be called with events.
package import Pipeline

/// An event for which an inbox can have a hook.
package enum HookEvent: String, CaseIterable, Sendable, Codable {
    case success, failure, pause
}

/// A command or a webhook.
package struct Hook: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case command([String])
        case webhook(url: String, secret: BytePath?)

        /// For people, without what may be secret.
        package var masked: String {
            switch self {
            case .command(let words): MillFile.masked(command: words)
            case .webhook(let url, _): MillFile.masked(address: url)
            }
        }
    }

    package let action: Action
    package let timeout: Duration

    /// - Parameter resolve: gives the path of a file that the mill file names.
    init(_ settings: HookSettings, resolve: (WrittenPath) -> BytePath) {
        timeout = settings.timeout
        switch settings.action {
        case .command(let program, let arguments):
            // A program with a slash in its path is beside the mill file; one without is looked for where programs are.
            action = .command([program.text.contains("/") ? resolve(program).text : program.text] + arguments)
        case .webhook(let url, let secret): action = .webhook(url: url, secret: secret.map(resolve))
        }
    }

    init(action: Action, timeout: Duration) { (self.action, self.timeout) = (action, timeout) }
}

extension MillInbox {
    /// The settings of each event that has a hook.
    var hooks: [(event: HookEvent, settings: HookSettings)] {
        let all: [(HookEvent, HookSettings?)] = [
            (.success, self.onSuccess), (.failure, self.onFailure), (.pause, self.onPause),
        ]
        return all.compactMap { event, settings in settings.map { (event, $0) } }
    }
}
