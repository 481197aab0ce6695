// One inbox' way round: events, scans and looks, fed to the tracker, which says what is ready. Belongs to one thread.
import Glibc
package import Pipeline

/// What an inbox' watcher needs to know.
package struct WatchSettings: Sendable {
    /// The inbox' name, by which it is known in the queue.
    package var name: String
    package var path: BytePath
    package var mode: WatchMode
    package var times: SettleTimes
    package var setQuiet: Duration
    /// The pipeline takes sets: each folder in the inbox is one source.
    package var takesSets: Bool
    package var ignored: IgnoredNames
    /// How often everything is looked through where events come.
    package var rescan = Duration.seconds(60)
    /// How often is looked whether the inbox is still the same folder.
    package var rootCheck = Duration.seconds(1)
    /// The most sources that are kept in mind.
    package var capacity = 150_000

    package init(
        name: String, path: BytePath, mode: WatchMode = .auto, times: SettleTimes = SettleTimes(), setQuiet: Duration = .seconds(5),
        takesSets: Bool = false, ignored: IgnoredNames = IgnoredNames()
    ) {
        self.name = name
        self.path = path
        self.mode = mode
        self.times = times
        self.setQuiet = setQuiet
        self.takesSets = takesSets
        self.ignored = ignored
    }
}

/// Watches one inbox, a little at a time. Used by one thread.
final class WatchLoop {
    private let settings: WatchSettings
    private let isDone: (BytePath, Sighting) -> Bool
    private let note: (WatchNote) -> Void
    private let makeEvents: EventMaker
    private var tracker: SourceTracker
    private let scan: FolderScan
    private var events: FolderEvents?
    private var root: FileIdentity?
    /// The inbox was a mount when it was last there.
    private var wasMount = false
    private var nextScan = Moment.now
    private var nextRootCheck = Moment.now
    private var scanBegan = Moment.now
    private var ignoredSoFar = 0
    /// The scan could not read something, for a reason that may be gone soon.
    private var hasMissedSome = false
    /// What the log has heard of already; forgotten when it grows too long.
    private var mentioned: Set<BytePath> = []
    private(set) var status = InboxStatus()

    /// When to look again at what could not be read.
    private static let secondLook = Duration.seconds(5)
    /// Names in one step of a scan, and looks in one turn: a few milliseconds' worth.
    private static let stepSize = 512

    typealias EventMaker = () throws(FolderEvents.Shortage) -> FolderEvents

    /// - Parameter makeEvents: how events are come by; tests make them scarce.
    init(
        _ settings: WatchSettings, isDone: @escaping (BytePath, Sighting) -> Bool, note: @escaping (WatchNote) -> Void,
        makeEvents: @escaping EventMaker = { () throws(FolderEvents.Shortage) in try FolderEvents() }
    ) {
        self.settings = settings
        self.makeEvents = makeEvents
        self.isDone = isDone
        self.note = note
        tracker = SourceTracker(times: settings.times, setQuiet: settings.setQuiet, capacity: settings.capacity)
        scan = FolderScan(ignored: settings.ignored, takesSets: settings.takesSets)
    }

    /// The descriptor that becomes readable when there are events.
    var descriptor: CInt? { events?.descriptor }

    /// Looks through everything at the next turn.
    func rescan() { nextScan = .now }

    func answered(_ source: ReadySource, _ answer: ClaimAnswer) {
        guard source.root == root else { return }
        if case .blocked(let error) = answer { mention(source.relative, .blocked(source.relative, error)) }
        tracker.answered(source.relative, source.sighting, answer, at: .now)
    }

    /// Goes round once.
    /// - Returns: what became ready, and the time by which to come again.
    func turn() -> (ready: [ReadySource], next: Moment) {
        defer { publishStatus() }
        let now = Moment.now
        guard let directory = openRoot(at: now) else { return ([], nextRootCheck) }
        readEvents()
        // The events may have told that the inbox is another one now.
        guard root != nil else { return ([], now) }
        goOnScanning(directory)
        let ready = lookAtWhatIsDue(directory)
        let isBusy = scan.isRunning || (tracker.nextDue ?? .never) <= .now
        return (ready, isBusy ? now : min(tracker.nextDue ?? .never, nextScan, nextRootCheck))
    }

    // MARK: The inbox itself

    /// The inbox, where it is there. A held descriptor would keep its file system from being unmounted, so that it is opened anew each time.
    private func openRoot(at now: Moment) -> Directory? {
        nextRootCheck = now + settings.rootCheck
        do throws(SystemError) {
            let directory = try Directory(settings.path)
            let identity = try directory.identity
            if identity != root {
                let isMount = Directory.isMountPoint(settings.path)
                // What stands beneath a mount is another folder, which nobody has meant.
                guard isMount || !wasMount else {
                    pause(InboxPause(unmounted: settings.path, .missingInbox))
                    return nil
                }
                wasMount = isMount
                arrive(at: directory, identity)
            }
            return directory
        } catch {
            pause(InboxPause(error, missing: .missingInbox))
            return nil
        }
    }

