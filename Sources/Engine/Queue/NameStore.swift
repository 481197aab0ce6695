// The store of names: the source that owns each name in each output folder.
package import Pipeline

/// The record of names. A name belongs to the source that first published it.
package protocol NameStore: Sendable {
    /// The names that a source owns in an outbox, in no order.
    func names(of source: BytePath, in outbox: BytePath) throws(StoreError) -> [BytePath]
    /// The records of those of these names that have an owner.
    func owners(of names: [BytePath], in outbox: BytePath) throws(StoreError) -> [BytePath: OwnedName]
    /// Gives names to a source, all or none, if their owners are still the ones that were seen. A loss of power may take
    /// them back until `record`.
    /// - Parameter seen: the present owner of each name that has one and is to be taken away from it; the source itself
    ///   need not be named.
    /// - Returns: false if somebody else was quicker, and nothing was changed.
    func claim(_ names: [BytePath], for source: BytePath, in outbox: BytePath, seen: [BytePath: BytePath])
        throws(StoreError) -> Bool
    /// Records the contents of names, as far as they still belong to their sources, before the files get them. When it
    /// returns, a store that outlives a loss of power has every name that was claimed.
    /// - Parameter areNoted: the files have attributes with their digests, so that a crash may lose the contents.
    func record(_ names: [OwnedName], areNoted: Bool) throws(StoreError)
    /// Frees those of these names that belong to a source.
    func release(_ names: [BytePath], of source: BytePath, in outbox: BytePath) throws(StoreError)
    /// Some thousand owned names after a place, in a fixed order, to find those whose rendition is gone; empty at the
    /// end.
    func ownedNames(after place: OwnedName?, limit: Int) throws(StoreError) -> [OwnedName]
}

/// A name and its owner.
package struct OwnedName: Equatable, Sendable {
    package let outbox: BytePath
    package let name: BytePath
    package let source: BytePath
    /// The digests of the files that the owner has put there: of the one that is there, and of the one that is about to
    /// replace it. None if nothing was; nil in a record that was written before there were contents.
    package let contents: [String]?

    package init(outbox: BytePath, name: BytePath, source: BytePath, contents: [String]? = []) {
        self.outbox = outbox
        self.name = name
        self.source = source
        self.contents = contents
    }

    /// As databases keep the contents.
    var contentsText: String? { contents?.joined(separator: " ") }

    init(outbox: BytePath, name: BytePath, source: BytePath, contentsText: String?) {
        self.init(
            outbox: outbox, name: name, source: source,
            contents: contentsText.map { $0.split(separator: " ").map(String.init) })
    }
}
