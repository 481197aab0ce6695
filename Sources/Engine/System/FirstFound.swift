// Looks that may find something else the next time, each made once.

extension Sequence {
    /// What is found for the first element for which anything is.
    ///
    /// `lazy.compactMap(find).first` calls `find` twice for that element, and traps if the second call finds nothing, as
    /// on a disk whose trouble has just passed.
    func firstFound<Found>(_ find: (Element) throws -> Found?) rethrows -> Found? {
        for element in self { if let found = try find(element) { return found } }
        return nil
    }
}
