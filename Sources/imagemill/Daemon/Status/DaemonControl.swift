// The seam between the server and the daemon: what the daemon lets others see and ask for.
import Engine
import Pipeline

/// A rendition that can be asked for.
struct ServedRendition: Equatable, Sendable {
    let outbox: BytePath
    /// From the outbox.
    let path: BytePath
    /// Nil for what browsers do not show.
    let type: String?
}

/// A daemon that can be asked. For any thread. What is not said to have a thread of its own is called on the server's:
/// it may take a lock for a moment, and must not wait for work or for a disk.
protocol DaemonControl: Sendable {
    /// The daemon at this moment.
    func status() -> StatusDocument
    /// Its activity since its start.
    var activity: Activity.Snapshot { get }
    /// The contents of the spool, by the inboxes' names.
    var standing: [String: Standing] { get }
    /// Another number after each change of what has failed.
    var failuresRevision: Int { get }
    /// How far the retry that is under way has come; nil if there is none.
    var retrying: Retry.Count? { get }
    /// The flow is alive.
    var isAlive: Bool { get }
    /// The problem with the state folder, if it is not where it was. A restart would only make it worse.
    var missingState: String? { get }
    /// One of the renditions of one of the latest results, by its number.
    func rendition(_ index: Int, of result: Int) -> ServedRendition?
    /// The folder `failed/` of an inbox; nil if there is none.
    func failedFolder(of inbox: String) -> BytePath?
    /// A small picture of a source in that folder, as a PNG; nil if it cannot be rendered. On a thread of its own.
    func picture(ofFailed path: BytePath, in inbox: String) -> [UInt8]?
    /// Reads the configuration again, and returns when the new one is at work or was refused. On a thread of its own.
    func reload() -> ControlReply
    /// Pauses an inbox until it is resumed, or ends that. On a thread of its own.
    func pause(_ request: PauseRequest) -> ControlReply
    /// The history of each inbox in the last week. On a thread of its own.
    func history() throws -> [HistoryHour]
    /// The mill file in force, without what it may hold of secrets.
    var configuration: String { get }
    /// The journal of all that was done.
    var journal: BytePath { get }
    /// The last events, the newest first.
    var events: [RecentEvents.Event] { get }
    /// Moves failed sources back to their inboxes. On a thread of its own.
    func retry(_ request: RetryRequest) -> ControlReply
}
