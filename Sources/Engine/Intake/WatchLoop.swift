// The loop that watches one inbox: it feeds events, scans and looks to the tracker, and returns what is ready. Belongs
// to one thread.
import Glibc
import Pipeline
import System

/// Watches one inbox, in short turns. Used by one thread.
final class WatchLoop {
    let settings: WatchSettings
    let isDone: (BytePath, FileStatus) -> Bool
    let log: (WatchNote) -> Void
    let goesOn: () -> Void
    let makeEvents: EventMaker
    var tracker: SourceTracker
    let scan: FolderScan
    let slowLooks: SlowLooks
    var events: FolderEvents?
    var root: FileIdentity?
    /// The inbox was a mount when it was last there.
    var wasMount = false
    var nextScan = Moment.now
    var nextRootCheck = Moment.now
    var scanBegan = Moment.now
    var ignoredInScan = 0
    var misplacedInScan = MisplacedFiles()
    var unreadableInScan: [(path: BytePath, reason: SystemError)] = []
    /// The scan could not read something, for a reason that may be gone soon.
    var hasMissedSome = false
    /// The last scan could not look into some folders.
    var wasPartial = false
    /// The folders as the last scan has seen them, while something is blocked and there are no events.
    var blockedFolders: [BytePath: FileStatus] = [:]
    /// The paths that were logged already; cleared when there are too many.
    var logged: Set<BytePath> = []
    var status = InboxStatus()

    /// When to scan again after something could not be read.
    static let retryInterval = Duration.seconds(5)
    /// Folders that cannot be looked into and are named.
    static let mostUnreadable = 100
    /// Folders whose permissions are watched without events; what is blocked in others waits for its time.
    static let mostFolders = 10_000
    /// Names in one step of a scan, and the most looks in one turn: a few milliseconds of work.
    static let stepSize = 512

    typealias EventMaker = () throws(FolderEvents.Shortage) -> FolderEvents

    /// - Parameters:
    ///   - wake: called on another thread when a turn is due before the time that the last one has named.
    ///   - makeEvents: makes the source of events; tests limit its watches.
    ///   - goesOn: called before each step that may wait for the file system.
    init(
        _ settings: WatchSettings, isDone: @escaping (BytePath, FileStatus) -> Bool, log: @escaping (WatchNote) -> Void,
        wake: @escaping @Sendable () -> Void = {},
        makeEvents: @escaping EventMaker = { () throws(FolderEvents.Shortage) in try FolderEvents() },
        goesOn: @escaping () -> Void = {}
    ) {
        self.settings = settings
        self.makeEvents = makeEvents
        self.isDone = isDone
        self.log = log
        self.goesOn = goesOn
        tracker = SourceTracker(times: settings.times, setQuiet: settings.setQuiet, capacity: settings.capacity)
        scan = FolderScan(ignored: settings.ignored, takesSets: settings.takesSets)
        slowLooks = SlowLooks(settings, wake: wake)
    }

    deinit { slowLooks.stop() }

    /// The descriptor that becomes readable when there are events.
    var descriptor: CInt? { events?.descriptor }

    /// Scans the whole inbox at the next turn.
    func rescan() { nextScan = .now }

    /// Has a source tried now, however incomplete it seems.
    func hasten(_ path: BytePath) {
        let names = path.components
        guard root != nil, !settings.takesSets || names.count == 1,
            !names.contains(where: { settings.ignored.contains($0) })
        else { return }
        tracker.hasten(path, isSet: settings.takesSets, at: .now)
    }

    /// Records the answer to an offer.
    func answered(_ path: BytePath, observed: FileVersion, with answer: OfferAnswer) {
        guard root != nil else { return }
        if case .blocked(let error) = answer { logOnce(path, .blocked(path, error)) }
        tracker.answered(path, observed: observed, with: answer, at: .now)
    }

