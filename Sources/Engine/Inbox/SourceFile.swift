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
    /// Why it cannot be processed, where that shows before it is opened.
    package let problem: Failure?

    package init(path: BytePath, identity: BytePath, relative: BytePath, problem: Failure? = nil) {
        self.path = path
        self.identity = identity
        self.relative = relative
        self.problem = problem
    }
}
