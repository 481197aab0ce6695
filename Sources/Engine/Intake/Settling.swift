// The stability check of one source, which decides when it is complete. Pure: it is given what was seen and the time,
// and says what to do next.
package import Pipeline
package import System

/// The times of the stability check.
package struct SettleTimes: Hashable, Sendable {
    /// How long a file must not change, if nothing shows that its writer is done.
    package var settle: Duration
    /// How long to wait for the rest of an incomplete file before trying to decode it anyway.
    package var incompleteAfter: Duration
    /// How long a file of 0 bytes waits until it counts as complete.
    package var zeroByteAfter: Duration

    package init(
        settle: Duration = .seconds(2), incompleteAfter: Duration = .seconds(600),
        zeroByteAfter: Duration = .seconds(60)
    ) {
        self.settle = settle
        self.incompleteAfter = incompleteAfter
        self.zeroByteAfter = zeroByteAfter
    }
}

/// The state of a file's writer, as far as it is known.
package enum WriterState: UInt8, Sendable {
    /// Nothing: the file was there already, or there are no events.
    case unknown
    /// It wrote, and has not closed the file since.
    case writing
    /// It closed the file or moved it in, and the file has not been looked at since.
    case justFinished
    case finished
}

/// The findings from opening a source.
package struct Examination: Equatable, Sendable {
    /// Whether anybody has the file open for writing; nil if the system does not say.
    package let hasWriter: Bool?
    package let structure: Completeness

    package init(hasWriter: Bool?, structure: Completeness) {
        self.hasWriter = hasWriter
        self.structure = structure
    }
}

/// The signs of the upload as a whole, from the names in a set's folder or beside a picture.
package struct UploadSigns: Equatable, Sendable {
    /// The set has its `.done`.
    package var isDeclaredComplete: Bool
    /// A digest of all files with unfinished names; nil if there is none.
    package var unfinished: UInt64?
    /// A digest of all files with names of leftovers. A writer may use such a name until a member is complete.
    package var leftovers: UInt64

    /// The sidecar that belongs to a picture.
    package var sidecar: CompanionSign
    /// The other file of its photo, raw or JPEG.
    package var other: CompanionSign

    /// There is nothing in the set but its members.
    var namesMembersOnly: Bool { unfinished == nil && leftovers == 0 }

    package init(
        isDeclaredComplete: Bool = false, unfinished: UInt64? = nil, leftovers: UInt64 = 0,
        sidecar: CompanionSign = .none, other: CompanionSign = .none
    ) {
        (self.sidecar, self.other) = (sidecar, other)
        self.isDeclaredComplete = isDeclaredComplete
        self.unfinished = unfinished
        self.leftovers = leftovers
    }
}

/// The state of a file that belongs to a picture, at a look.
package enum CompanionSign: Equatable, Sendable {
    /// Its inbox takes none, or not with this picture.
    case none
    /// It may come while the picture settles.
    case awaited
    /// It must come.
    case missing
    case found([FileVersion])
}

/// Why a source is not complete yet.
package enum SettlingReason: String, Sendable, Codable, CaseIterable {
    /// It has changed within the settle time.
    case changing
    /// A program has it open for writing.
    case open
    /// The structure of the file has no end.
    case incomplete
    /// It has 0 bytes.
    case empty
    /// The set has a file with the name of an unfinished upload.
    case unfinished
    /// Its sidecar is missing, which the inbox requires.
    case sidecar
}