    /// Does what is due.
    /// - Returns: the sources that became ready, and when the next turn is due.
    func turn() -> (ready: [Offer], next: Moment) {
        defer { updateStatus() }
        goesOn()
        let now = Moment.now
        guard let directory = openRoot(at: now) else { return ([], nextRootCheck) }
        noticeReadable(directory)
        readEvents()
        // The events may have shown that the inbox was replaced.
        guard root != nil else { return ([], now) }
        continueScan(directory)
        let ready = lookAtDueSources(directory)
        let isBusy = scan.isRunning || (tracker.nextDue ?? .never) <= .now
        return (ready, isBusy ? now : min(tracker.nextDue ?? .never, nextScan, nextRootCheck))
    }

    // MARK: The inbox itself

    /// The open inbox; nil if it is not there. It is opened anew each time, because a held descriptor would keep its
    /// file system from being unmounted.
    func openRoot(at now: Moment) -> Directory? {
        nextRootCheck = now + settings.rootCheck
        do throws(SystemError) {
            let directory = try Directory(settings.path)
            let identity = try directory.identity
            if identity != root {
                let isMount = Directory.isMountPoint(settings.path)
                // The folder beneath a mount is another one, which nobody means.
                guard isMount || !wasMount else {
                    pause(Pause(unmounted: settings.path, .missingInbox))
                    return nil
                }
                wasMount = isMount
                begin(directory, identity)
            }
            return directory
        } catch {
            let pause = Pause(error, missing: .missingInbox)
            self.pause(
                pause.reason == .missingInbox && error.code == ENOENT ? Pause(missingInbox: settings.path) : pause)
            return nil
        }
    }

    /// No event says that a folder may be looked into by now. After other errors there is another scan soon.
    func noticeReadable(_ directory: Directory) {
        let mayBeRead = status.unreadable.contains { path, reason in
            [EACCES, EPERM].contains(reason.code) && (try? directory.folder(path)) != nil
        }
        guard mayBeRead else { return }
        status.unreadable = []
        nextScan = .now
    }

    /// The permissions of a folder have changed, perhaps so that it may not be looked into any more.
    func noticeUnreadable(_ path: BytePath) {
        guard !path.bytes.isEmpty, status.unreadable.count < Self.mostUnreadable,
            !status.unreadable.contains(where: { $0.path == path })
        else { return }
        do throws(SystemError) {
            _ = try Directory(settings.path).folder(path)
        } catch {
            guard [EACCES, EPERM].contains(error.code) else { return }
            status.unreadable.append((path, error))
            logOnce(path, .unreadable(path, error))
        }
    }

    func begin(_ directory: Directory, _ identity: FileIdentity) {
        forgetEverything()
        root = identity
        if status.pause != nil {
            status.pause = nil
            log(.resumed)
        }
        startWatching(directory)
        nextScan = .now
    }

    func forgetEverything() {
        root = nil
        events = nil
        scan.stop()
        tracker.forgetAll()
        blockedFolders = [:]
        wasPartial = false
        status.unreadable = []
        status.misplaced = MisplacedFiles()
        logged = []
    }

    func pause(_ reason: Pause) {
        if root != nil { forgetEverything() }
        guard status.pause != reason else { return }
        if status.pause == nil { status.pausedSince = wallClock() }
        status.pause = reason
        log(.paused(reason))
    }

    func startWatching(_ directory: Directory) {
        switch settings.mode {
        case .poll(let time): poll(every: time, because: "the mill file says so")
        case .auto:
            if let kind = RemoteFileSystem.name(of: directory) {
                poll(every: WatchMode.usualPoll, because: "on \(kind), changes by other machines bring no events")
            } else {
                watchByEvents(directory)
            }
        case .events: watchByEvents(directory)
        }
    }

    func watchByEvents(_ directory: Directory) {
        do throws(FolderEvents.Shortage) {
            let events = try makeEvents()
            try events.watch(directory, as: BytePath([]))
            self.events = events
            setWatching(.events(folders: 1))
        } catch {
            poll(every: WatchMode.usualPoll, because: error.advice)
        }
    }

