// The loop that watches one inbox: it feeds events, scans and looks to the tracker, and returns what is ready. Belongs
// to one thread.
import Glibc
import Pipeline
import System

/// Watches one inbox, in short turns. Used by one thread.
final class WatchLoop {
    private let settings: WatchSettings
    private let isDone: (BytePath, FileStatus) -> Bool
    private let log: (WatchNote) -> Void
    private let goesOn: () -> Void
    private let makeEvents: EventMaker
    private var tracker: SourceTracker
    private let scan: FolderScan
    private let slowLooks: SlowLooks
    private var events: FolderEvents?
    private var root: FileIdentity?
    /// The inbox was a mount when it was last there.
    private var wasMount = false
    private var nextScan = Moment.now
    private var nextRootCheck = Moment.now
    private var scanBegan = Moment.now
    private var ignoredInScan = 0
    private var tooDeepInScan = 0
    private var unreadableInScan: [(path: BytePath, reason: SystemError)] = []
    /// The scan could not read something, for a reason that may be gone soon.
    private var hasMissedSome = false
    /// The last scan could not look into some folders.
    private var wasPartial = false
    /// The folders as the last scan has seen them, while something is blocked and there are no events.
    private var blockedFolders: [BytePath: FileStatus] = [:]
    /// The paths that were logged already; cleared when there are too many.
    private var logged: Set<BytePath> = []
    private(set) var status = InboxStatus()

