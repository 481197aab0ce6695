// The seam between the socket and the daemon: what the daemon lets others see and ask for.

/// A daemon that can be asked. For any thread.
protocol DaemonControl: Sendable {
    /// The daemon at this moment. Called on the socket's own thread: it may take a lock for a moment, and must not wait for work or for a disk.
    func status() -> StatusDocument
    /// Reads the configuration again, and returns when the new one is at work or was refused. On a thread of its own.
    func reload() -> ControlReply
    /// Moves failed sources back to their inboxes. On a thread of its own.
    func retry(_ request: RetryRequest) -> ControlReply
}
