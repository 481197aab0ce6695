// `NAME.error.json`, beside a source in `failed/`: why it is there, and the command that shows the failure again.
import FoundationEssentials
package import Pipeline
package import System

/// Why a source is in `failed/`.
package struct FailureNote: Equatable, Sendable {
    /// The source's path from its inbox.
    package let source: BytePath
    /// The job that the source was; it tells its note from one of an earlier job of the same source.
    package let job: String
    package let inbox: BytePath
    package let failure: Failure
    package let attempts: Int
    /// A shell's line that does the same work again, on the spot.
    package let replay: String

    /// - Parameters:
    ///   - quarantined: where the source is now.
    ///   - pipeline: the pipeline file's absolute path.
    package init(
        source: BytePath, job: String, inbox: BytePath, quarantined: BytePath, pipeline: BytePath, failure: Failure,
        attempts: Int
    ) {
        (self.source, self.job, self.inbox) = (source, job, inbox)
        (self.failure, self.attempts) = (failure, attempts)
        replay = "imagemill run \(shellQuoted(pipeline)) \(shellQuoted(quarantined)) -o replay"
    }

    /// The note of a source at a path.
    package static func path(beside quarantined: BytePath) -> BytePath { quarantined.withSuffix(suffix) }

    package static let suffix = ".error.json"

    package static func isNoteName(_ path: BytePath) -> Bool {
        path.bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// The name or path of what a note is about.
    static func source(note: BytePath) -> BytePath { BytePath(Array(note.bytes.dropLast(suffix.utf8.count))) }

    /// Whether a name in a folder is that of a note, and what it is about is beside it.
    static func isNote(_ name: BytePath, in folder: Directory) throws(SystemError) -> Bool {
        guard isNoteName(name) else { return false }
        let source = source(note: name)
        guard !source.bytes.isEmpty else { return false }
        return try folder.status(source) != nil
    }

    /// Writes the note of a source, for good.
    /// - Parameters:
    ///   - name: the source's name in the folder.
    ///   - token: distinct for every file that is written at one time.
    package func write(beside name: BytePath, in folder: Directory, token: String = DurableFile.newToken)
        throws(SystemError)
    {
        try DurableFile.write(
            Array((json(self, pretty: true) + "\n").utf8), to: Self.path(beside: name), in: folder, token: token)
        try FaultPoint.pass(.afterFailureNote)
    }

    /// The source's path as a note says it; nil if there is no note or it says nothing of use.
    /// - Parameter name: the source's name in the folder.
    package static func source(ofNoteBeside name: BytePath, in folder: Directory) -> BytePath? {
        source(ofNote: path(beside: name), in: folder)
    }

    /// The same of a note by its own name.
    static func source(ofNote name: BytePath, in folder: Directory) -> BytePath? {
        guard let said = said(by: name, in: folder) else { return nil }
        let path = said.source.pathBytes.flatMap(BytePath.init(percentEncoded:)) ?? BytePath(said.source.path)
        return path.staysBelow ? path : nil
    }

    /// The job that a note is about; nil if it does not say.
    static func job(ofNote name: BytePath, in folder: Directory) -> String? { said(by: name, in: folder)?.job }

    private static func said(by name: BytePath, in folder: Directory) -> Said? {
        guard let file = try? FileLocation.below(folder, name).open().file,
            let bytes = try? file.bytes(at: 0, count: 1 << 20)
        else { return nil }
        return try? JSONDecoder().decode(Said.self, from: Data(bytes))
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
        let job: String?
    }
}

extension FailureNote: Encodable {
    private enum Key: String, CodingKey {
        case schema, source, job, inbox, code, stage, message, detail, remedy, retryable, attempts, time, replay
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("imagemill.failure/1", forKey: .schema)
        try container.encode(SourceReport.Source(path: source), forKey: .source)
        try container.encode(job, forKey: .job)
        try container.encode(SourceReport.Source(path: inbox), forKey: .inbox)
        try container.encode(failure.code, forKey: .code)
        try container.encode(failure.stage, forKey: .stage)
        try container.encode(failure.message, forKey: .message)
        try container.encodeIfPresent(failure.detail, forKey: .detail)
        try container.encode(failure.remedy(in: .millFile), forKey: .remedy)
        try container.encode(failure.code.isRetryable, forKey: .retryable)
        try container.encode(attempts, forKey: .attempts)
        try container.encode(timestamp(), forKey: .time)
        try container.encode(replay, forKey: .replay)
    }
}
