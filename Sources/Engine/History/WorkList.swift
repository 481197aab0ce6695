// The sources of a run that must be processed, and those that are skipped because nothing has changed.
import Messages
package import Pipeline
import System

/// A source that is skipped.
package struct UnchangedSource: Sendable {
    package let source: SourceFile
    /// Its report as JSON.
    package let document: [UInt8]
}

/// The sources of a run, sorted by whether they must be processed.
package struct WorkList: Sendable {
    /// In natural order.
    package var toDo: [SourceFile] = []
    package var unchanged: [UnchangedSource] = []
    /// How many files the search has passed over because they are no pictures.
    package var passedOver = 0
    /// Why sources failed in an earlier run, by their paths from the output folder.
    package private(set) var failedBefore: [BytePath: String] = [:]

    /// Closed, but kept: when a database's queue is released, Dispatch starts a thread, and workers are copied from a
    /// process that has none.
    private var record: ResultReader?

    package init(toDo: [SourceFile]) { self.toDo = toDo }

    /// Asks the record which sources have not changed since they were processed. Starts no thread and leaves nothing
    /// open.
    /// - Parameter sources: all sources of the run, in natural order.
    package init(
        _ sources: [SourceFile], _ setup: RunSetup, for pipeline: PipelineFile, outbox: OutboxLocation, isDryRun: Bool
    ) {
        guard
            let changes = SourceChanges(
                sources, setup, for: pipeline, outbox: outbox, isDryRun: isDryRun)
        else {
            toDo = sources
            return
        }
        record = changes.reader
        defer { changes.close() }
        for index in sources.indices {
            if let document = changes.documentIfUnchanged(index) {
                unchanged.append(UnchangedSource(source: sources[index], document: document))
            } else {
                toDo.append(sources[index])
                if let (identity, failure) = changes.failure(index) { failedBefore[identity] = failure }
            }
        }
    }
}

/// Finds out what has changed about sources since they were processed.
package struct SourceChanges {
    private let sources: [SourceFile]
    private let setup: RunSetup
    private let pipeline: PipelineFile
    private let outbox: OutboxLocation
    fileprivate let reader: ResultReader
    private let results: [RecordedResult?]
    /// Each source's identity in the record.
    private let identities: [BytePath]
    /// Each source's place among all, by its identity.
    private let places: [BytePath: Int]
    /// This setup's number in the record.
    private let number: Int64?

    /// - Returns: nil if nothing is known of earlier runs.
    package init?(
        _ sources: [SourceFile], _ setup: RunSetup, for pipeline: PipelineFile, outbox: OutboxLocation, isDryRun: Bool
    ) {
        guard let reader = ResultReader(outbox, isDryRun: isDryRun) else { return nil }
        self.sources = sources
        self.setup = setup
        self.pipeline = pipeline
        self.outbox = outbox
        self.reader = reader
        identities = sources.map { outbox.identity(of: $0.identity) }
        places = Dictionary(identities.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        results = reader.results(of: places, count: sources.count)
        number = reader.number(of: setup)
    }

    package func close() { reader.close() }

    /// The report of a source, if nothing has changed about it.
    func documentIfUnchanged(_ index: Int) -> [UInt8]? {
        changes(index).isEmpty ? results[index]?.document : nil
    }

    /// Why a source failed the last time, and its identity in the record; nil if it did not.
    fileprivate func failure(_ index: Int) -> (identity: BytePath, failure: String)? {
        results[index]?.failure.map { (identities[index], $0) }
    }

    /// Every reason to process a source again; none if nothing has changed.
    package func changes(_ index: Int) -> [Change] {
        guard let result = results[index] else { return [.neverDone] }
        if let failure = result.failure { return [.failedBefore(failure)] }
        guard !result.document.isEmpty else { return [.recordUnreadable] }
        var changes =
            result.setup == number
            ? [] : reader.setup(result.setup).map { setup.changes(since: $0) } ?? [.recordUnreadable]
        let source = sources[index]
        if source.relative != result.relative { changes.append(.place(before: result.relative)) }
        changes += sourceChanges(source, result)
        guard let outputs = Fingerprint(encoded: result.outputs) else { return changes + [.recordUnreadable] }
        return changes + addressChanges(source, outputs) + outputChanges(index, outputs)
    }

    private func sourceChanges(_ source: SourceFile, _ result: RecordedResult) -> [Change] {
        let hasSidecars = !pipeline.settings.isEmpty
        guard var now = Fingerprint.current(of: source, withSidecars: hasSidecars) else { return [.sourceUnreadable] }
        if now.encoded == result.fingerprint { return [] }
        guard let before = Fingerprint(encoded: result.fingerprint) else { return [.recordUnreadable] }
        now.files += before.files.filter(\.isChosen).compactMap { $0.now() }
        return now.changes(since: before)
    }

    /// Thumbnails have the digest of the address in their names.
    private func addressChanges(_ source: SourceFile, _ outputs: Fingerprint) -> [Change] {
        guard pipeline.makesThumbnails else { return [] }
        let uri = source.address.fileURI
        let name = BytePath(ThumbnailFacts.digest(of: uri) + ".png")
        return outputs.files.contains { $0.name.lastComponent == name } ? [] : [.address(uri)]
    }

    private func outputChanges(_ index: Int, _ outputs: Fingerprint) -> [Change] {
        var changes: [Change] = []
        for output in outputs.files {
            let path = outbox.path.appending(output.name)
            let status = (try? FileSystem.status(path, followLinks: false)).flatMap { $0 }
            if let status, status.kind == .directory ? output.matches(folder: path) : output.matches(status) {
                continue
            }
            if isLost(output.name, by: index) { continue }
            changes.append(status == nil ? .outputMissing(output.name) : .outputAltered(output.name))
        }
        return changes
    }

    /// Whether a later source owns the name, because of `--collision overwrite`. It would take the name again, and its
    /// rendition is there.
    private func isLost(_ name: BytePath, by index: Int) -> Bool {
        guard let owner = reader.owner(of: name), owner != identities[index] else { return false }
        return places[owner].map { $0 > index } ?? false
    }
}
