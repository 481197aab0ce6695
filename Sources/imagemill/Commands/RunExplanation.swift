// `imagemill run --why FILE`: what has changed about one source.
import Engine
import Pipeline
import System

/// Says why a source would be done or skipped.
struct Explanation {
    private let preparation: RunCommand.Preparation
    private let isForced: Bool

    init(_ preparation: RunCommand.Preparation, isForced: Bool) {
        self.preparation = preparation
        self.isForced = isForced
    }

    /// - Parameter file: a source as the user names it, or as reports do.
    /// - Throws: the exit code for wrong usage if it is not among the sources.
    func print(_ file: BytePath) throws {
        guard let index = place(of: file) else {
            printError("imagemill: '\(file.printable)' is not among the sources; --why takes one of them")
            throw ExitStatus.usage
        }
        let source = preparation.found.sources[index].typed.printable
        let reasons = self.reasons(index).map { "  \($0.sentence)\n" }
        let unchanged = "\(source): would be skipped: nothing has changed since it was done\n"
        printOutput(reasons.isEmpty ? unchanged : "\(source): would be done:\n" + reasons.joined())
    }

    private func reasons(_ index: Int) -> [Change] {
        if isForced { return [.forced] }
        let changes = SourceChanges(
            preparation.found.sources, preparation.setup,
            for: preparation.pipeline.file, outbox: preparation.outbox, isDryRun: true)
        defer { changes?.close() }
        return changes?.changes(index) ?? [.neverDone]
    }

    private func place(of file: BytePath) -> Int? {
        let sources = preparation.found.sources
        let folder = FileSystem.absolute(file.directory.bytes.isEmpty ? BytePath(".") : file.directory)
        let identity = folder?.appending(file.lastComponent)
        return sources.firstIndex { $0.identity == identity } ?? sources.firstIndex { $0.relative == file }
    }
}
