// The state of all sources of an inbox. Pure: it is given events and the results of looks, and says where to look next
// and what to offer.
package import Pipeline
package import System

/// The number of sources in each phase, for the status.
package struct TrackerCounts: Equatable, Sendable {
    package var settling = 0
    package var ready = 0
    package var blocked = 0
    /// Files that are no pictures.
    package var passedOver = 0
    package init(settling: Int = 0, ready: Int = 0, blocked: Int = 0, passedOver: Int = 0) {
        self.settling = settling
        self.ready = ready
        self.blocked = blocked
        self.passedOver = passedOver
    }
}

/// The sources of one inbox, each from its first sight until it is claimed.
package struct SourceTracker {
    /// An event that has happened to a name.
    package enum Event: Equatable, Sendable {
        /// A new file, or a new name of a file.
        case appeared
        case written
        /// Closed after writing, or moved in.
        case finished
        /// Permissions, times, links.
        case touched
        /// Removed or moved away.
        case vanished
    }

    /// An action that the caller must take.
    package enum Action: Equatable, Sendable {
        /// Look at the source, and pass the result to `looked`.
        case look(BytePath, isSet: Bool)
        /// Open the source, and pass the result to `examined`.
        case examine(BytePath, isSet: Bool)
        case offer(BytePath, isSet: Bool, FileStatus, order: UInt64)

        var path: BytePath {
            switch self {
            case .look(let path, _), .examine(let path, _), .offer(let path, _, _, _): path
            }
        }
    }

    private enum Phase: UInt8 { case settling, ready, blocked, passedOver }

    private struct Entry {
        let path: BytePath
        let isSet: Bool
        let order: UInt64
        /// A set's folder, as the last scan has seen it.
        var folder: FileIdentity?
        var settling: Settling
        var phase = Phase.settling
        /// When to look at it; `never` while it is offered.
        var due: Moment
        /// Its earliest alarm.
        var alarm = Moment.never
        /// How often in a row it could not be taken.
        var blocks: UInt8 = 0
        var blockedBy: SystemError?
        /// Why it is no source.
        var passedOverFor: NoPicture?
        /// It was offered in its present state, and there is no answer yet.
        var isOffered = false
        /// The number of the last whole scan that saw it.
        var scan: UInt32
        /// Tells the alarms of this entry from those of the slot's earlier entries.
        let generation: UInt32
    }

    private struct Alarm: Comparable {
        let time: Moment
        let slot: Int32
        let generation: UInt32
        static func < (left: Alarm, right: Alarm) -> Bool { left.time < right.time }
    }

    private let times: SettleTimes
    private let setTimes: SettleTimes
    /// The largest number of entries in memory; a later scan finds what did not fit.
    private let capacity: Int
    private var slots: [Entry?] = []
    private var free: [Int32] = []
    private var index: [BytePath: Int32] = [:]
    private var alarms = Heap<Alarm>()
    private var nextOrder: UInt64 = 0
    private var nextGeneration: UInt32 = 0
    private var scan: UInt32 = 0
    /// Members of sets that are being written, by set.
    private var openMembers: [BytePath: Set<BytePath>] = [:]
    private var hasOverflowed = false
    private var phases = TrackerCounts()
    /// Blocked sources for which there is no room.
    private var aside: SetAside
    /// How many there are: by the last whole scan, and since.
    private var asideCount = 0
    private var asideInScan = 0
    /// Files that are no pictures for which there is no room, and their number.
    private var passed: SetAside
    private var passedCount = 0
    private var passedInScan = 0

    /// - Parameter setQuiet: how long nothing must change in a set until it is complete.
    package init(times: SettleTimes, setQuiet: Duration = .seconds(5), capacity: Int = 150_000) {
        self.times = times
        setTimes = SettleTimes(
            settle: setQuiet, incompleteAfter: max(times.incompleteAfter, setQuiet), zeroByteAfter: times.zeroByteAfter)
        self.capacity = capacity
        aside = SetAside(count: 4 * capacity)
        passed = SetAside(count: 4 * capacity)
    }

    package var counts: TrackerCounts {
        var counts = phases
        counts.blocked += asideCount
        counts.passedOver += passedCount
        return counts
    }

    /// Blocked sources have a part of the room only, and so have files that are no pictures: they leave enough to the
    /// others.
    private var mostIdle: Int { max(1, capacity / 16) }

    package var count: Int { index.count }

    /// There is room again for sources that did not fit: a scan will find them.
    package var wantsScan: Bool { hasOverflowed && count <= capacity / 2 }

    /// When the next look is due; nil if none is.
    package var nextDue: Moment? { alarms.first?.time }

    /// Up to `limit` sources that could not be taken, with the reason.
    package func blocked(limit: Int) -> [(path: BytePath, reason: SystemError)] {
        var found: [(path: BytePath, reason: SystemError)] = []
        guard phases.blocked > 0 else { return found }
        for case let entry? in slots where entry.phase == .blocked {
            guard found.count < limit, let reason = entry.blockedBy else { break }
            found.append((entry.path, reason))
        }
        return found
    }

    /// Up to `limit` files that are no pictures, with the reason.
    package func passedOver(limit: Int) -> [(path: BytePath, reason: NoPicture)] {
        var found: [(path: BytePath, reason: NoPicture)] = []
        guard phases.passedOver > 0 else { return found }
        for case let entry? in slots where entry.phase == .passedOver {
            guard let reason = entry.passedOverFor else { break }
            found.append((entry.path, reason))
            guard found.count < min(limit, phases.passedOver) else { break }
        }
        return found
    }

    /// Up to `limit` sources that are not complete yet, with the reason, and the time at which they are decoded anyway.
    package func settling(limit: Int) -> [SettlingSource] {
        var found: [SettlingSource] = []
        guard phases.settling > 0 else { return found }
        for case let entry? in slots where entry.phase == .settling {
            guard found.count < limit else { break }
            found.append(
                SettlingSource(
                    path: entry.path, reason: entry.settling.reason, deadline: entry.settling.deadline(times(entry))))
        }
        return found
    }

    // MARK: Events

    /// Records an event about a file.
    package mutating func record(_ event: Event, _ path: BytePath, at now: Moment) {
        if event == .vanished { return forget(path) }
        guard let slot = slot(of: path, isSet: false, at: now) else { return }
        change(slot) { entry, times in
            switch event {
            case .appeared: entry.settling.recordChange(at: now)
            case .written: entry.settling.recordWriting(at: now)
            case .finished: entry.settling.recordFinish(at: now)
            // The look will show whether it matters.
            case .touched, .vanished: break
            }
            entry.phase = .settling
            entry.due = event == .finished || event == .touched ? now : now + times.settle
        }
    }

    /// Records that the sidecar of a picture came, went or changed: it is looked at with it.
    package mutating func sidecarChanged(of path: BytePath, at now: Moment) {
        guard let slot = index[path].map(Int.init) else { return }
        change(slot) { entry, _ in entry.due = min(entry.due, now) }
    }

    /// Records an event in a set's folder: about a member, or about a file with an unfinished name.
    package mutating func record(_ event: Event, set: BytePath, member: BytePath, at now: Moment) {
        guard let slot = slot(of: set, isSet: true, at: now) else { return }
        switch event {
        case .written: openMembers[set, default: []].insert(member)
        case .finished, .vanished:
            openMembers[set]?.remove(member)
            if openMembers[set]?.isEmpty == true { openMembers[set] = nil }
        case .appeared, .touched: break
        }
        let isOpen = openMembers[set] != nil
        change(slot) { entry, times in
            if isOpen { entry.settling.recordWriting(at: now) } else { entry.settling.recordFinish(at: now) }
            entry.phase = .settling
            entry.due = now + times.settle
        }
    }

    /// Records that a set's folder appeared, or that its `.done` came or went.
    package mutating func recordSet(_ path: BytePath, isDeclaredComplete: Bool, at now: Moment) {
        guard let slot = slot(of: path, isSet: true, at: now) else { return }
        change(slot) { entry, times in
            entry.settling.recordChange(at: now)
            entry.phase = .settling
            entry.due = isDeclaredComplete ? now : now + times.settle
        }
    }

    /// Records that a person wants a source tried now, however incomplete it seems.
    package mutating func hasten(_ path: BytePath, isSet: Bool, at now: Moment) {
        guard let slot = slot(of: path, isSet: isSet, at: now), slots[slot]?.phase == .settling else { return }
        change(slot) { entry, _ in
            entry.settling.hasten()
            entry.due = now
        }
    }

    /// Forgets which files are open: events were lost, and closing may be among them.
    package mutating func forgetWriters() {
        openMembers = [:]
        for slot in slots.indices { slots[slot]?.settling.forgetWriter() }
    }

    /// Forgets a folder that was moved away or removed, with everything in it.
    package mutating func forgetFolder(_ path: BytePath) {
        for case let entry? in slots where entry.path.isAtOrBelow(path) { forget(entry.path) }
    }

    package mutating func forgetAll() {
        forgetFolder(BytePath([]))
        aside.removeAll()
        asideCount = 0
        passed.removeAll()
        passedCount = 0
    }

    /// Records that the permissions of a folder may have changed, or that it can be read again: what is blocked in it is
    /// tried again at once.
    /// - Returns: whether a scan has to find some of that.
    package mutating func unblock(below folder: BytePath, at now: Moment) -> Bool {
        if phases.blocked > 0 {
            for slot in slots.indices {
                guard let entry = slots[slot], entry.phase == .blocked,
                    entry.path.isConcerned(by: folder, isSet: entry.isSet)
                else { continue }
                change(slot) { entry, _ in entry.due = now }
            }
        }
        guard asideCount > 0, aside.mayHold(concerning: folder) else { return false }
        aside.removeAll()
        return true
    }

    // MARK: Scans

    /// Begins a scan: sources that are not seen before `endScan` will be looked at.
    package mutating func beginScan() {
        scan &+= 1
        hasOverflowed = false
        asideInScan = 0
        passedInScan = 0
    }

    /// Records that a scan saw a set, of which the names in it tell nothing. Nothing happens if it is blocked, unless
    /// another folder has its name.
    /// - Parameter folder: nil if the scan saw something in it.
    package mutating func scannedSet(_ path: BytePath, folder: FileIdentity?, at now: Moment) {
        if let known = index[path].map(Int.init), let entry = slots[known] {
            slots[known]!.scan = scan
            if let folder { slots[known]!.folder = folder }
            let isAsItWas = folder == nil || entry.folder == nil || folder == entry.folder
            switch entry.phase {
            case .settling where entry.settling.reason != .empty: return
            case .blocked where isAsItWas: return
            case .settling, .ready, .blocked, .passedOver: return change(known) { entry, _ in entry.due = now }
            }
        }
        guard !aside.holds(path, nil, at: now) else {
            if folder != nil { asideInScan += 1 }
            return
        }
        guard let slot = slot(of: path, isSet: true, at: now) else { return }
        change(slot) { entry, _ in
            entry.folder = folder
            entry.due = now
        }
    }

    /// Records that a scan saw a file. Nothing happens if it is known and has not changed.
    package mutating func scanned(_ path: BytePath, _ status: FileStatus, at now: Moment) {
        if let known = index[path], let entry = slots[Int(known)] {
            slots[Int(known)]!.scan = scan
            let isAsItWas = status == entry.settling.status
            // It is looked at by itself, unless it was empty and waited for long. If it is blocked, the change may be the
            // repair; if it is offered, it must settle again.
            let isAwaited = entry.phase == .settling && entry.settling.reason != .empty
            if isAwaited || isAsItWas { return }
            return change(Int(known)) { entry, _ in entry.due = now }
        }
        guard !aside.holds(path, status, at: now) else {
            asideInScan += 1
            return
        }
        guard !passed.holds(path, status, at: now) else {
            passedInScan += 1
            return
        }
        guard let slot = slot(of: path, isSet: false, at: now) else { return }
        change(slot) { entry, times in
            entry.due = now
            guard case .wait(let time) = entry.settling.scan(status, at: now, times: times) else { return }
            entry.due = time
        }
    }

    /// Ends a scan of everything: sources that it did not see are looked at, and are usually gone.
    /// - Parameter isPartial: it could not look into some folders. What is blocked may be in these, and waits for its time.
    package mutating func endScan(at now: Moment, isPartial: Bool = false) {
        asideCount = asideInScan
        passedCount = passedInScan
        for slot in slots.indices {
            guard let entry = slots[slot], entry.scan != scan, !(isPartial && entry.phase == .blocked) else { continue }
            change(slot) { entry, _ in entry.due = min(entry.due, now) }
        }
    }

    // MARK: Looking

    /// The next look that is due; nil if none is. Each is returned once, and its result must be passed to `looked`.
    package mutating func nextAction(at now: Moment) -> Action? {
        while let alarm = alarms.first, alarm.time <= now {
            _ = alarms.takeFirst()
            let slot = Int(alarm.slot)
            guard let entry = slots[slot], entry.generation == alarm.generation, entry.alarm == alarm.time else {
                continue
            }
            slots[slot]!.alarm = .never
            if entry.due > now {
                change(slot) { _, _ in }
                continue
            }
            change(slot) { entry, _ in entry.due = .never }
            return .look(entry.path, isSet: entry.isSet)
        }
        return nil
    }

    /// Records what a look found; nil if nothing is there that could be a source.
    package mutating func looked(
        _ path: BytePath, status: FileStatus?, signs: UploadSigns = UploadSigns(), at now: Moment
    ) -> Action? {
        guard let slot = index[path].map(Int.init) else { return nil }
        guard let status else {
            forget(path)
            return nil
        }
        return conclude(slot) { entry, times in
            entry.settling.look(status, signs: signs, at: now, times: times)
        }
    }

    /// Records what an examination found.
    package mutating func examined(_ path: BytePath, _ found: Examination, at now: Moment) -> Action? {
        guard let slot = index[path].map(Int.init) else { return nil }
        return conclude(slot) { entry, times in entry.settling.examined(found, at: now, times) }
    }

    /// Records that it cannot be looked at, for this reason.
    package mutating func failed(_ path: BytePath, _ reason: SystemError, at now: Moment) {
        guard let slot = index[path].map(Int.init) else { return }
        block(slot, reason, at: now)
    }

    private mutating func conclude(_ slot: Int, _ judge: (inout Entry, SettleTimes) -> Settling.Verdict) -> Action? {
        var action: Action?
        change(slot) { entry, times in
            let old = entry.settling.status
            let verdict = judge(&entry, times)
            if entry.settling.status != old { entry.isOffered = false }
            switch verdict {
            case .wait(let time):
                entry.phase = .settling
                entry.due = time
            case .examine: action = .examine(entry.path, isSet: entry.isSet)
            case .ready:
                entry.phase = .ready
                entry.due = .never
                guard let status = entry.settling.status, !entry.isOffered else { return }
                entry.isOffered = true
                action = .offer(entry.path, isSet: entry.isSet, status, order: entry.order)
            }
        }
        return action
    }

    // MARK: Claims

    /// Records the answer to an offer. It changes nothing if the source has changed since it was offered.
    /// - Parameter observed: the source as it was offered.
    package mutating func answered(_ path: BytePath, observed: FileVersion, with answer: OfferAnswer, at now: Moment) {
        guard let slot = index[path].map(Int.init), let entry = slots[slot] else { return }
        // The name belongs to something new.
        guard entry.settling.status?.version == observed else {
            return change(slot) { entry, _ in entry.due = min(entry.due, now) }
        }
        slots[slot]?.isOffered = false
        // The same source is settling again, or waits until it is offered again: the answer is to an offer before.
        guard entry.phase == .ready, entry.isOffered else {
            return change(slot) { entry, _ in entry.due = min(entry.due, now) }
        }
        switch answer {
        case .taken, .gone: forget(path)
        case .changed:
            change(slot) { entry, times in
                entry.settling.recordChange(at: now)
                entry.phase = .settling
                entry.due = now + times.settle
            }
        case .blocked(let reason): block(slot, reason, at: now)
        // It stays complete; the look before the next offer shows whether it still is.
        case .later(let time): change(slot) { entry, _ in entry.due = now + time }
        }
    }

    /// Schedules another try: after a second, then twice as long each time, up to an hour. If there are too many, the
    /// source is set aside, and a scan finds it when it is due.
    private mutating func block(_ slot: Int, _ reason: SystemError, at now: Moment) {
        change(slot) { entry, _ in
            entry.phase = .blocked
            entry.blockedBy = reason
            entry.due = now + min(.seconds(1 << Int(min(entry.blocks, 12))), .seconds(3600))
            if entry.blocks < 13 { entry.blocks += 1 }
        }
        guard phases.blocked > mostIdle, let entry = slots[slot] else { return }
        // For a minute at least, so that the next scan has room for those that this one left out.
        let due = max(entry.due, now + .seconds(60))
        aside.add(entry.path, isSet: entry.isSet, entry.settling.status, until: due, blocks: entry.blocks)
        asideCount += 1
        asideInScan += 1
        forget(entry.path)
    }

    /// Records that a file is no picture: it is left alone until it changes. If there are too many, it is set aside, and
    /// scans tell whether it is as it was.
    package mutating func passOver(_ path: BytePath, _ reason: NoPicture, at now: Moment) {
        guard let slot = index[path].map(Int.init) else { return }
        change(slot) { entry, _ in
            entry.phase = .passedOver
            entry.passedOverFor = reason
            entry.isOffered = false
            entry.due = .never
        }
        guard phases.passedOver > mostIdle, let entry = slots[slot] else { return }
        passed.add(entry.path, isSet: entry.isSet, entry.settling.status, until: .never, blocks: 0)
        passedCount += 1
        passedInScan += 1
        forget(entry.path)
    }

    /// A file may be one that was passed over.
    func mayBePassedOver(_ path: BytePath) -> Bool {
        index[path].map { slots[Int($0)]?.phase == .passedOver } ?? (passedCount > 0)
    }

    /// Records that what had a file passed over may be gone: it settles anew, since another one may come in its place.
    package mutating func reconsider(_ path: BytePath, at now: Moment) {
        guard let slot = index[path].map(Int.init) else { return passed.remove(path) }
        guard slots[slot]?.phase == .passedOver else { return }
        change(slot) { entry, times in
            entry.settling.recordChange(at: now)
            entry.phase = .settling
            entry.due = now + times.settle
        }
    }

    // MARK: Slots

    private func times(_ entry: Entry) -> SettleTimes { entry.isSet ? setTimes : times }

    /// The slot of a path, which is added if there is none; nil if there is no room.
    private mutating func slot(of path: BytePath, isSet: Bool, at now: Moment) -> Int? {
        if let known = index[path] { return Int(known) }
        guard count < capacity else {
            hasOverflowed = true
            return nil
        }
        let entry = Entry(
            path: path, isSet: isSet, order: nextOrder, settling: Settling(at: now, isSet: isSet), due: .never,
            blocks: aside.blocks(of: path), scan: scan, generation: nextGeneration)
        nextOrder += 1
        nextGeneration &+= 1
        let slot: Int
        if let used = free.popLast() {
            slot = Int(used)
            slots[slot] = entry
        } else {
            slot = slots.count
            slots.append(entry)
        }
        index[path] = Int32(slot)
        count(.settling, 1)
        return slot
    }

    /// Changes an entry, and updates the counts and the alarms.
    private mutating func change(_ slot: Int, _ body: (inout Entry, SettleTimes) -> Void) {
        guard var entry = slots[slot] else { return }
        let phase = entry.phase
        body(&entry, times(entry))
        if entry.phase != phase {
            count(phase, -1)
            count(entry.phase, 1)
        }
        if entry.due < entry.alarm {
            entry.alarm = entry.due
            alarms.add(Alarm(time: entry.due, slot: Int32(slot), generation: entry.generation))
        }
        slots[slot] = entry
    }

    private mutating func forget(_ path: BytePath) {
        guard let slot = index.removeValue(forKey: path), let entry = slots[Int(slot)] else { return }
        count(entry.phase, -1)
        slots[Int(slot)] = nil
        free.append(slot)
        openMembers[path] = nil
    }

    private mutating func count(_ phase: Phase, _ step: Int) {
        switch phase {
        case .settling: phases.settling += step
        case .ready: phases.ready += step
        case .blocked: phases.blocked += step
        case .passedOver: phases.passedOver += step
        }
    }
}
