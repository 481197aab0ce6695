// Gives out names one source after the other, so that versions follow the order of the sources and not that of the workers.
import Glibc
package import Pipeline

/// Gives every source its names, in the order of the sources.
package actor NameDesk {
    private let record: NameRecord
    private let outbox: BytePath
    private let policy: CollisionPolicy
    /// Paths that no rendition may be written to, whatever the policy says.
    private let sources: Set<BytePath>
    /// The source whose turn it is.
    private var turn = 0
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    /// Turns that were given up before they came.
    private var passed: Set<Int> = []
    /// Names that are being written now, and by whom.
    private var inUse: [BytePath: Int] = [:]
    private var waitingForRelease: [CheckedContinuation<Void, Never>] = []

    private let executor = ThreadExecutor()
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - sources: the identities of all sources, which are never overwritten.
    ///   - isDryRun: nothing is written, not even the record.
    package init(outbox: BytePath, policy: CollisionPolicy, sources: [SourceFile], isDryRun: Bool) throws(SystemError) {
        // The sources' paths are absolute, so that of the output folder must be too.
        self.outbox = FileSystem.absolute(outbox) ?? outbox
        self.policy = policy
        // With the other policies nothing that stands there is written over.
        self.sources = policy == .overwrite ? Set(sources.map(\.identity)) : []
        let folder = outbox.appending(BytePath(".imagemill"))
        if !isDryRun { try FileSystem.makeDirectories(folder) }
        do {
            record = try NameRecord(folder: folder, isDryRun: isDryRun)
        } catch {
            throw SystemError("open the record of names in '\(folder.printable)' (\(error))", code: isDiskFull(error) ? ENOSPC : EIO)
        }
    }

    /// The names for a source's renditions; waits until every source before it has had its turn.
    /// - Parameter order: the source's place among all sources, from 0.
    func claim(
        order: Int, source: BytePath, candidates: (_ version: Int) throws(PlanFailure) -> [RenditionName]
    ) async throws(Failure) -> [RenditionName] {
        await waitForTurn(order)
        defer { nextTurn() }
        do {
            let names = try record.claim(for: source, policy: policy, candidates: candidates) { name in
                let path = outbox.appending(name)
                if sources.contains(path) { return .source }
                return (try? FileSystem.status(path, followLinks: false)).flatMap { $0 } == nil ? .nothing : .file
            }
            await waitUntilFree(names)
            for name in names { inUse[name.path] = order }
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

    /// A source that will not ask for names, because it failed before.
    func pass(order: Int) {
        guard order != turn else { return nextTurn() }
        passed.insert(order)
    }

    /// A source has written its names, or never will.
    func release(order: Int) {
        inUse = inUse.filter { $0.value != order }
        let waiters = waitingForRelease
        waitingForRelease = []
        for waiter in waiters { waiter.resume() }
    }

    /// With `overwrite`, the later source in order must win: it waits for the earlier one that writes the same name.
    private func waitUntilFree(_ names: [RenditionName]) async {
        while names.contains(where: { inUse[$0.path] != nil }) {
            await withCheckedContinuation { waitingForRelease.append($0) }
        }
    }

    private func waitForTurn(_ order: Int) async {
        guard order != turn else { return }
        await withCheckedContinuation { waiting[order] = $0 }
    }

    private func nextTurn() {
        repeat { turn += 1 } while passed.remove(turn) != nil
        waiting.removeValue(forKey: turn)?.resume()
    }

    package func close() { executor.stop() }
}
