// A source as it was found.
package import Pipeline

/// A file to process, or something that stands where one should be.
package struct SourceFile: Sendable {
    /// The path to open.
    package let path: BytePath
    /// The path without links above it, which names the source for ever: names belong to it.
    package let identity: BytePath
    /// The path from the source root, as reports show it.
    package let relative: BytePath
    /// Of a set, its pictures in natural order; nil for a single picture.
    package let members: [SourceFile]?
    /// Why it cannot be processed, where that shows before it is opened.
    package let problem: Failure?

    package init(path: BytePath, identity: BytePath, relative: BytePath, members: [SourceFile]? = nil, problem: Failure? = nil) {
        self.path = path
        self.identity = identity
        self.relative = relative
        self.members = members
        self.problem = problem
    }

    package var name: SourceName { members == nil ? SourceName(relative) : SourceName(folder: relative) }
}