    private func arrive(at directory: Directory, _ identity: FileIdentity) {
        leave()
        root = identity
        if status.pause != nil {
            status.pause = nil
            note(.resumed)
        }
        startWatching(directory)
        nextScan = .now
    }

    private func leave() {
        root = nil
        events = nil
        scan.stop()
        tracker.forgetAll()
        mentioned = []
    }

    private func pause(_ reason: InboxPause) {
        if root != nil { leave() }
        guard status.pause != reason else { return }
        if status.pause == nil { status.pausedSince = wallClock() }
        status.pause = reason
        note(.paused(reason))
    }

    private func startWatching(_ directory: Directory) {
        switch settings.mode {
        case .poll(let time): look(every: time, "the mill file says so")
        case .auto:
            if let kind = RemoteFileSystem.name(of: directory) {
                look(every: WatchMode.usualPoll, "on \(kind), changes by other machines bring no events")
            } else {
                awaitEvents(directory)
            }
        case .events: awaitEvents(directory)
        }
    }

    private func awaitEvents(_ directory: Directory) {
        do throws(FolderEvents.Shortage) {
            let events = try makeEvents()
            try events.watch(directory, as: BytePath([]))
            self.events = events
            tell(.events(folders: 1))
        } catch {
            look(every: WatchMode.usualPoll, error.advice)
        }
    }

    private func look(every time: Duration, _ reason: String) {
        events = nil
        tell(.polling(every: time, because: reason))
    }

    private func tell(_ how: WatchingHow) {
        if status.how != how { note(.watching(how)) }
        status.how = how
    }

    // MARK: Events

    private func readEvents() {
        // A few buffers at a time, so that a storm of events does not keep from looking.
        for _ in 0..<16 {
            guard let found = events?.read(), !found.isEmpty else { return }
            for event in found { take(event) }
        }
    }

    private func take(_ event: FolderEvent) {
        switch event {
        case .file(let event, let path): file(event, path)
        case .folderAppeared(let path): folderAppeared(path)
        case .folderVanished(let path): folderVanished(path)
        case .rootGone: leave()
        case .overflow:
            status.overflows += 1
            note(.overflow)
            tracker.noteLostEvents()
            nextScan = .now
        }
    }

    private func file(_ event: SourceTracker.Event, _ path: BytePath) {
        let name = path.lastComponent.bytes
        guard let (set, member) = setAndMember(path) else {
            guard !settings.ignored.contains(name) else { return }
            if settings.takesSets {
                if event != .vanished { mention(path, .loose(path)) }
            } else {
                tracker.note(event, path, at: .now)
            }
            return
        }
        if name == SourceLook.doneMark && member.directory.bytes.isEmpty {
            tracker.noteSet(set, isDeclaredComplete: event != .vanished, at: .now)
        } else if !settings.ignored.contains(name) {
            tracker.note(event, set: set, member: member, at: .now)
        }
    }

    private func folderAppeared(_ path: BytePath) {
        guard !settings.ignored.contains(path.lastComponent.bytes), path.components.count <= FolderScan.deepest else { return }
        if settings.takesSets { tracker.noteSet(BytePath(path.components[0]), isDeclaredComplete: false, at: .now) }
        scan.add(path)
    }

    private func folderVanished(_ path: BytePath) {
        events?.forget(path)
        if let (set, member) = setAndMember(path) {
            tracker.note(.vanished, set: set, member: member, at: .now)
        } else {
            tracker.forgetFolder(path)
        }
    }

    /// In an inbox of sets, the set that a path lies in, and the path from there.
    private func setAndMember(_ path: BytePath) -> (set: BytePath, member: BytePath)? {
        guard settings.takesSets, let slash = path.bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        return (BytePath(Array(path.bytes[..<slash])), BytePath(Array(path.bytes[(slash + 1)...])))
    }

    // MARK: Scans

    private func goOnScanning(_ directory: Directory) {
        let now = Moment.now
        // A scan that is under way comes to its end first: a flood that drops events all the time would keep it at its beginning.
        let isWanted = now >= nextScan || tracker.wantsScan
        if isWanted && !(scan.isRunning && scan.isWhole) { beginScan(at: now) }
        guard scan.isRunning else { return }
        scan.step(in: directory, names: Self.stepSize) { take($0) }
        if !scan.isRunning && scan.isWhole { endScan() }
    }

