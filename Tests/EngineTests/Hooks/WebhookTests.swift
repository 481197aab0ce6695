// The request that a receiver gets, and the times of further attempts.
import Foundation
import Pipeline
import Testing

@testable import Engine
@testable import System

@Suite struct WebhookTests {
    @Test func `the signature is HMAC-SHA256, as other programs compute it`() {
        // RFC 4231, test case 2.
        #expect(
            Digest.hmac(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            Webhook.signature(of: Array("b".utf8), time: 7, secret: [1]) == Digest.hmac(of: Array("7.b".utf8), key: [1])
        )
    }

    @Test func `the address is not among the arguments, which others may see, and cannot add an option`() {
        let record = HookRecord(
            number: 1, inbox: "in", event: "success", key: "k", body: Array("{}".utf8), attempts: 0, created: 0)
        let process = Webhook(url: "https://example.org/\"secret\\", secret: [1, 2], timeout: .seconds(9)).process(
            record, time: 5)
        #expect(
            !process.arguments.joined().contains("secret") && process.arguments.contains("9")
                && process.more == record.body)
        let lines = String(decoding: process.input, as: UTF8.self).split(separator: "\n")
        #expect(lines.first == #"url = "https://example.org/\"secret\\""#)
        #expect(lines.allSatisfy { $0.hasPrefix("header = \"") || $0.hasPrefix("url = \"") })
    }

    @Test func `only an answer from 200 to 299 means delivered`() {
        func failure(_ line: String?, code: CInt? = 0) -> String? {
            Webhook.failure(
                HookProcess.Ending(program: "curl", code: code, signal: code == nil ? 9 : 0, lastLine: line))
        }
        #expect([200, 202, 204, 299].allSatisfy { failure("\($0) ") == nil })
        let moved =
            ", which leads to another address; only 200 to 299 means delivered, so write the address of the receiver itself"
        for status in [301, 302, 304, 307] {
            #expect(failure("\(status) ") == "the receiver answered \(status)\(moved)")
        }
        for status in [100, 404, 500] { #expect(failure("\(status) ") == "the receiver answered \(status)") }
        #expect(failure("000 Could not connect", code: 7) == "the receiver cannot be asked: Could not connect")
        #expect(failure("200 The end is missing", code: 18) == "'curl' ended with 18: 200 The end is missing")
        #expect(failure(nil, code: nil) == "'curl' was ended by signal 9")
        #expect(failure(nil) == "'curl' does not say what the receiver has answered")
    }

    @Test func `a command is tried three times; a receiver for three days, less and less often`() {
        #expect((1...3).map { HookPatience.next(after: $0, age: 0, isCommand: true) } == [5_000, 10_000, nil])
        #expect(
            [1, 2, 5, 8, 40, 4000].map { HookPatience.next(after: $0, age: 1000, isCommand: false) } == [
                5_000, 10_000, 80_000, 600_000, 600_000, 600_000,
            ])
        #expect(HookPatience.next(after: 500, age: 3 * 86_400_000, isCommand: false) == nil)
    }
}
