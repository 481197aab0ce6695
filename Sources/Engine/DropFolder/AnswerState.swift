// The state of the looks that show whether the file systems of an inbox answer. It reads no clock and no disk.
import Pipeline
import System

/// The looks at the folders of one inbox that show whether they answer, one at a time.
struct AnswerState {
    private var asked: (folder: BytePath, since: Moment)?
    private var nextLook: Moment
    /// When one of them was last known not to answer.
    private(set) var lastSilence: Moment?

    /// A file system that has not answered for so long counts as one that does not.
    static let patience = Duration.seconds(30)
    /// A lane that waits for so long may be held up, or have much to copy: a look tells which.
    static let suspicion = Duration.seconds(10)
    private static let betweenLooks = Duration.seconds(10)

    init(at now: Moment = .now) { nextLook = now }

    /// Begins a look if none is under way, and it is time for one.
    mutating func begin(with folder: BytePath, at now: Moment) -> Bool {
        guard asked == nil, now >= nextLook else { return false }
        asked = (folder, now)
        return true
    }

    /// The look goes on: what was asked before has answered.
    mutating func goOn(to folder: BytePath, at now: Moment) { if asked != nil { asked = (folder, now) } }

    mutating func end(at now: Moment) {
        asked = nil
        nextLook = now + Self.betweenLooks
    }

    /// The folder that does not answer; nil if all do, as far as is known.
    /// - Parameter waiting: since when a lane has waited for files.
    mutating func silent(waiting: Moment?, at now: Moment) -> BytePath? {
        guard let asked else { return nil }
        let isHeldUp = waiting.map { now > $0 + Self.patience && now > asked.since + Self.suspicion } ?? false
        guard isHeldUp || now > asked.since + Self.patience else { return nil }
        lastSilence = now
        return asked.folder
    }
}
