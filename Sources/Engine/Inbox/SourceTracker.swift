// Everything an inbox knows of the files in it, without touching one: told of events and looks, it says where to look next and what is ready.
package import Pipeline

/// How much stands where, for the status.
package struct TrackerCounts: Equatable, Sendable {
    package var settling = 0
    package var ready = 0
    package var blocked = 0
    package init(settling: Int = 0, ready: Int = 0, blocked: Int = 0) {
        self.settling = settling
        self.ready = ready
        self.blocked = blocked
    }
}

/// The files of one inbox, each on its way from first sight to being claimed.
package struct SourceTracker {
    /// What an event says happened to a name.
    package enum Event: Equatable, Sendable {
        /// Something new, or a new name for something.
        case appeared
        case written
        /// Closed after writing, or moved in.
        case finished
        /// Permissions, times, links.
        case touched
        /// Removed or moved away.
        case vanished
    }

    /// What somebody has to do.
    package enum Action: Equatable, Sendable {
        /// See what stands there, and tell `looked`.
        case look(BytePath, isSet: Bool)
        /// Open it, and tell `examined`.
        case examine(BytePath, isSet: Bool)
        case offer(BytePath, isSet: Bool, Sighting, order: UInt64)
    }

    private enum Phase: UInt8 { case settling, ready, blocked }

    private struct Entry {
        let path: BytePath
        let isSet: Bool
        let order: UInt64
        var settling: Settling
        var phase = Phase.settling
        /// When to look; `never` while it is offered.
        var due: Moment
        /// The earliest alarm that is set for it.
        var alarm = Moment.never
        /// How often it could not be taken in a row.
        var blocks: UInt8 = 0
        var blockedBy: SystemError?
        /// It was offered as it is, and the answer is awaited.
        var isOffered = false
        /// The last whole scan that saw it.
        var scan: UInt32
        /// The alarms are for this tenant of the slot, and not for the one before.
        let tenant: UInt32
    }

    private struct Alarm: Comparable {
        let time: Moment
        let slot: Int32
        let tenant: UInt32
        static func < (left: Alarm, right: Alarm) -> Bool { left.time < right.time }
    }

    private let times: SettleTimes
    private let setTimes: SettleTimes
    /// The most entries to keep in memory; what does not fit is found again by a scan.
    private let capacity: Int
    private var slots: [Entry?] = []
    private var free: [Int32] = []
    private var index: [BytePath: Int32] = [:]
    private var alarms = Heap<Alarm>()
    private var nextOrder: UInt64 = 0
    private var nextTenant: UInt32 = 0
    private var scan: UInt32 = 0
    /// Members of sets that are being written, by set.
    private var openMembers: [BytePath: Set<BytePath>] = [:]
    private var hasTurnedAway = false
    package private(set) var counts = TrackerCounts()

    /// - Parameter setQuiet: how long nothing must change in a set.
    package init(times: SettleTimes, setQuiet: Duration = .seconds(5), capacity: Int = 150_000) {
        self.times = times
        setTimes = SettleTimes(settle: setQuiet, incompleteAfter: max(times.incompleteAfter, setQuiet), zeroByteAfter: times.zeroByteAfter)
        self.capacity = capacity
    }

    package var count: Int { index.count }

    /// There is room again for what was turned away: scan.
    package var wantsScan: Bool { hasTurnedAway && count <= capacity / 2 }

    /// When something is due; nil where nothing is.
    package var nextDue: Moment? { alarms.first?.time }

    /// Up to so many that could not be taken, with the reason.
    package func blocked(limit: Int) -> [(path: BytePath, reason: SystemError)] {
        var found: [(path: BytePath, reason: SystemError)] = []
        guard counts.blocked > 0 else { return found }
        for case let entry? in slots where entry.phase == .blocked {
            guard found.count < limit, let reason = entry.blockedBy else { break }
            found.append((entry.path, reason))
        }
        return found
    }

    // MARK: Events

    /// Takes in an event about a file.
    package mutating func note(_ event: Event, _ path: BytePath, at now: Moment) {
        if event == .vanished { return forget(path) }
        guard let slot = slot(of: path, isSet: false, at: now) else { return }
        change(slot) { entry, times in
            switch event {
            case .appeared: entry.settling.noteChange(at: now)
            case .written: entry.settling.noteWriting(at: now)
            case .finished: entry.settling.noteFinished(at: now)
            // Whether it matters shows when it is looked at.
            case .touched, .vanished: break
            }
            entry.phase = .settling
            entry.due = event == .finished || event == .touched ? now : now + times.settle
        }
    }

    /// Takes in an event about something in a set's folder.
    package mutating func note(_ event: Event, set: BytePath, member: BytePath, at now: Moment) {
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
            if isOpen { entry.settling.noteWriting(at: now) } else { entry.settling.noteFinished(at: now) }
            entry.phase = .settling
            entry.due = now + times.settle
        }
    }

    /// A set's folder appeared, or somebody put `.done` into it: look at once.
    package mutating func noteSet(_ path: BytePath, isDeclaredComplete: Bool, at now: Moment) {
        guard let slot = slot(of: path, isSet: true, at: now) else { return }
        change(slot) { entry, times in
            entry.settling.noteChange(at: now)
            entry.phase = .settling
            entry.due = isDeclaredComplete ? now : now + times.settle
        }
    }

    /// The kernel lost events: who has closed what is not known any more.
    package mutating func noteLostEvents() {
        openMembers = [:]
        for slot in slots.indices { slots[slot]?.settling.forgetWriter() }
    }

    /// A folder was moved away or removed, with all that is below.
    package mutating func forgetFolder(_ path: BytePath) {
        for case let entry? in slots where entry.path.isAtOrBelow(path) { forget(entry.path) }
    }

    package mutating func forgetAll() { forgetFolder(BytePath([])) }

    // MARK: Scans

    /// From now on, what is not seen before `endScan` will be looked at.
    package mutating func beginScan() {
        scan &+= 1
        hasTurnedAway = false
    }

    /// A scan came upon a file, as it stands there, or upon a set. Nothing happens where it is known and as it was.
    package mutating func scanned(_ path: BytePath, isSet: Bool = false, _ sighting: Sighting?, at now: Moment) {
        if let known = index[path], let entry = slots[Int(known)] {
            slots[Int(known)]!.scan = scan
            let isAsItWas = sighting.map { $0 == entry.settling.sighting } ?? false
            // A change of what is blocked may be the repair; what is offered and changed must settle again.
            if entry.phase == .settling || isAsItWas { return }
            return change(Int(known)) { entry, _ in entry.due = now }
        }
        guard let slot = slot(of: path, isSet: isSet, at: now) else { return }
        change(slot) { entry, times in
            entry.due = now
            guard let sighting, case .wait(let time) = entry.settling.look(sighting, at: now, times) else { return }
            entry.due = time
        }
    }

    /// The scan saw everything: what it did not see is looked at, and usually gone.
    package mutating func endScan(at now: Moment) {
        for slot in slots.indices {
            guard let entry = slots[slot], entry.scan != scan else { continue }
            change(slot) { entry, _ in entry.due = min(entry.due, now) }
        }
    }

    // MARK: Looking

    /// The next thing to look at that is due; nil where nothing is. Each is given once, and must be answered.
    package mutating func nextAction(at now: Moment) -> Action? {
        while let alarm = alarms.first, alarm.time <= now {
            _ = alarms.takeFirst()
            let slot = Int(alarm.slot)
            guard let entry = slots[slot], entry.tenant == alarm.tenant, entry.alarm == alarm.time else { continue }
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

    /// Says what a look found: nil where nothing stands there that could be a source.
    package mutating func looked(_ path: BytePath, _ sighting: Sighting?, isDeclaredComplete: Bool = false, at now: Moment) -> Action? {
        guard let slot = index[path].map(Int.init) else { return nil }
        guard let sighting else {
            forget(path)
            return nil
        }
        return conclude(slot) { entry, times in
            entry.settling.look(sighting, at: now, times, isDeclaredComplete: isDeclaredComplete)
        }
    }

    /// Says what an examination found.
    package mutating func examined(_ path: BytePath, _ found: Examination, at now: Moment) -> Action? {
        guard let slot = index[path].map(Int.init) else { return nil }
        return conclude(slot) { entry, times in entry.settling.examined(found, at: now, times) }
    }

    /// It cannot be looked at, for this reason.
    package mutating func failed(_ path: BytePath, _ reason: SystemError, at now: Moment) {
        guard let slot = index[path].map(Int.init) else { return }
        block(slot, reason, at: now)
    }

    private mutating func conclude(_ slot: Int, _ judge: (inout Entry, SettleTimes) -> Settling.Verdict) -> Action? {
        var action: Action?
        change(slot) { entry, times in
            let old = entry.settling.sighting
            let verdict = judge(&entry, times)
            if entry.settling.sighting != old { entry.isOffered = false }
            switch verdict {
            case .wait(let time):
                entry.phase = .settling
                entry.due = time
            case .examine: action = .examine(entry.path, isSet: entry.isSet)
            case .ready:
                entry.phase = .ready
                entry.due = .never
                guard let sighting = entry.settling.sighting, !entry.isOffered else { return }
                entry.isOffered = true
                action = .offer(entry.path, isSet: entry.isSet, sighting, order: entry.order)
            }
        }
        return action
    }

    // MARK: Claims

    /// Says what became of an offer. An answer to an offer that has been overtaken by events changes nothing.
    package mutating func answered(_ path: BytePath, _ sighting: Sighting, _ answer: ClaimAnswer, at now: Moment) {
        guard let slot = index[path].map(Int.init), let entry = slots[slot] else { return }
        // Something new stands under the name.
        guard entry.settling.sighting == sighting else { return change(slot) { entry, _ in entry.due = min(entry.due, now) } }
        slots[slot]?.isOffered = false
        // The same is settling again.
        guard entry.phase == .ready else { return change(slot) { entry, _ in entry.due = min(entry.due, now) } }
        switch answer {
        case .taken, .gone: forget(path)
        case .changed:
            change(slot) { entry, times in
                entry.settling.noteChange(at: now)
                entry.phase = .settling
                entry.due = now + times.settle
            }
        case .blocked(let reason): block(slot, reason, at: now)
        case .later(let time):
            change(slot) { entry, _ in
                entry.phase = .settling
                entry.due = now + time
            }
        }
    }

    /// Tried again after a second, then twice as long each time, up to a minute.
    private mutating func block(_ slot: Int, _ reason: SystemError, at now: Moment) {
        change(slot) { entry, _ in
            entry.phase = .blocked
            entry.blockedBy = reason
            entry.due = now + min(.seconds(1 << Int(min(entry.blocks, 6))), .seconds(60))
            if entry.blocks < 7 { entry.blocks += 1 }
        }
    }

    // MARK: Slots

    private func times(_ entry: Entry) -> SettleTimes { entry.isSet ? setTimes : times }

    /// The entry of a path, made where there is none; nil where there is no room.
    private mutating func slot(of path: BytePath, isSet: Bool, at now: Moment) -> Int? {
        if let known = index[path] { return Int(known) }
        guard count < capacity else {
            hasTurnedAway = true
            return nil
        }
        let entry = Entry(
            path: path, isSet: isSet, order: nextOrder, settling: Settling(at: now, isSet: isSet), due: .never, scan: scan, tenant: nextTenant)
        nextOrder += 1
        nextTenant &+= 1
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

    /// Changes an entry, and keeps the counts and the alarms in step.
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
            alarms.add(Alarm(time: entry.due, slot: Int32(slot), tenant: entry.tenant))
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
        case .settling: counts.settling += step
        case .ready: counts.ready += step
        case .blocked: counts.blocked += step
        }
    }
}
