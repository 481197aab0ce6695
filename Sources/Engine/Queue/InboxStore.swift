// The record of inboxes and of the drop folder itself.
package import Pipeline

/// The record of inboxes.
package protocol InboxStore: Sendable {
    /// The drop folder's identity, if it was recorded.
    func identity() throws(StoreError) -> String?
    func record(identity: String) throws(StoreError)

    /// Records the inboxes of the mill file, by their paths. One that was given another name takes what is known of it
    /// along; one that runs keeps its own, also when it moves to the path of another that is no longer there.
    /// - Parameter running: names of inboxes under which lanes work at present.
    func record(inboxes: [BytePath: String], running: Set<String>) throws(StoreError)
    /// Paths that an inbox with open jobs had before the present one.
    func formerPaths(inbox: String) throws(StoreError) -> [BytePath]

    /// Records that an inbox is to pause until somebody ends it.
    /// - Parameter since: in milliseconds since 1970.
    func recordPause(of inbox: String, since: Int) throws(StoreError)
    func endPause(of inbox: String) throws(StoreError)
    /// The time at which a person has paused an inbox, in milliseconds since 1970; nil if nobody has.
    func recordedPause(of inbox: String) throws(StoreError) -> Int?

    /// The hours of the last week in which something ended, from the oldest.
    func history() throws(StoreError) -> [HistoryHour]
}

/// The sources of an inbox that ended in one hour.
package struct HistoryHour: Equatable, Sendable {
    package let inbox: String
    /// The hour of the wall clock, counted since 1970.
    package let hour: Int
    package let done: Int
    package let failed: Int
}