    private func beginScan(at now: Moment) {
        tracker.beginScan()
        scan.startWhole()
        scanBegan = now
        ignoredSoFar = 0
        hasMissedSome = false
        nextScan = .never
    }

    private func endScan() {
        let now = Moment.now
        tracker.endScan(at: now)
        status.scans += 1
        status.ignored = ignoredSoFar
        // Somebody asked for another one meanwhile.
        guard nextScan == .never else { return }
        // Where a scan takes long, it does not follow itself at once.
        let pause = Duration.nanoseconds(10 * (now.nanoseconds - scanBegan.nanoseconds))
        switch status.how {
        case .polling(let time, _)?: nextScan = now + max(time, pause)
        case .events?, nil: nextScan = now + max(hasMissedSome ? min(settings.rescan, Self.secondLook) : settings.rescan, pause)
        }
    }

    private func take(_ found: FolderScan.Found) {
        switch found {
        case .folder(let path, let directory): watch(path, directory)
        case .set(let path): tracker.scanned(path, isSet: true, nil, at: .now)
        case .file(let path, _) where settings.takesSets: mention(path, .loose(path))
        case .file(let path, let sighting):
            if !isDone(path, sighting) { tracker.scanned(path, sighting, at: .now) }
        case .irregular(let path, let kind): mention(path, .irregular(path, kind))
        case .ignored: ignoredSoFar += 1
        case .unreadable(let path, let error):
            if error.mayPass { hasMissedSome = true }
            mention(path, .unreadable(path, error))
        }
    }

    private func watch(_ path: BytePath, _ directory: Directory) {
        guard let events else { return }
        do throws(FolderEvents.Shortage) {
            try events.watch(directory, as: path)
        } catch {
            look(every: WatchMode.usualPoll, error.advice)
            tracker.noteLostEvents()
        }
    }

    private func mention(_ path: BytePath, _ text: WatchNote) {
        if mentioned.count >= 10_000 { mentioned = [] }
        guard mentioned.insert(path).inserted else { return }
        switch text {
        case .irregular, .loose: status.irregular += 1
        case .watching, .paused, .resumed, .overflow, .unreadable, .blocked: break
        }
        note(text)
    }

    // MARK: Looks

    private func lookAtWhatIsDue(_ directory: Directory) -> [ReadySource] {
        let look = SourceLook(root: directory, ignored: settings.ignored)
        var ready: [ReadySource] = []
        for _ in 0..<Self.stepSize {
            guard var action = tracker.nextAction(at: .now) else { break }
            while let next = perform(action, look, &ready) { action = next }
        }
        return ready
    }

    /// Does what the tracker asks for, and gives what follows from it.
    private func perform(_ action: SourceTracker.Action, _ look: SourceLook, _ ready: inout [ReadySource]) -> SourceTracker.Action? {
        switch action {
        case .look(let path, let isSet):
            return attempt(path) { () throws(SystemError) in try lookAt(path, isSet: isSet, look) }
        case .examine(let path, let isSet):
            return attempt(path) { () throws(SystemError) in
                let found = try look.examine(path, isSet: isSet)
                return tracker.examined(path, found, at: .now)
            }
        case .offer(let path, let isSet, let sighting, let order):
            guard let root, !isDone(path, sighting) else {
                tracker.answered(path, sighting, .taken, at: .now)
                return nil
            }
            ready.append(ReadySource(inbox: settings.name, root: root, relative: path, isSet: isSet, sighting: sighting, order: order))
            return nil
        }
    }

    private func lookAt(_ path: BytePath, isSet: Bool, _ look: SourceLook) throws(SystemError) -> SourceTracker.Action? {
        switch try look.look(path, isSet: isSet) {
        case .source(let sighting, _) where isSet && isDone(path, sighting):
            return tracker.looked(path, nil, at: .now)
        case .source(let sighting, let isDeclared):
            return tracker.looked(path, sighting, isDeclaredComplete: isDeclared, at: .now)
        case .irregular(let kind):
            mention(path, .irregular(path, kind))
            return tracker.looked(path, nil, at: .now)
        case .nothing: return tracker.looked(path, nil, at: .now)
        }
    }

    private func attempt(_ path: BytePath, _ work: () throws(SystemError) -> SourceTracker.Action?) -> SourceTracker.Action? {
        do throws(SystemError) {
            return try work()
        } catch {
            if error.isAbsence { return tracker.looked(path, nil, at: .now) }
            tracker.failed(path, error, at: .now)
            mention(path, .blocked(path, error))
            return nil
        }
    }

    private func publishStatus() {
        status.counts = tracker.counts
        status.blocked = tracker.blocked(limit: 5)
        status.isScanning = scan.isRunning
        status.lastTurn = .now
        if let events { status.how = .events(folders: events.count) }
    }
}
