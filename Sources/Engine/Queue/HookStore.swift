// The record of hooks: events that were not received yet, so that a restart loses none, and those that never will be,
// for a day, so that somebody can do by hand what the hook would have done.
package import Pipeline

/// The record of hooks.
package protocol HookStore: Sendable {
    /// Records that a job with a hook is about to end. `addHook` adds the event; if the program is killed before,
    /// `forgottenHooks` finds the job.
    func expectHook(inbox: String, key: String) throws(StoreError)
    /// Records an event.
    /// - Parameter limit: of all that are kept.
    /// - Returns: how many others, the oldest, were dropped because there are too many.
    func addHook(inbox: String, event: String, key: String, body: [UInt8], limit: Int) throws(StoreError) -> Int
    /// The events that are due, oldest first. A slow hook of one inbox does not delay those of others.
    /// - Parameter count: so many of each inbox.
    func dueHooks(ofEachInbox count: Int) throws(StoreError) -> [HookRecord]
    /// In how many milliseconds the next one is due that is not yet; nil if there is none.
    func nextHook() throws(StoreError) -> Int?
    /// The events that were not delivered yet, by inbox. Neither the documents nor all records are read.
    func waitingHooks() throws(StoreError) -> [WaitingHooks]
    /// Removes an event that was delivered or given up.
    func removeHook(_ number: Int) throws(StoreError)
    /// Removes all events of a kind, for which an inbox has no hook any more.
    /// - Returns: how many there were.
    func removeHooks(inbox: String, event: String) throws(StoreError) -> Int
    /// Removes the record of a job that turns out to have no hook for its outcome.
    func removeHook(inbox: String, key: String) throws(StoreError)
    /// It is tried again after so many milliseconds.
    func postponeHook(_ number: Int, by milliseconds: Int) throws(StoreError)
    /// The jobs that ended without an event being recorded, because the program was killed.
    /// - Parameter time: of this start, in the store's time: what is expected since is still to be noted.
    func forgottenHooks(before time: Int) throws(StoreError) -> [Job]

    /// Records an event that was lost.
    func record(_ loss: HookLoss) throws(StoreError)
    /// The losses since a time, the latest last.
    /// - Parameter time: in milliseconds since 1970.
    func hookLosses(since time: Int) throws(StoreError) -> [HookLoss]
}

/// An event that a hook has not received yet.
package struct HookRecord: Equatable, Sendable {
    package let number: Int
    package let inbox: String
    /// A word of `HookEvent`.
    package let event: String
    /// The job's id, or the id of a pause. Unique in an inbox.
    package let key: String
    /// The document.
    package let body: [UInt8]
    /// How often it was tried.
    package let attempts: Int
    /// In the store's time.
    package let created: Int
}

/// Events of one inbox that its hooks have not received yet.
package struct WaitingHooks: Equatable, Sendable {
    package let inbox: String
    package let count: Int
    /// When the oldest happened, in the store's time.
    let created: Int

    package init(inbox: String, count: Int, created: Int) {
        (self.inbox, self.count, self.created) = (inbox, count, created)
    }
}

/// One call of a hook, as people know it.
package struct HookCall: Equatable, Sendable {
    /// A word of `HookEvent`.
    package let event: String
    /// Nil for a pause.
    package let source: BytePath?
    /// The program or the address, without what may be secret.
    package let action: String

    package init(event: String, source: BytePath?, action: String) {
        (self.event, self.source, self.action) = (event, source, action)
    }
}

/// An event that was given up, or several that were dropped.
package struct HookLoss: Equatable, Sendable {
    /// Milliseconds since 1970.
    package let time: Int
    package let inbox: String
    /// Nil for events that were dropped, because too many were waiting.
    package let call: HookCall?
    package let count: Int
    package let reason: String

    package init(time: Int, inbox: String, call: HookCall?, count: Int = 1, reason: String) {
        (self.time, self.inbox, self.call, self.count, self.reason) = (time, inbox, call, count, reason)
    }

    /// Advice, in a sentence.
    package var remedy: String {
        call == nil
            ? "find out why the hooks of this inbox take so long, and do by hand what they would have done"
            : "repair the hook, and do by hand what it would have done: it is not called again for this event"
    }

    /// So long is it known, in milliseconds.
    package static let memory = 86_400_000
    /// So many are known at most.
    package static let most = 1_000
}
