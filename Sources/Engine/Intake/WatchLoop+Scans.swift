// Scans of an inbox: everything that is there, a few names in each turn.
import Pipeline
import System

extension WatchLoop {
    func continueScan(_ directory: Directory) {
        let now = Moment.now
        // A running scan is finished first: otherwise a flood that keeps losing events would restart it again and
        // again.
        let isWanted = now >= nextScan || tracker.wantsScan
        if isWanted && !(scan.isRunning && scan.isWhole) { beginScan(at: now) }
        guard scan.isRunning else { return }
        goesOn()
        scan.step(in: directory, names: Self.stepSize) { handle($0, in: directory) }
        if !scan.isRunning && scan.isWhole { endScan() }
    }

    func beginScan(at now: Moment) {
        tracker.beginScan()
        scan.startWhole()
        scanBegan = now
        ignoredInScan = 0
        misplacedInScan = MisplacedFiles()
        unreadableInScan = []
        hasMissedSome = false
        nextScan = .never
    }

    func endScan() {
        let now = Moment.now
        let isPartial = !unreadableInScan.isEmpty
        tracker.endScan(at: now, isPartial: isPartial)
        if wasPartial, !isPartial, tracker.unblock(below: BytePath([]), at: now) { nextScan = now }
        wasPartial = isPartial
        status.scans += 1
        status.scanSeconds = Double(now.nanoseconds - scanBegan.nanoseconds) / 1e9
        status.ignored = ignoredInScan
        status.misplaced = misplacedInScan
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

    func handle(_ found: FolderScan.Found, in inbox: Directory) {
        switch found {
        case .folder(let path, let directory):
            status.unreadable.removeAll { $0.path == path }
            unreadableInScan.removeAll { $0.path == path }
            watch(path, directory)
        case .set(let path, let folder): tracker.scannedSet(path, folder: folder, at: .now)
        case .file(let path, _) where isSidecarOfFolder(path): break
        case .file(let path, _) where settings.takesSets: misplaced(path, .outsideOfSets)
        // Its picture is looked at with it.
        case .file(let path, _) where hasPicture(sidecar: path, in: inbox): break
        case .file(let path, let status):
            guard !isDone(path, status) else { return }
            // The file that was taken in its place may be gone.
            if tracker.mayBePassedOver(path), settings.companions.mayBePaired(path),
                (try? isPassedOver(path, in: inbox)) == false
            {
                tracker.reconsider(path, at: .now)
            }
            tracker.scanned(path, status, at: .now)
        case .irregular(let path, let kind): logOnce(path, .irregular(path, kind))
        case .ignored: ignoredInScan += 1
        case .tooDeep(let path): misplaced(path, .tooDeep)
        case .unreadable(let path, let error):
            if error.mayPass { hasMissedSome = true }
            if unreadableInScan.count < Self.mostUnreadable { unreadableInScan.append((path, error)) }
            logOnce(path, .unreadable(path, error))
        }
    }

    func watch(_ path: BytePath, _ directory: Directory) {
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
    func noticeRepair(_ path: BytePath, _ directory: Directory) {
        guard tracker.counts.blocked > 0, let now = try? directory.file.status() else { return blockedFolders = [:] }
        let before = blockedFolders[path]
        if blockedFolders.count < Self.mostFolders || before != nil { blockedFolders[path] = now }
        guard let before else { return }
        let isNew = now.changed != before.changed && now.changed != now.modified
        if isNew || now.mode != before.mode || now.owner != before.owner, tracker.unblock(below: path, at: .now) {
            nextScan = .now
        }
    }

    /// Something is where nothing is taken from.
    func misplaced(_ path: BytePath, _ reason: Misplacement) {
        status.misplaced.add(path, reason)
        // A scan that is under way may have been there already.
        misplacedInScan.add(path, reason)
        logOnce(path, .misplaced(path, reason))
    }

    /// It is not there any more.
    func noLongerMisplaced(_ path: BytePath) {
        misplacedInScan.remove(atOrBelow: path)
        status.misplaced.remove(atOrBelow: path)
        logged.remove(path)
    }

    /// Logs something about a path, but only once.
    func logOnce(_ path: BytePath, _ text: WatchNote) {
        if logged.count >= 10_000 { logged = [] }
        guard logged.insert(path).inserted else { return }
        if case .irregular = text { status.irregular += 1 }
        log(text)
    }
}