/// The stability check of one file or one set.
package struct Settling: Sendable {
    package enum Verdict: Equatable, Sendable {
        /// Look again at this time.
        case wait(until: Moment)
        /// Open it: does anybody write, and is the structure complete?
        case examine
        case ready
    }

    package private(set) var status: FileStatus?
    package private(set) var writer = WriterState.unknown
    /// The reason why the last look found it incomplete.
    package private(set) var reason = SettlingReason.changing
    /// When it was last seen to change, by our own clock.
    private var lastChange: Moment
    /// How often waiting was in vain since the last change.
    private var waits: UInt8 = 0
    /// How often in a row it had grown since the look before.
    private var growths: UInt8 = 0
    /// A set is complete when nothing in it changes any more, or when it has its `.done` and nobody writes to it.
    private let isSet: Bool
    /// A person wants it tried now.
    private var isHastened = false
    /// The signs that the set's names gave at the last look.
    private var signs: UploadSigns?

    package init(at now: Moment, isSet: Bool = false) {
        lastChange = now
        self.isSet = isSet
    }

    // MARK: Events

    /// Records that somebody wrote to it.
    package mutating func recordWriting(at now: Moment) {
        writer = .writing
        isHastened = false
        lastChange = now
    }

    /// Records that it was closed after writing, or moved in complete. For a set this is only a change.
    package mutating func recordFinish(at now: Moment) {
        writer = isSet ? .unknown : .justFinished
        lastChange = now
        waits = 0
        growths = 0
    }

    /// Records that something about it changed, or about the set's folder.
    package mutating func recordChange(at now: Moment) { lastChange = now }

    /// Forgets what is known about the writer: events were lost, and the end of writing may be among them.
    package mutating func forgetWriter() { writer = .unknown }

    /// Records that a person wants it tried now: it waits for the settle time only, however incomplete it seems, unless
    /// somebody writes to it again.
    package mutating func hasten() { isHastened = true }

    // MARK: Looks

    /// Judges what a look has found.
    package mutating func look(
        _ seen: FileStatus, signs: UploadSigns = UploadSigns(), at now: Moment, times: SettleTimes
    ) -> Verdict {
        recordLook(seen, signs, at: now)
        return verdict(seen, signs, at: now, times)
    }

    /// Judges what a scan has found, which knows nothing of what is beside it.
    package mutating func scan(_ seen: FileStatus, at now: Moment, times: SettleTimes) -> Verdict {
        recordLook(seen, nil, at: now)
        return verdict(seen, UploadSigns(), at: now, times)
    }

    private mutating func verdict(
        _ seen: FileStatus, _ signs: UploadSigns, at now: Moment, _ times: SettleTimes
    ) -> Verdict {
        reason = writer == .writing ? .open : .changing
        if signs.unfinished != nil && now < deadline(times) {
            reason = .unfinished
            return pause(from: now, times)
        }
        if signs.sidecar == .missing && now < deadline(times) {
            reason = .sidecar
            return pause(from: now, times)
        }
        // Whoever declares it may not know that another program still writes to a member.
        if signs.isDeclaredComplete { return .examine }
        if seen.bytes == 0 && !isSet {
            reason = .empty
            return now >= deadline(times) ? .ready : .wait(until: deadline(times))
        }
        // Neither is known to be whole, unless nothing changes any more.
        let isAlone = signs.sidecar == .none && signs.other == .none
        if writer == .finished && isAlone || now >= quietEnd(times) { return .examine }
        return .wait(until: max(quietEnd(times), now + growthPause(times)))
    }

    /// Judges what opening the source has shown.
    package mutating func examined(_ found: Examination, at now: Moment, _ times: SettleTimes) -> Verdict {
        // After this time the source is decoded, however incomplete it seems.
        if now >= deadline(times) { return .ready }
        if found.hasWriter == false && writer == .writing { writer = .unknown }
        let isDeclared = signs?.isDeclaredComplete ?? false
        let isWriting = writer == .writing && !(isDeclared && found.hasWriter == nil)
        guard found.hasWriter != true, !isWriting else {
            reason = .open
            return pause(from: now, times)
        }
        if isDeclared { return .ready }
        switch found.structure {
        case .complete: return .ready
        case .unknown: return now >= quietEnd(times) ? .ready : .wait(until: quietEnd(times))
        case .incomplete:
            reason = .incomplete
            return pause(from: now, times)
        }
    }

    /// - Parameter signs: nil if nothing is known of them.
    private mutating func recordLook(_ seen: FileStatus, _ signs: UploadSigns?, at now: Moment) {
        let hasOtherSigns = signs.flatMap { signs in self.signs.map { $0 != signs } } ?? false
        if let old = status, old != seen || hasOtherSigns {
            lastChange = now
            // It changed although its writer was done: somebody else writes, or it is another file.
            if writer == .finished || old.identity != seen.identity && writer == .writing { writer = .unknown }
            waits = 0
            if old.bytes != seen.bytes { isHastened = false }
            if growths < 6 { growths += 1 }
        }
        if writer == .justFinished { writer = .finished }
        status = seen
        self.signs = signs ?? self.signs
    }

    private func quietEnd(_ times: SettleTimes) -> Moment { lastChange + times.settle }
    /// When it is decoded, however incomplete it seems, or fails because it is empty.
    package func deadline(_ times: SettleTimes) -> Moment {
        if isHastened { return lastChange + times.settle }
        let isLeftEmpty = !isSet && status?.bytes == 0 && writer != .writing
        return lastChange + (isLeftEmpty ? times.zeroByteAfter : times.incompleteAfter)
    }

    /// The pause before the next look at a file that keeps growing: longer each time.
    private func growthPause(_ times: SettleTimes) -> Duration {
        min(times.settle * (1 << Int(max(growths, 1) - 1)), max(times.settle, .seconds(15)))
    }

    /// A pause that is longer each time, from half a second to half a minute, and ends with the deadline at the latest.
    private mutating func pause(from now: Moment, _ times: SettleTimes) -> Verdict {
        let step = max(times.settle, .milliseconds(500)) * (1 << Int(min(waits, 5)))
        if waits < 6 { waits += 1 }
        growths = 0
        return .wait(until: min(deadline(times), now + min(step, .seconds(30))))
    }
}
