// `NAME.error.json`, beside a source in `failed/`: why it stands there, and the command that shows it again.
import FoundationEssentials
package import Pipeline

/// Why a source stands in `failed/`.
package struct FailureNote: Equatable, Sendable {
    /// The source's path from its inbox.
    package let source: BytePath
    package let inbox: BytePath
    package let failure: Failure
    package let attempts: Int
    /// A shell's line that does the same work again, on the spot.
    package let replay: String

    /// - Parameters:
    ///   - quarantined: where the source stands now.
    ///   - pipeline: the pipeline file's absolute path.
    package init(source: BytePath, inbox: BytePath, quarantined: BytePath, pipeline: BytePath, failure: Failure, attempts: Int) {
        (self.source, self.inbox, self.failure, self.attempts) = (source, inbox, failure, attempts)
        replay = "imagemill run \(shellQuoted(pipeline)) \(shellQuoted(quarantined)) -o replay"
    }

    /// The note of a source that stands at a path.
    package static func path(beside quarantined: BytePath) -> BytePath { quarantined.withSuffix(suffix) }

    package static let suffix = ".error.json"

    package func write(beside quarantined: BytePath, token: String = DurableFile.newToken) throws(SystemError) {
        try DurableFile.write(Array((json(self, pretty: true) + "\n").utf8), to: Self.path(beside: quarantined), token: token)
        try FaultPoint.pass(.afterFailureNote)
    }

    /// The source's path as a note says it; nil where there is no note or it says nothing of use.
    package static func source(ofNoteBeside quarantined: BytePath) -> BytePath? {
        guard let bytes = try? OpenFile.contents(path(beside: quarantined), limit: 1 << 20),
            let said = try? JSONDecoder().decode(Said.self, from: Data(bytes))
        else { return nil }
        let path = said.source.pathBytes.flatMap(BytePath.init(percentEncoded:)) ?? BytePath(said.source.path)
        return path.staysBelow ? path : nil
    }

    private struct Said: Decodable {
        struct Source: Decodable {
            let path: String
            let pathBytes: String?
            enum CodingKeys: String, CodingKey {
                case path
                case pathBytes = "path-bytes"
            }
        }
        let source: Source
    }
}

extension FailureNote: Encodable {
    private enum Key: String, CodingKey {
        case schema, source, inbox, code, stage, message, detail, retryable, attempts, time, replay
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("imagemill.failure/1", forKey: .schema)
        try container.encode(SourceReport.Source(path: source), forKey: .source)
        try container.encode(SourceReport.Source(path: inbox), forKey: .inbox)
        try container.encode(failure.code, forKey: .code)
        try container.encode(failure.stage, forKey: .stage)
        try container.encode(failure.message, forKey: .message)
        try container.encodeIfPresent(failure.detail, forKey: .detail)
        try container.encode(failure.code.isRetryable, forKey: .retryable)
        try container.encode(attempts, forKey: .attempts)
        try container.encode(timestamp(), forKey: .time)
        try container.encode(replay, forKey: .replay)
    }
}

extension BytePath {
    /// The bytes that `percentEncoded` stands for; nil where it is not well formed.
    package init?(percentEncoded text: String) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        self.init(bytes)
    }

    /// Every byte that is not a letter, a digit or one of `-._~/`, as `%XX`.
    package var percentEncoded: String {
        let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        return bytes.map { plain.contains($0) ? String(UnicodeScalar($0)) : "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
            .joined()
    }

    /// A relative path that leads nowhere but down: no empty part, no `.` or `..`, no NUL.
    package var staysBelow: Bool {
        guard !bytes.isEmpty, !bytes.contains(0) else { return false }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.allSatisfy { !$0.isEmpty && Array($0) != Array(".".utf8) && Array($0) != Array("..".utf8) }
    }
}
