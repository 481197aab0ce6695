// The record of originals that stay in their inbox, and of those in `done/` and `failed/`.
package import Pipeline
package import System

/// An original that stays in its inbox and needs nothing more.
package struct KeptOriginal: Equatable, Sendable {
    package let observed: FileVersion
    package let recipe: String
    /// Why it failed; nil if it is done.
    package let code: FailureCode?

    package init(observed: FileVersion, recipe: String, code: FailureCode?) {
        self.observed = observed
        self.recipe = recipe
        self.code = code
    }

    /// The file is as it was, and so is what is to be done with it. Its inode may be another: a restored backup is no
    /// change.
    package func covers(_ now: FileVersion, recipe: String) -> Bool {
        observed.stamp == now.stamp && self.recipe == recipe
    }
}

/// The record of originals.
package protocol OriginalStore: Sendable {
    /// All originals of an inbox that stay in it and need nothing more.
    func kept(inbox: String) throws(StoreError) -> [BytePath: KeptOriginal]
    /// Forgets originals, so that they are done again.
    func forgetKept(inbox: String, paths: [BytePath]) throws(StoreError)
    /// The record of a folder of originals, by the folder's name.
    func shelf(_ name: String, of inbox: String) -> any ShelfRecord
}

/// The record of `done/` or `failed/` of an inbox, if its retention has a bound.
///
/// A file's own times say nothing about its age: they come from a clock that may have been wrong, or from that of
/// another machine. So an original's age begins when it is first found in the folder. If the record is lost, all ages
/// begin anew.
package protocol ShelfRecord: Sendable {
    /// The store's time. It is recorded, so that a restart of the machine makes nothing younger by much.
    func recordedNow() throws(StoreError) -> Int
    /// The recorded paths after another one, in their order.
    func paths(after path: BytePath?, limit: Int) throws(StoreError) -> [BytePath]
    /// When these items were changed as they were recorded; an item that is not recorded is missing.
    func changes(of paths: [BytePath]) throws(StoreError) -> [BytePath: Int]
    /// Records items that are new, or were changed: their age begins.
    func add(_ items: [ShelvedItem], since now: Int) throws(StoreError)
    func remove(_ paths: [BytePath]) throws(StoreError)
    /// The items that have been there for longest, and since when. Of those that were found together, the first changed
    /// come first.
    /// - Parameter last: the item after which the list begins; nil for all.
    func oldest(after last: (item: ShelvedItem, since: Int)?, limit: Int) throws(StoreError) -> [(
        item: ShelvedItem, since: Int
    )]
    /// The bytes of all items.
    func bytes() throws(StoreError) -> Int
}

/// A picture in a folder of originals, or the folder of a set.
package struct ShelvedItem: Equatable, Sendable {
    /// Its path from the folder.
    let path: BytePath
    /// Tells whether it is still the same: the file's time of change.
    let changed: Int
    let bytes: Int
}
