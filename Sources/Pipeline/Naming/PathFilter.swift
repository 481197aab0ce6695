// The filter that selects the wanted files below a folder.

/// The patterns of `--include` and `--exclude`. A pattern that matches a folder means all that is in it.
package struct PathFilter: Sendable {
    private let include: [PathPattern]
    fileprivate let exclude: [PathPattern]

    package init(include: [PathPattern] = [], exclude: [PathPattern] = []) {
        self.include = include
        self.exclude = exclude
    }

    /// Whether a folder may have wanted files in it.
    /// - Parameter path: the path from the folder that is searched.
    package func enters(_ path: BytePath) -> Bool {
        if exclude.isEmpty { return true }
        let names = path.components[...]
        return !exclude.contains { $0.matches(names, isFolder: true) }
    }

    /// Whether a file is wanted, if its folder was entered.
    package func takes(_ path: BytePath) -> Bool {
        if include.isEmpty && exclude.isEmpty { return true }
        let names = path.components[...]
        if exclude.contains(where: { $0.matches(names, isFolder: false) }) { return false }
        return include.isEmpty || include.contains { $0.matches(names, isFolder: false) || isBelow($0, names) }
    }

    private func isBelow(_ pattern: PathPattern, _ names: ArraySlice<[UInt8]>) -> Bool {
        (1..<max(1, names.count)).contains { pattern.matches(names.prefix($0), isFolder: true) }
    }
}

/// The use of the patterns of `--exclude`: whether each has matched something that was searched.
package struct ExclusionUse: Sendable {
    /// Those that have not, as the user gave them.
    package private(set) var unused: [PathPattern]

    package init(_ filter: PathFilter) { unused = filter.exclude }

    /// - Parameter path: the path from the folder that is searched.
    package mutating func note(_ path: BytePath, isFolder: Bool) {
        guard !unused.isEmpty else { return }
        let names = path.components[...]
        unused.removeAll { $0.matches(names, isFolder: isFolder) }
    }
}