    func poll(every time: Duration, because reason: String) {
        events = nil
        setWatching(.polling(every: time, because: reason))
    }

    func setWatching(_ how: WatchingHow) {
        if status.how != how { log(.watching(how)) }
        status.how = how
    }

    // MARK: Events

    func readEvents() {
        // A few buffers at a time, so that a flood of events does not delay the looks.
        for _ in 0..<16 {
            guard let found = events?.read(), !found.isEmpty else { return }
            for event in found { handle(event) }
        }
    }

    func handle(_ event: FolderEvent) {
        switch event {
        case .file(let event, let path): fileChanged(event, path)
        case .folderAppeared(let path): folderAppeared(path)
        case .folderVanished(let path): folderVanished(path)
        case .folderTouched(let path):
            if tracker.unblock(below: path, at: .now) { nextScan = .now }
            noticeUnreadable(path)
        case .rootGone: forgetEverything()
        case .overflow:
            status.overflows += 1
            log(.overflow)
            tracker.forgetWriters()
            nextScan = .now
        }
    }

    func fileChanged(_ event: SourceTracker.Event, _ path: BytePath) {
        let name = path.lastComponent.bytes
        guard let (set, member) = setAndMember(path) else {
            guard !settings.ignored.contains(name), !isSidecarOfFolder(path) else { return }
            if settings.takesSets {
                if event == .vanished { noLongerMisplaced(path) } else { misplaced(path, .outsideOfSets) }
            } else {
                tracker.record(event, path, at: .now)
                if let picture = pictureOf(sidecar: path) { tracker.sidecarChanged(of: picture, at: .now) }
                if event == .vanished, settings.companions.mayBePaired(path) {
                    for other in PhotoFile.others(of: path.lastComponent) {
                        tracker.reconsider(path.directory.appending(other), at: .now)
                    }
                }
            }
            return
        }
        if name == SourceLook.doneMark && member.directory.bytes.isEmpty {
            tracker.recordSet(set, isDeclaredComplete: event != .vanished, at: .now)
        } else {
            // Whatever its name is, it may be a member that is still being written.
            tracker.record(event, set: set, member: member, at: .now)
        }
    }

    /// Whether a file has values for the pictures of its folder: it stays there.
    func isSidecarOfFolder(_ path: BytePath) -> Bool {
        settings.companions.sidecars.takes && path.lastComponent == Sidecar.ofFolder
    }

    func folderAppeared(_ path: BytePath) {
        let name = path.lastComponent.bytes
        guard !settings.ignored.contains(name) else {
            if let (set, member) = setAndMember(path) {
                tracker.record(.appeared, set: set, member: member, at: .now)
            }
            return
        }
        guard path.components.count <= FolderScan.deepest else { return misplaced(path, .tooDeep) }
        if settings.takesSets { tracker.recordSet(BytePath(path.components[0]), isDeclaredComplete: false, at: .now) }
        scan.add(path)
    }

    func folderVanished(_ path: BytePath) {
        events?.forget(path)
        noLongerMisplaced(path)
        guard let (set, member) = setAndMember(path) else { return tracker.forgetFolder(path) }
        tracker.record(.vanished, set: set, member: member, at: .now)
    }

    /// In an inbox of sets, the set that a path belongs to, and the path from there.
    func setAndMember(_ path: BytePath) -> (set: BytePath, member: BytePath)? {
        guard settings.takesSets, let slash = path.bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return (BytePath(Array(path.bytes[..<slash])), BytePath(Array(path.bytes[(slash + 1)...])))
    }

    func updateStatus() {
        status.counts = tracker.counts
        status.blocked = tracker.blocked(limit: 5)
        status.passedOver = tracker.passedOver(limit: 5)
        status.settling = tracker.settling(limit: 5)
        if let events { status.how = .events(folders: events.count) }
    }
}
