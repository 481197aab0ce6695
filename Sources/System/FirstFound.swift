// A search whose looks may give another answer the next time, so that each is made once.

extension Sequence {
    /// The first result of `find` that is not nil.
    ///
    /// `lazy.compactMap(find).first` calls `find` twice for that element, and traps if the second call finds nothing, as
    /// on a disk whose trouble has just passed.
    package func firstFound<Found>(_ find: (Element) throws -> Found?) rethrows -> Found? {
        for element in self { if let found = try find(element) { return found } }
        return nil
    }
}
