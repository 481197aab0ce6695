// The effect of a policy on warnings, and the way in which it is written.
import Foundation
import Testing

@testable import Pipeline

@Suite struct WarningPolicyTests {
    private func policy(_ words: [String: String]) throws -> WarningPolicy { try #require(WarningPolicy(words: words)) }

    private let warnings = [
        Warning(.upscaled, "'a' enlarges"), Warning(.noProfile, "none"), Warning(.emptyText, "{title} has no value"),
    ]

    @Test func `a warning that is not named stays, one that is ignored goes`() throws {
        #expect(try policy([:]).judged(warnings, stage: "plan") == warnings)
        #expect(
            try policy(["no-profile": "ignore"]).judged(warnings, stage: "plan").map(\.code) == [.upscaled, .emptyText])
        #expect(try policy(["upscaled": "warn"]).judged(warnings, stage: "plan") == warnings)
    }

    @Test func `the first warning that fails is the failure, with its words`() {
        let failure = #expect(throws: Failure.self) {
            _ = try policy(["empty-text": "fail", "no-profile": "fail"]).judged(warnings, stage: "render")
        }
        #expect(failure == Failure(.refusedByPolicy, stage: "render", "'no-profile' is a failure here: none"))
    }

    @Test func `a stronger policy replaces single actions`() throws {
        let both = try policy(["upscaled": "fail", "no-profile": "ignore"]).overridden(by: policy(["upscaled": "warn"]))
        #expect(both.words == ["upscaled": "warn", "no-profile": "ignore"])
        #expect(both.written == "{ no-profile: ignore, upscaled: warn }")
    }

    @Test func `a plan's policy is read as it was written, and refused if it cannot be followed`() throws {
        let known = try policy(["upscaled": "fail"])
        #expect(try JSONDecoder().decode(WarningPolicy.self, from: JSONEncoder().encode(known)) == known)
        for text in [#"{"upscaled":"stop"}"#, #"{"upscale":"fail"}"#] {
            #expect(throws: DecodingError.self) {
                _ = try JSONDecoder().decode(WarningPolicy.self, from: Data(text.utf8))
            }
        }
    }

    @Test func `an option is read as it is written, and a mistake in it is said`() throws {
        #expect(try WarningPolicy(option: "upscaled=fail,no-profile=ignore").words.count == 2)
        for (text, message) in [
            ("upscaled", "expected a warning and an action such as upscaled=fail, found 'upscaled'"),
            ("upscaled=stop", "expected one of ignore, warn, fail after 'upscaled=', found 'stop'"),
            ("upscale=fail", "no warning is called 'upscale'; did you mean 'upscaled'?"),
            ("upscaled=fail,upscaled=warn", "'upscaled' is there twice"),
            ("name-versioned=fail", "'name-versioned' has no action; use 'collision' instead"),
            ("", "expected a warning and an action such as upscaled=fail, found ''"),
        ] {
            let mistake = #expect(throws: WrittenPolicyMistake.self) { _ = try WarningPolicy(option: text) }
            #expect(mistake?.description == message)
        }
    }

    @Test func `a pipeline's policy names warnings, and says which are none`() throws {
        let text = """
            policy: { upscaled: fail, no-profil: ignore, empty-text: stop }
            renditions: { a: { save: { format: png } } }
            """
        let mistakes = #expect(throws: Diagnostics.self) {
            _ = try PipelineFile(text: text, file: "p.yaml", catalogue: StageCatalogue([]))
        }
        #expect(
            mistakes?.items.map(\.message).sorted() == [
                "expected one of ignore, warn, fail, found 'stop'",
                "unknown key 'no-profil' in 'policy'; did you mean 'no-profile'?",
            ])
        let right = try PipelineFile(
            text: "policy: { upscaled: fail }\nrenditions: { a: { save: { format: png } } }", file: "p.yaml",
            catalogue: StageCatalogue([]))
        #expect(right.policy.words == ["upscaled": "fail"])
    }
}
