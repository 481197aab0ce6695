// What is left to do of a run: sources that nothing has changed about are skipped.
package import Pipeline

/// A source that stays as it is.
package struct UnchangedSource: Sendable {
    package let source: SourceFile
    /// Its report as JSON.
    let document: [UInt8]
}

/// The sources of a run, sorted by whether they must be done.
package struct WorkList: Sendable {
    /// In natural order.
    package var toDo: [SourceFile] = []
    package var unchanged: [UnchangedSource] = []

    /// Closed, but held: when a database's queue is let go, Dispatch starts a thread, and workers are copied from a process that has none.
    private var record: ResultReader?

    package init(toDo: [SourceFile]) { self.toDo = toDo }

    /// Asks the record which sources are as they were when they were done. Starts no thread and leaves nothing open.
    /// - Parameter sources: all sources of the run, in natural order.
    package init(_ sources: [SourceFile], _ setup: RunSetup, outbox: BytePath, isDryRun: Bool) {
        guard let changes = SourceChanges(sources, setup, outbox: outbox, isDryRun: isDryRun) else {
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
            }
        }
    }
}

/// Finds out what has changed about sources since they were done.
package struct SourceChanges {
    private let sources: [SourceFile]
    private let setup: RunSetup
    private let outbox: BytePath
    fileprivate let reader: ResultReader
    private let results: [RecordedResult?]
    /// Each source's place among all, by its identity.
    private let places: [BytePath: Int]
    /// This setup's number in the record.
    private let number: Int64?

    /// - Returns: nil where nothing is known of earlier runs.
    package init?(_ sources: [SourceFile], _ setup: RunSetup, outbox: BytePath, isDryRun: Bool) {
        guard let reader = ResultReader(outbox: outbox, isDryRun: isDryRun) else { return nil }
        self.sources = sources
        self.setup = setup
        self.outbox = outbox
        self.reader = reader
        places = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($0.element.identity, $0.offset) })
        results = reader.results(of: places)
        number = reader.number(of: setup)
    }

    package func close() { reader.close() }

    /// The report of a source that nothing has changed about.
    func documentIfUnchanged(_ index: Int) -> [UInt8]? {
        changes(index).isEmpty ? results[index]?.document : nil
    }

    /// Every reason to do a source again; none where it is as it was.
    package func changes(_ index: Int) -> [Change] {
        guard let result = results[index] else { return [.neverDone] }
        if let failure = result.failure { return [.failedBefore(failure)] }
        guard !result.document.isEmpty else { return [.recordUnreadable] }
        var changes = result.setup == number ? [] : reader.setup(result.setup).map { setup.changes(since: $0) } ?? [.recordUnreadable]
        let source = sources[index]
        if source.relative != result.relative { changes.append(.place(before: result.relative)) }
        return changes + sourceChanges(source, result) + outputChanges(index, result)
    }

    private func sourceChanges(_ source: SourceFile, _ result: RecordedResult) -> [Change] {
        guard let now = Fingerprint.current(of: source) else { return [.sourceUnreadable] }
        if now.encoded == result.fingerprint { return [] }
        return Fingerprint(encoded: result.fingerprint).map { now.changes(since: $0) } ?? [.recordUnreadable]
    }

    private func outputChanges(_ index: Int, _ result: RecordedResult) -> [Change] {
        guard let outputs = Fingerprint(encoded: result.outputs) else { return [.recordUnreadable] }
        var changes: [Change] = []
        for output in outputs.files {
            let status = (try? FileSystem.status(outbox.appending(output.name), followLinks: false)).flatMap { $0 }
            if let status, output.matches(status) { continue }
            if isLost(output.name, by: index) { continue }
            changes.append(status == nil ? .outputMissing(output.name) : .outputAltered(output.name))
        }
        return changes
    }

    /// A source that comes later has taken the name (`--collision overwrite`), as it would again: what stands there is its own affair.
    private func isLost(_ name: BytePath, by index: Int) -> Bool {
        guard let owner = reader.owner(of: name), owner != sources[index].identity else { return false }
        return places[owner].map { $0 > index } ?? false
    }
}
