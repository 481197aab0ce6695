// Gives out names one source after the other, so that versions follow the order of the sources and not that of the workers.
import GRDB
import Glibc
package import Pipeline

/// Gives every source its names, in the order of the sources. Waiting blocks the thread.
package final class NameDesk: Sendable {
    private let outbox: BytePath
    private let policy: CollisionPolicy
    /// Paths that no rendition may be written to, whatever the policy says.
    private let sources: Set<BytePath>
    private let database: DatabaseQueue
    private let state: Monitor<State>

    private struct State {
        let record: NameRecord
        /// The source whose turn it is.
        var turn = 0
        /// Turns that were given up before they came.
        var passed: Set<Int> = []
        /// Names that are being written now, and by whom.
        var inUse: [BytePath: Int] = [:]
        /// Sources whose names went to others.
        var losers: Set<BytePath> = []

        mutating func nextTurn() {
            repeat { turn += 1 } while passed.remove(turn) != nil
        }
    }

    /// - Parameters:
    ///   - sources: the identities of all sources, which are never overwritten.
    ///   - isDryRun: nothing is written, not even the record.
    package init(outbox: BytePath, policy: CollisionPolicy, sources: [SourceFile], isDryRun: Bool) throws(SystemError) {
        // The sources' paths are absolute, so that of the output folder must be too.
        self.outbox = FileSystem.absolute(outbox) ?? outbox
        self.policy = policy
        // With the other policies nothing that stands there is written over.
        self.sources = policy == .overwrite ? Set(sources.map(\.identity)) : []
        let folder = OutboxRecord.folder(outbox)
        if !isDryRun { try FileSystem.makeDirectories(folder) }
        do {
            database = try OutboxRecord.open(in: folder, isDryRun: isDryRun)
            state = Monitor(State(record: NameRecord(database)))
        } catch {
            throw SystemError("open the record of names in '\(folder.printable)' (\(error))", code: isDiskFull(error) ? ENOSPC : EIO)
        }
    }

    /// The names for a source's renditions; waits until every source before it has had its turn.
    /// - Parameter order: the source's place among all sources, from 0.
    func claim(
        order: Int, source: BytePath, candidates: (_ version: Int) throws(PlanFailure) -> [RenditionName]
    ) throws(Failure) -> [RenditionName] {
        do {
            let names = try state.wait { state -> [RenditionName]? in
                guard state.turn == order else { return nil }
                do {
                    let claimed = try state.record.claim(for: source, policy: policy, candidates: candidates, occupant: occupant)
                    let names = claimed.names
                    state.losers.formUnion(claimed.losers)
                    // With `overwrite`, the later source in order must win: it waits for the earlier one that writes the same name.
                    guard !names.contains(where: { state.inUse[$0.path] != nil }) else { return nil }
                    for name in names { state.inUse[name.path] = order }
                    state.nextTurn()
                    return names
                } catch {
                    state.nextTurn()
                    throw error
                }
            }
            return names
        } catch let failure as Failure {
            throw failure
        } catch let failure as PlanFailure {
            throw failure.failure
        } catch {
            let code = isDiskFull(error) ? FailureCode.diskFull : .ioError
            throw Failure(code, stage: "publish", "the record of names cannot be written", detail: "\(error)")
        }
    }

    /// The sources that have lost a name to another one since this was last asked.
    func takeLosers() -> Set<BytePath> {
        state.change { state in
            defer { state.losers = [] }
            return state.losers
        }
    }

    /// Closes the record, which leaves one file of it. Nothing can be asked afterwards.
    func close() { try? database.close() }

    /// Where results are recorded for the next run, beside the names.
    package func results(of setup: RunSetup) -> ResultRecord { ResultRecord(database, setup) }

    private func occupant(of name: BytePath) -> Occupant {
        let path = outbox.appending(name)
        if sources.contains(path) { return .source }
        return (try? FileSystem.status(path, followLinks: false)).flatMap { $0 } == nil ? .nothing : .file
    }

    /// A source that will not ask for names, because it failed before.
    func pass(order: Int) {
        state.change { state in
            if order == state.turn { state.nextTurn() } else { state.passed.insert(order) }
        }
    }

    /// A source has written its names, or never will.
    func release(_ names: [RenditionName]) {
        state.change { state in
            for name in names { state.inUse[name.path] = nil }
        }
    }
}
