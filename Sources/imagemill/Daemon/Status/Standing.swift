// The contents of each inbox's spool, looked at now and then on a thread of its own.
import Engine
import Pipeline
import Synchronization
import System

/// The contents of one inbox's folders.
struct Standing: Sendable {
    /// Nil if the folder cannot be read.
    var failures: StandingFailures?
    /// By the names of the folders.
    var bytes: [String: Int] = [:]
    /// The disks that it needs.
    var disks: [Disk] = []

    struct Disk: Equatable, Sendable {
        enum Role: String, Encodable, Sendable { case inbox, spool, outbox }

        let role: Role
        let path: BytePath
        let space: DiskSpace
    }
}

/// Looks into the spool. A file system that hangs holds up the look at its own inbox only. For any thread.
final class StandingWatch: Sendable {
    private struct Entry {
        var found: Standing?
        /// Rises with each change of the failures.
        var revision = 0
        var isLooking = false
        /// Something has changed while it was looked at.
        var isStale = false
        var next = Moment.now
    }

    private let entries = Mutex<[String: Entry]>([:])
    private static let pause = Duration.seconds(30)
    /// The same if the folder of failures could not be read: it may be back soon.
    private static let pauseAfterTrouble = Duration.seconds(5)
    /// A folder with very much in it is looked at so much less often.
    private static let share = 100
    /// Failed sources of each inbox that the dashboard lists, and whose notes are kept in memory.
    private static let described = 20_000
    /// A folder that changes all the time takes this part of the time at most.
    private static let staleShare = 10

    /// The findings, by the inboxes' names.
    var found: [String: Standing] { entries.withLock { $0.compactMapValues(\.found) } }

    /// Another one after each change of what has failed.
    var revision: Int { entries.withLock { $0.values.reduce(0) { $0 + $1.revision } } }

    /// Something was put into the folder `failed/` of an inbox, or taken out of it.
    func changed(_ inbox: String) {
        entries.withLock { entries in
            entries[inbox, default: Entry()].next = .now
            entries[inbox]?.isStale = true
        }
    }

    /// Starts the looks that are due.
    func look(at inboxes: [DropFolderStatus.Inbox]) {
        let names = Set(inboxes.map(\.name))
        entries.withLock { entries in entries = entries.filter { names.contains($0.key) } }
        for inbox in inboxes {
            guard let folders = inbox.folders else { continue }
            let isDue = entries.withLock { entries in
                var entry = entries[inbox.name] ?? Entry()
                guard !entry.isLooking, entry.next <= .now else { return false }
                (entry.isLooking, entry.isStale) = (true, false)
                entries[inbox.name] = entry
                return true
            }
            let places = [("work", folders.work), ("done", folders.done), ("failed", folders.failed)]
            let disks: [(role: Standing.Disk.Role, path: BytePath)] = [
                (.inbox, inbox.path), (.spool, folders.work), (.outbox, inbox.outbox),
            ]
            guard isDue, !startThread({ [self] in look(at: inbox.name, places, folders.failed, disks) }) else {
                continue
            }
            entries.withLock { $0[inbox.name]?.isLooking = false }
        }
    }

    private func look(
        at inbox: String, _ folders: [(name: String, path: BytePath)], _ failed: BytePath,
        _ disks: [(role: Standing.Disk.Role, path: BytePath)]
    ) {
        let start = Moment.now
        let known = entries.withLock { $0[inbox]?.found?.failures }
        var found = Standing(failures: StandingFailures(failed, describing: Self.described, known: known))
        for folder in folders { found.bytes[folder.name] = try? Directory(folder.path).bytesBelow() }
        found.disks = disks.compactMap { disk in
            DiskSpace(of: disk.path).map { Standing.Disk(role: disk.role, path: disk.path, space: $0) }
        }
        let took = start.milliseconds(until: .now)
        let usual = found.failures == nil ? Self.pauseAfterTrouble : Self.pause
        let pause = max(usual, .milliseconds(took * Self.share))
        entries.withLock { entries in
            guard let entry = entries[inbox] else { return }
            let revision = entry.revision + (found.failures == known ? 0 : 1)
            let next: Moment = entry.isStale ? .now + .milliseconds(took * Self.staleShare) : .now + pause
            entries[inbox] = Entry(found: found, revision: revision, next: next)
        }
    }
}
