// The queue as a store keeps it: in memory for one run, in SQLite for a drop folder, one day in PostgreSQL for several
// machines.
package import Pipeline

/// The queue. For any number of threads; calls may wait for a disk or a network, so they belong on threads of one's own.
///
/// Every call that changes something is durable when it returns, as far as the store is durable at all. The life of a
/// job: `offer`, `take`, then one `update` for each event. Every write names a lease's token; with a token that is no
/// longer current it changes nothing and says so. Times are the store's: no caller's clock decides anything.
package protocol JobStore: Sendable {
    /// The store's time, in milliseconds, by which its jobs wait. It only goes forward, whatever the time of day is set
    /// to.
    var now: Int { get }
    /// Another process goes on with the jobs if this one ends.
    var outlivesProcess: Bool { get }

    /// Adds jobs, all or none. There is at most one open job of a path in an inbox.
    func offer(_ jobs: [NewJob]) throws(StoreError) -> [OfferOutcome]
    /// Leases the jobs of an inbox that are due, the longest due first: `offered`, `waiting`, `published` and
    /// `rejected` ones that nobody holds, and those of other owners whose lease has ended. Records the attempt before
    /// this returns.
    func take(_ request: TakeRequest) throws(StoreError) -> [Lease]
    /// Has leases hold for so long from now, or for half of that at least.
    /// - Returns: those that still hold.
    func extend(_ leases: [Lease], by milliseconds: Int) throws(StoreError) -> [Lease]
    /// Applies an event to each job, in one transaction. A job that ends, waits or is forgotten loses its lease.
    func update(_ updates: [JobUpdate]) throws(StoreError) -> [UpdateOutcome]
    /// Notes the digest of a job's source, unless another job of its inbox, of the same recipe, was done with it. Jobs of a
    /// path that has had other contents since do not count.
    /// - Returns: the path of that other job's source; nil if there is none, or the lease does not hold.
    func note(contents digest: String, of lease: Lease) throws(StoreError) -> BytePath?
    /// In how many milliseconds the next job of an inbox is due that the owner can take, 0 if one is; nil if there is
    /// none.
    func nextDue(inbox: String, owner: String) throws(StoreError) -> Int?

    /// Ends the leases of all other owners. For a caller that knows that none of them is alive, as the holder of a state
    /// folder's lock does.
    func endLeases(ofOthersThan owner: String) throws(StoreError)
    /// Open jobs of an inbox that nobody holds or whose lease has ended, for a start; not those of the owner itself.
    func orphans(inbox: String, owner: String) throws(StoreError) -> [Job]
    /// Applies `found` to each of these jobs that is as it was and that no other owner holds, which frees it for `take`.
    func recover(_ jobs: [(job: Job, place: SourcePlace)], by owner: String) throws(StoreError) -> [UpdateOutcome]

    func job(_ id: JobID) throws(StoreError) -> Job?
    /// Every inbox that has open jobs, or of which some have ended.
    func counts() throws(StoreError) -> [String: JobCounts]
    /// The last jobs that failed for good, the latest first.
    func recentFailures(limit: Int) throws(StoreError) -> [Job]
    /// Removes some thousand of the oldest ended jobs beyond a number.
    /// - Returns: how many were removed.
    func prune(keeping: Int) throws(StoreError) -> Int
}

/// How many sources of an inbox are where.
package struct JobCounts: Equatable, Sendable {
    package var open = 0
    /// Those of the open ones on which work has begun.
    package var begun = 0
    /// Those of the open ones that wait for another attempt.
    package var waiting = 0
    /// For how many milliseconds the oldest open one has been known; nil if none is open.
    package var age: Int?
    /// How many have ended how, also of those whose rows were pruned.
    package var done = 0
    package var failed = 0

    package init(open: Int = 0, begun: Int = 0, waiting: Int = 0, age: Int? = nil, done: Int = 0, failed: Int = 0) {
        self.open = open
        self.begun = begun
        self.waiting = waiting
        self.age = age
        self.done = done
        self.failed = failed
    }
}