    /// When to scan again after something could not be read.
    private static let retryInterval = Duration.seconds(5)
    /// Folders that cannot be looked into and are named.
    private static let mostUnreadable = 100
    /// Folders whose permissions are watched without events; what is blocked in others waits for its time.
    private static let mostFolders = 10_000
    /// Names in one step of a scan, and the most looks in one turn: a few milliseconds of work.
    private static let stepSize = 512

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
    private func openRoot(at now: Moment) -> Directory? {
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
    private func noticeReadable(_ directory: Directory) {
        let mayBeRead = status.unreadable.contains { path, reason in
            [EACCES, EPERM].contains(reason.code) && (try? directory.folder(path)) != nil
        }
        guard mayBeRead else { return }
        status.unreadable = []
        nextScan = .now
    }

    /// The permissions of a folder have changed, perhaps so that it may not be looked into any more.
    private func noticeUnreadable(_ path: BytePath) {
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

    private func begin(_ directory: Directory, _ identity: FileIdentity) {
        forgetEverything()
        root = identity
        if status.pause != nil {
            status.pause = nil
            log(.resumed)
        }
        startWatching(directory)
        nextScan = .now
    }

    private func forgetEverything() {
        root = nil
        events = nil
        scan.stop()
        tracker.forgetAll()
        blockedFolders = [:]
        wasPartial = false
        status.unreadable = []
        logged = []
    }

    private func pause(_ reason: Pause) {
        if root != nil { forgetEverything() }
        guard status.pause != reason else { return }
        if status.pause == nil { status.pausedSince = wallClock() }
        status.pause = reason
        log(.paused(reason))
    }

    private func startWatching(_ directory: Directory) {
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

    private func watchByEvents(_ directory: Directory) {
        do throws(FolderEvents.Shortage) {
            let events = try makeEvents()
            try events.watch(directory, as: BytePath([]))
            self.events = events
            setWatching(.events(folders: 1))
        } catch {
            poll(every: WatchMode.usualPoll, because: error.advice)
        }
    }

    private func poll(every time: Duration, because reason: String) {
        events = nil
        setWatching(.polling(every: time, because: reason))
    }

    private func setWatching(_ how: WatchingHow) {
        if status.how != how { log(.watching(how)) }
        status.how = how
    }

    // MARK: Events

    private func readEvents() {
        // A few buffers at a time, so that a flood of events does not delay the looks.
        for _ in 0..<16 {
            guard let found = events?.read(), !found.isEmpty else { return }
            for event in found { handle(event) }
        }
    }

    private func handle(_ event: FolderEvent) {
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

    private func fileChanged(_ event: SourceTracker.Event, _ path: BytePath) {
        let name = path.lastComponent.bytes
        guard let (set, member) = setAndMember(path) else {
            guard !settings.ignored.contains(name) else { return }
            if settings.takesSets {
                if event != .vanished { logOnce(path, .loose(path)) }
            } else {
                tracker.record(event, path, at: .now)
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

    private func folderAppeared(_ path: BytePath) {
        let name = path.lastComponent.bytes
        guard !settings.ignored.contains(name) else {
            if let (set, member) = setAndMember(path) {
                tracker.record(.appeared, set: set, member: member, at: .now)
            }
            return
        }
        guard path.components.count <= FolderScan.deepest else { return logOnce(path, .tooDeep(path)) }
        if settings.takesSets { tracker.recordSet(BytePath(path.components[0]), isDeclaredComplete: false, at: .now) }
        scan.add(path)
    }

    private func folderVanished(_ path: BytePath) {
        events?.forget(path)
        guard let (set, member) = setAndMember(path) else { return tracker.forgetFolder(path) }
        tracker.record(.vanished, set: set, member: member, at: .now)
    }

    /// In an inbox of sets, the set that a path belongs to, and the path from there.
    private func setAndMember(_ path: BytePath) -> (set: BytePath, member: BytePath)? {
        guard settings.takesSets, let slash = path.bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return (BytePath(Array(path.bytes[..<slash])), BytePath(Array(path.bytes[(slash + 1)...])))
    }

    // MARK: Scans

    private func continueScan(_ directory: Directory) {
        let now = Moment.now
        // A running scan is finished first: otherwise a flood that keeps losing events would restart it again and
        // again.
        let isWanted = now >= nextScan || tracker.wantsScan
        if isWanted && !(scan.isRunning && scan.isWhole) { beginScan(at: now) }
        guard scan.isRunning else { return }
        goesOn()
        scan.step(in: directory, names: Self.stepSize) { handle($0) }
        if !scan.isRunning && scan.isWhole { endScan() }
    }

    private func beginScan(at now: Moment) {
        tracker.beginScan()
        scan.startWhole()
        scanBegan = now
        ignoredInScan = 0
        tooDeepInScan = 0
        unreadableInScan = []
        hasMissedSome = false
        nextScan = .never
    }

    private func endScan() {
        let now = Moment.now
        let isPartial = !unreadableInScan.isEmpty
        tracker.endScan(at: now, isPartial: isPartial)
        if wasPartial, !isPartial, tracker.unblock(below: BytePath([]), at: now) { nextScan = now }
        wasPartial = isPartial
        status.scans += 1
        status.scanSeconds = Double(now.nanoseconds - scanBegan.nanoseconds) / 1e9
        status.ignored = ignoredInScan
        status.tooDeep = tooDeepInScan
        status.unreadable = unreadableInScan
        // Another scan was requested meanwhile.
        guard nextScan == .never else { return }
        let interval =
            switch status.how {
            case .polling(let time, _)?: time
            case .events?, nil: hasMissedSome ? min(settings.rescan, Self.retryInterval) : settings.rescan
            }
        nextScan = Self.nextScan(began: scanBegan, ended: now, interval: interval, longest: settings.rescan)
    }

    /// When to scan again: after the interval. A scan that takes long is followed by a pause of ten times its duration,
    /// but the pause ends when the last scan began `longest` ago, or when it is as long as that scan, whichever is
    /// later.
    static func nextScan(began: Moment, ended: Moment, interval: Duration, longest: Duration) -> Moment {
        let duration = Duration.nanoseconds(ended.nanoseconds - began.nanoseconds)
        let latest = max(began + max(interval, longest), ended + duration)
        return min(ended + max(interval, duration * 10), latest)
    }

    private func handle(_ found: FolderScan.Found) {
        switch found {
        case .folder(let path, let directory):
            status.unreadable.removeAll { $0.path == path }
            unreadableInScan.removeAll { $0.path == path }
            watch(path, directory)
        case .set(let path, let folder): tracker.scannedSet(path, folder: folder, at: .now)
        case .file(let path, _) where settings.takesSets: logOnce(path, .loose(path))
        case .file(let path, let status):
            if !isDone(path, status) { tracker.scanned(path, status, at: .now) }
        case .irregular(let path, let kind): logOnce(path, .irregular(path, kind))
        case .ignored: ignoredInScan += 1
        case .tooDeep(let path):
            tooDeepInScan += 1
            logOnce(path, .tooDeep(path))
        case .unreadable(let path, let error):
            if error.mayPass { hasMissedSome = true }
            if unreadableInScan.count < Self.mostUnreadable { unreadableInScan.append((path, error)) }
            logOnce(path, .unreadable(path, error))
        }
    }

    private func watch(_ path: BytePath, _ directory: Directory) {
        guard let events else { return noticeRepair(path, directory) }
        do throws(FolderEvents.Shortage) {
            try events.watch(directory, as: path)
        } catch {
            poll(every: WatchMode.usualPoll, because: error.advice)
            tracker.forgetWriters()
        }
    }

    /// Without events, a scan notices that the permissions of a folder have changed since the last one. Its contents
    /// change the folder's own times alike, and new permissions only one of them.
    private func noticeRepair(_ path: BytePath, _ directory: Directory) {
        guard tracker.counts.blocked > 0, let now = try? directory.file.status() else { return blockedFolders = [:] }
        let before = blockedFolders[path]
        if blockedFolders.count < Self.mostFolders || before != nil { blockedFolders[path] = now }
        guard let before else { return }
        let isNew = now.changed != before.changed && now.changed != now.modified
        if isNew || now.mode != before.mode || now.owner != before.owner, tracker.unblock(below: path, at: .now) {
            nextScan = .now
        }
    }

    /// Logs something about a path, but only once.
    private func logOnce(_ path: BytePath, _ text: WatchNote) {
        if logged.count >= 10_000 { logged = [] }
        guard logged.insert(path).inserted else { return }
        switch text {
        case .irregular, .loose: status.irregular += 1
        case .watching, .paused, .resumed, .overflow, .unreadable, .blocked, .passedOver, .tooDeep: break
        }
        log(text)
    }

    // MARK: Looks

    private func lookAtDueSources(_ directory: Directory) -> [Offer] {
        let look = SourceLook(root: directory, ignored: settings.ignored, largest: settings.largest)
        var ready: [Offer] = []
        for (action, found) in slowLooks.takeOutcomes() { follow(record(found, of: action), look, &ready) }
        let end = Moment.now + settings.lookTime
        for _ in 0..<Self.stepSize {
            guard let action = tracker.nextAction(at: .now) else { break }
            follow(action, look, &ready)
            if .now >= end { break }
        }
        return ready
    }

    /// Performs an action of the tracker, and those that follow from it.
    private func follow(_ first: SourceTracker.Action?, _ look: SourceLook, _ ready: inout [Offer]) {
        var (next, look) = (first, look)
        while let action = next {
            if case .offer(let path, let isSet, let status, let order) = action {
                goesOn()
                if let offer = offer(path, isSet: isSet, status, order, look.root) { ready.append(offer) }
                return
            }
            goesOn()
            look.deadline = .now + settings.lookTime
            next = record(Result { () throws(SystemError) in try look.find(action) }, of: action)
        }
    }

    private func offer(
        _ path: BytePath, isSet: Bool, _ status: FileStatus, _ order: UInt64, _ inbox: Directory
    ) -> Offer? {
        guard let root, !isDone(path, status) else {
            tracker.answered(path, observed: status.version, with: .taken, at: .now)
            return nil
        }
        if !isSet, let reason = passesOver(path, in: inbox) {
            logOnce(path, .passedOver(path, reason))
            tracker.passOver(path, reason, at: .now)
            return nil
        }
        return Offer(inbox: settings.name, root: root, path: path, isSet: isSet, status: status, order: order)
    }

    /// Why a complete file is no source, as a search judges it; nil for a source.
    private func passesOver(_ path: BytePath, in inbox: Directory) -> NoPicture? {
        // Most files need no folder for that.
        guard !isNamedLikeAPicture(path, allowed: settings.allowed),
            let folder = try? path.directory.bytes.isEmpty ? inbox : inbox.folder(path.directory)
        else { return nil }
        return noPicture(path, in: folder, allowed: settings.allowed, followLinks: false)
    }

    /// Tells the tracker what came of an action.
    /// - Parameter found: nil if there was no time for it.
    /// - Returns: the action that follows.
    private func record(
        _ found: Result<SourceLook.Found?, SystemError>, of action: SourceTracker.Action
    ) -> SourceTracker.Action? {
        let path = action.path
        switch found {
        case .success(nil): slowLooks.add(action)
        case .success(.look(.source(let status, let signs))):
            // A set that is done and stays in the inbox; a file of that kind is left out by the scan.
            let isOver = status.kind == .directory && isDone(path, status)
            return tracker.looked(path, status: isOver ? nil : status, signs: signs, at: .now)
        case .success(.look(.irregular(let kind))):
            logOnce(path, .irregular(path, kind))
            return tracker.looked(path, status: nil, at: .now)
        case .success(.look(.nothing)): return tracker.looked(path, status: nil, at: .now)
        case .success(.examination(let found)): return tracker.examined(path, found, at: .now)
        case .failure(let error) where error.isAbsence: return tracker.looked(path, status: nil, at: .now)
        case .failure(let error):
            tracker.failed(path, error, at: .now)
            logOnce(path, .blocked(path, error))
        }
        return nil
    }

    private func updateStatus() {
        status.counts = tracker.counts
        status.blocked = tracker.blocked(limit: 5)
        status.passedOver = tracker.passedOver(limit: 5)
        status.settling = tracker.settling(limit: 5)
        if let events { status.how = .events(folders: events.count) }
    }
}
