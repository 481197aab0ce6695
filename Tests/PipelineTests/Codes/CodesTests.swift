import Testing

@testable import Pipeline

struct CodesTests {
    private static let failures = FailureCode.allCases.map { ($0.rawValue, $0.explanation) }
    private static let warnings = WarningCode.allCases.map { ($0.rawValue, $0.explanation) }

    @Test(arguments: failures + warnings)
    func `a code is words in lower case joined by hyphens`(code: String, explanation: String) {
        let words = code.split(separator: "-", omittingEmptySubsequences: false)
        #expect(
            words.allSatisfy {
                !$0.isEmpty && $0.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            })
    }

    @Test(arguments: failures + warnings)
    func `a code is explained in sentences`(code: String, explanation: String) {
        #expect(explanation.hasSuffix("."))
        #expect(explanation.first?.isUppercase == true)
        #expect(!explanation.contains("  "))
    }

    @Test
    func `no code and no explanation is there twice`() {
        let all = Self.failures + Self.warnings
        #expect(Set(all.map(\.0)).count == all.count)
        #expect(Set(all.map(\.1)).count == all.count)
    }

    @Test(arguments: FailureCode.allCases)
    func `a failure has a remedy: plain sentences that tell what to do`(code: FailureCode) {
        let verbs = [
            "Add", "Change", "Check", "Choose", "Convert", "Copy", "Divide", "Give", "Keep", "Look", "Make", "Name",
            "Open",
            "Please report", "Raise", "Remove", "Rename", "Repair", "Run", "Try",
        ]
        for place in [RemedyPlace.anywhere, .command, .millFile] {
            let remedy = code.remedy(in: place)
            #expect(verbs.contains { remedy.hasPrefix($0 + " ") } && remedy.hasSuffix("."))
            #expect(!remedy.contains("`") && !remedy.contains("  ") && remedy.count < 160)
        }
        #expect(!code.remedy(in: .command).contains("mill file") && !code.remedy(in: .millFile).contains("--"))
        #expect(code.explanation.hasPrefix(code.cause) && code.cause != code.explanation)
        #expect(code.explanation.filter { $0 != "`" }.hasSuffix(code.remedy(in: .anywhere)))
    }

    @Test
    func `what the world did may succeed later, what the file or the pipeline is will not`() {
        let retryable = FailureCode.allCases.filter(\.isRetryable).map(\.rawValue)
        #expect(
            retryable == [
                "not-found", "permission-denied", "changed-while-read", "timed-out", "worker-crashed", "out-of-memory",
                "disk-full",
                "output-not-writable", "io-error",
            ])
    }
}
