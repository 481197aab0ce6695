// The parts of a mill file that are looked up by an inbox's name.
package import Pipeline
import Synchronization
import System

/// How often the sources of each inbox are attempted. For any thread.
final class RetryPolicies: Sendable {
    private let policies: Mutex<[String: RetryPolicy]>

    init(_ mill: LoadedMill) { policies = Mutex(Self.policies(of: mill)) }

    /// The retry policy of an inbox that is no longer in the mill file: one attempt.
    subscript(inbox: String) -> RetryPolicy { policies.withLock { $0[inbox] ?? RetryPolicy(attempts: 1) } }

    func set(_ mill: LoadedMill) { policies.withLock { $0 = Self.policies(of: mill) } }

    private static func policies(of mill: LoadedMill) -> [String: RetryPolicy] {
        Dictionary(mill.inboxes.map { ($0.settings.name, $0.retryPolicy) }) { first, _ in first }
    }
}

extension LoadedMill.Inbox {
    var retryPolicy: RetryPolicy { RetryPolicy(attempts: settings.attempts) }
}

extension LoadedMill {
    /// The inboxes' names by their paths.
    var namesByPath: [BytePath: String] {
        Dictionary(inboxes.map { ($0.path, $0.settings.name) }) { first, _ in first }
    }

    /// How much one source may cost, and all workers together.
    package var limits: Limits { file.limits(memory: Machine.memory / 2) }
}
