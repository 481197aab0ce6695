// When is a file complete? One file's way from being seen to being ready: pure, told everything, asking for what it needs.
package import Pipeline

/// How long to wait for what.
package struct SettleTimes: Hashable, Sendable {
    /// Without a change, where nothing tells that the writer is done.
    package var settle: Duration
    /// Until a decoder judges what looks incomplete.
    package var incompleteAfter: Duration
    /// Until a file without bytes counts as complete.
    package var zeroByteAfter: Duration

    package init(settle: Duration = .seconds(2), incompleteAfter: Duration = .seconds(600), zeroByteAfter: Duration = .seconds(60)) {
        self.settle = settle
        self.incompleteAfter = incompleteAfter
        self.zeroByteAfter = zeroByteAfter
    }
}

/// What the file's writer was seen to do.
package enum WriterSign: UInt8, Sendable {
    /// Nothing is known: it was there already, or nobody tells.
    case unknown
    /// It wrote, and has not closed the file since.
    case writing
    /// It closed the file or moved it in, and what stands there has not been looked at since.
    case justFinished
    case finished
}

/// What an examination found.
package struct Examination: Equatable, Sendable {
    /// Whether anybody has the file open for writing; nil where the system does not say.
    package let hasWriter: Bool?
    package let structure: Completeness

    package init(hasWriter: Bool?, structure: Completeness) {
        self.hasWriter = hasWriter
        self.structure = structure
    }
}

/// One file, or one set of files, on its way to being ready.
package struct Settling: Sendable {
    package enum Verdict: Equatable, Sendable {
        /// Look again then.
        case wait(until: Moment)
        /// Open it: who writes, and is the structure complete?
        case examine
        case ready
    }

    package private(set) var sighting: Sighting?
    package private(set) var writer = WriterSign.unknown
    /// When it was last seen to change, by our own clock.
    private var lastChange: Moment
    /// How often waiting was in vain since the last change.
    private var waits: UInt8 = 0
    /// How often in a row it had grown when it was looked at.
    private var growths: UInt8 = 0
    /// A set is only complete by quiet, or because its `.done` says so.
    private let isSet: Bool

    package init(at now: Moment, isSet: Bool = false) {
        lastChange = now
        self.isSet = isSet
    }

    // MARK: What happened

    /// Somebody wrote to it.
    package mutating func noteWriting(at now: Moment) {
        writer = .writing
        lastChange = now
    }

    /// It was closed after writing, or moved in complete. For a set this says no more than that it changed.
    package mutating func noteFinished(at now: Moment) {
        writer = isSet ? .unknown : .justFinished
        lastChange = now
        waits = 0
        growths = 0
    }

    /// Something about it changed, or the set's folder did.
    package mutating func noteChange(at now: Moment) { lastChange = now }

    /// Events were lost: the end of writing may be among them.
    package mutating func forgetWriter() { writer = .unknown }

    // MARK: What was seen

    /// Takes in what stands there now.
    /// - Parameter isDeclaredComplete: the set has its `.done`.
    package mutating func look(_ seen: Sighting, at now: Moment, _ times: SettleTimes, isDeclaredComplete: Bool = false) -> Verdict {
        takeIn(seen, at: now)
        if isDeclaredComplete { return .ready }
        if seen.bytes == 0 && !isSet {
            let end = lastChange + (writer == .writing ? times.incompleteAfter : times.zeroByteAfter)
            return now >= end ? .ready : .wait(until: end)
        }
        if writer == .finished || now >= quietEnd(times) { return .examine }
        return .wait(until: max(quietEnd(times), now + growthPause(times)))
    }

    /// Judges what opening the file showed.
    package mutating func examined(_ found: Examination, at now: Moment, _ times: SettleTimes) -> Verdict {
        // After this long the decoder judges, whatever it looks like.
        if now >= deadline(times) { return .ready }
        if found.hasWriter == false && writer == .writing { writer = .unknown }
        guard found.hasWriter != true, writer != .writing else { return pause(from: now, times) }
        switch found.structure {
        case .complete: return .ready
        case .unknown: return now >= quietEnd(times) ? .ready : .wait(until: quietEnd(times))
        case .incomplete: return pause(from: now, times)
        }
    }

    private mutating func takeIn(_ seen: Sighting, at now: Moment) {
        if let old = sighting, old != seen {
            lastChange = now
            // It changed although its writer was done: somebody else writes, or it is another file.
            if writer == .finished || old.identity != seen.identity && writer == .writing { writer = .unknown }
            waits = 0
            if growths < 6 { growths += 1 }
        }
        if writer == .justFinished { writer = .finished }
        sighting = seen
    }

    private func quietEnd(_ times: SettleTimes) -> Moment { lastChange + times.settle }
    private func deadline(_ times: SettleTimes) -> Moment { lastChange + times.incompleteAfter }

    /// A file that keeps growing is looked at less and less often.
    private func growthPause(_ times: SettleTimes) -> Duration {
        min(times.settle * (1 << Int(max(growths, 1) - 1)), max(times.settle, .seconds(15)))
    }

    /// Longer each time, from half a second to half a minute, and not beyond the deadline.
    private mutating func pause(from now: Moment, _ times: SettleTimes) -> Verdict {
        let step = max(times.settle, .milliseconds(500)) * (1 << Int(min(waits, 5)))
        if waits < 6 { waits += 1 }
        growths = 0
        return .wait(until: min(deadline(times), now + min(step, .seconds(30))))
    }
}
