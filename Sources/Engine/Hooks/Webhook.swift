// A webhook: the document, sent by POST with a signature.
import Glibc
import Pipeline
import System

/// A request to a receiver, made by curl, which knows about TLS, names and proxies.
struct Webhook {
    let url: String
    /// The key of the signature; nil for none.
    let secret: [UInt8]?
    let timeout: Duration

    /// - Parameters:
    ///   - body: the document.
    ///   - time: seconds since 1970. It is signed too, so that an old request is not taken for a new one.
    func process(_ record: HookRecord, time: Int) -> HookProcess {
        var headers = [
            "Content-Type: application/json", "User-Agent: imagemill/\(imagemillVersion)",
            "X-Imagemill-Event: \(record.event)",
            "X-Imagemill-Delivery: \(record.key)", "X-Imagemill-Timestamp: \(time)", "Expect:",
        ]
        if let secret {
            headers.append(
                "X-Imagemill-Signature: sha256=\(Self.signature(of: record.body, time: time, secret: secret))")
        }
        let options = ["url = \"\(Self.escaped(url))\""] + headers.map { "header = \"\(Self.escaped($0))\"" }
        // The address may hold a secret, which a list of processes would show; so it comes on the standard input.
        let arguments = [
            "curl", "--config", "-", "--silent", "--write-out", "%{http_code} %{errormsg}", "--proto", "=http,https",
            "--output", "/dev/null",
            "--max-time", "\(max(1, timeout.inNanoseconds / 1_000_000_000))", "--request", "POST", "--data-binary",
            "@/dev/fd/3",
        ]
        return HookProcess(
            arguments: arguments, input: Array((options.joined(separator: "\n") + "\n").utf8), more: record.body,
            timeout: timeout + .seconds(5), judge: Self.failure)
    }

    /// Only an answer from 200 to 299 says that the receiver has the event.
    static func failure(_ ending: HookProcess.Ending) -> String? {
        guard ending.code != nil, let line = ending.lastLine, let status = Int(line.prefix(3)) else {
            return ending.failure ?? "'\(ending.program)' does not say what the receiver has answered"
        }
        switch status {
        case 0: return "the receiver cannot be asked: \(line.dropFirst(4))"
        case 200...299: return ending.failure
        case 300...399:
            return "the receiver answered \(status), which leads to another address; only 200 to 299 means delivered, "
                + "so write the address of the receiver itself"
        default: return "the receiver answered \(status)"
        }
    }

    /// The problem, and its remedy, if requests cannot be made on this system; nil if they can.
    static var missingProgram: String? {
        Program(name: "curl").problem.map { "webhooks are sent by curl, and \($0); install the package curl" }
    }

    /// Bytes that a key should have at least: a shorter one can be guessed.
    static let shortestKey = 16

    /// The key of the signatures, without white space at its end.
    static func key(in file: BytePath) throws(SystemError) -> [UInt8] {
        let key = try OpenFile.contents(file, limit: 4096).reversed().drop { $0 <= 0x20 }.reversed()
        guard !key.isEmpty else {
            throw SystemError("sign with '\(file.printable)'", code: EINVAL, because: "there is no key in it")
        }
        return Array(key)
    }

    /// HMAC-SHA256 of the time, a point, and the body.
    static func signature(of body: [UInt8], time: Int, secret: [UInt8]) -> String {
        Digest.hmac(of: Array("\(time).".utf8) + body, key: secret)
    }

    private static func escaped(_ text: String) -> String {
        text.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }.joined()
    }
}
