// `policy`: what each warning means for a source.

/// The action on a warning.
package enum WarningAction: String, ParameterWord, Codable {
    /// It is not reported.
    case ignore
    case warn
    /// The source fails.
    case fail
}

/// The actions on warnings; one that is not named has its usual action.
package struct WarningPolicy: Hashable, Sendable, ParameterMapping {
    private var actions: [WarningCode: WarningAction] = [:]

    /// The warnings that have an action. What comes of a name that is taken, `collision` says before it is taken.
    private static let codes = WarningCode.allCases.filter { $0 != .nameVersioned && $0 != .nameOverwritten }

    package init() {}

    package init(_ p: inout Parameters) {
        for code in Self.codes {
            let action: WarningAction? = p.optional(code.rawValue, code.explanation)
            actions[code] = action
        }
    }

    /// - Parameter words: actions by codes.
    /// - Returns: nil if one of them is unknown.
    package init?(words: [String: String]) {
        for (word, action) in words {
            guard let code = Self.codes.first(where: { $0.rawValue == word }),
                let action = WarningAction(rawValue: action)
            else { return nil }
            actions[code] = action
        }
    }

    package static var owner: String { "'policy'" }
    package static var expectation: String { "a mapping such as { upscaled: fail }" }
    package static var placeholder: WarningPolicy { WarningPolicy() }
    package var written: String {
        let items = words.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return items.isEmpty ? "{}" : "{ " + items.joined(separator: ", ") + " }"
    }

    package subscript(code: WarningCode) -> WarningAction { actions[code] ?? code.usualAction }

    package var isEmpty: Bool { actions.isEmpty }

    /// The actions by codes.
    package var words: [String: String] {
        Dictionary(uniqueKeysWithValues: actions.map { ($0.key.rawValue, $0.value.rawValue) })
    }

    /// This policy, for what a stronger one leaves open.
    package func overridden(by stronger: WarningPolicy) -> WarningPolicy {
        var policy = self
        policy.actions.merge(stronger.actions) { $1 }
        return policy
    }

    /// The warnings that are to be reported.
    /// - Parameter stage: when they came up.
    /// - Throws: `Failure` with the first one that costs the source.
    package func judged(_ warnings: [Warning], stage: String) throws(Failure) -> [Warning] {
        if let reason = warnings.first(where: { self[$0.code] == .fail }) {
            if reason.code == .targetMissed { throw Failure(.targetNotReached, stage: "save", reason.message) }
            throw Failure(
                .refusedByPolicy, stage: stage, "'\(reason.code.rawValue)' is a failure here: \(reason.message)")
        }
        return warnings.filter { self[$0.code] != .ignore }
    }
}

extension WarningCode {
    /// The action if no policy names it.
    var usualAction: WarningAction { self == .targetMissed ? .fail : .warn }
}

extension WarningPolicy {
    /// Reads `upscaled=fail,no-profile=ignore`.
    /// - Throws: a sentence.
    package init(option text: String) throws(WrittenPolicyMistake) {
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = item.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard words.count == 2 else {
                throw WrittenPolicyMistake("expected a warning and an action such as upscaled=fail, found '\(item)'")
            }
            guard let code = Self.codes.first(where: { $0.rawValue == words[0] }) else {
                if WarningCode(rawValue: words[0]) != nil {
                    throw WrittenPolicyMistake("'\(words[0])' has no action; use 'collision' instead")
                }
                let hint = suggestion(for: words[0], among: Self.codes.map(\.rawValue))
                throw WrittenPolicyMistake("no warning is called '\(words[0])'\(hint)")
            }
            guard let action = WarningAction(rawValue: words[1]) else {
                throw WrittenPolicyMistake(
                    "expected \(WarningAction.expectation) after '\(words[0])=', found '\(words[1])'")
            }
            guard actions.updateValue(action, forKey: code) == nil else {
                throw WrittenPolicyMistake("'\(words[0])' is there twice")
            }
        }
    }
}

extension WarningPolicy: Codable {
    /// - Throws: `DecodingError` for a code or an action that this program does not know: it could not be followed.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let policy = WarningPolicy(words: try container.decode([String: String].self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "an unknown warning or action")
        }
        self = policy
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(words)
    }
}

/// A mistake in a policy that was given as an option.
package struct WrittenPolicyMistake: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
