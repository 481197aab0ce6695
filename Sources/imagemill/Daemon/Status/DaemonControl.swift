// The seam between the server and the daemon: what the daemon lets others see and ask for.
import Engine
import Pipeline

/// A daemon that can be asked. For any thread. What is not said to have a thread of its own is called on the server's:
/// it may take a lock for a moment, and must not wait for work or for a disk.
protocol DaemonControl: Sendable {
    /// The daemon at this moment.
    func status() -> StatusDocument
    /// What it has done since its start.
    var activity: Activity.Snapshot { get }
    /// What is in the spool, by the inboxes' names.
    var standing: [String: Standing] { get }
    /// The flow is alive.
    var isAlive: Bool { get }
    /// The file of one of the latest results that a browser can show, and its type.
    func picture(of result: Int) -> (outbox: BytePath, path: BytePath, type: String)?
    /// Reads the configuration again, and returns when the new one is at work or was refused. On a thread of its own.
    func reload() -> ControlReply
    /// Moves failed sources back to their inboxes. On a thread of its own.
    func retry(_ request: RetryRequest) -> ControlReply
}
