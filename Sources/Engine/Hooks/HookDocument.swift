// The document a hook receives: on the standard input of a command, or in the body of a request.
import FoundationEssentials
import Pipeline
import System

/// The document of a hook. Its schema is in docs/schema/.
struct HookDocument: Encodable {
    struct Source: Codable {
        let path: String
        /// Only if the path is not UTF-8.
        let pathBytes: String?

        init(_ path: BytePath) { (self.path, pathBytes) = (path.text, path.percentEncodedIfNotText) }

        var original: BytePath? { pathBytes.map { BytePath(percentEncoded: $0) } ?? BytePath(path) }

        enum CodingKeys: String, CodingKey {
            case path
            case pathBytes = "path-bytes"
        }
    }

    struct Trouble: Encodable {
        /// The code of a failure, or the reason of a pause.
        let code: String
        let message: String
    }

    var schema = "imagemill.hook/1"
    let event: HookEvent
    /// Identifies the event. If an event is delivered twice, both deliveries have the same id.
    let id: String
    let inbox: String
    let time: String
    var source: Source?
    /// Why it failed or paused.
    var error: Trouble?
    /// Nil for a pause, and if an older program was killed before the event was recorded.
    var report: SourceReport?

    /// A pause.
    init(_ pause: Pause, inbox: String, id: String) {
        (event, self.id, self.inbox, time) = (.pause, id, inbox, timestamp())
        error = Trouble(code: pause.reason.rawValue, message: pause.message)
    }

    /// The end of a job.
    init(_ event: HookEvent, job: JobID, path: BytePath, inbox: String, failure: Failure?, report: SourceReport? = nil)
    {
        (self.event, id, self.inbox, time) = (event, job.text, inbox, timestamp())
        source = Source(path)
        error = failure.map { Trouble(code: $0.code.rawValue, message: $0.message) }
        self.report = report
    }

    var bytes: [UInt8] { Array((json(self) + "\n").utf8) }

    /// Whether a record's document can be decoded and has its event and id. A damaged ledger may return any bytes.
    static func isWhole(in record: HookRecord) -> Bool {
        struct Part: Decodable { let event, id: String }
        let part = try? JSONDecoder().decode(Part.self, from: Data(record.body))
        return part?.event == record.event && part?.id == record.key
    }

    /// The source that a document is about; nil for a pause.
    static func source(in document: [UInt8]) -> BytePath? {
        struct Part: Decodable { let source: Source? }
        return (try? JSONDecoder().decode(Part.self, from: Data(document)))?.source?.original
    }
}
