// The pause of one inbox: its reason, and the time of the next look. It reads no clock and no disk.
import Pipeline
import System

/// The pause of an inbox, and how often it has come back.
struct PauseState {
    private(set) var pause: Pause?
    /// Milliseconds since 1970.
    private(set) var since = 0
    /// How often in a row it had to pause again soon after it had gone on.
    private var relapses = 0
    private var resumed: Moment?
    private var nextProbe = Moment.now
    private var isLogged = false

    /// An inbox that pauses again so soon after it went on has not got over it.
    private static let recovery = Duration.seconds(30)

    /// Whether it is time to find out if it can go on.
    func isDue(at now: Moment) -> Bool { now >= nextProbe }

    /// - Parameter time: in milliseconds since 1970.
    /// - Returns: whether it is a new pause, worth a line in the log. Of one that comes again and again, fewer and
    ///   fewer are.
    mutating func begin(_ pause: Pause, since time: Int, at now: Moment = .now) -> Bool {
        defer { self.pause = pause }
        if let known = self.pause {
            if known.reason != pause.reason { isLogged = true }
            return known.reason != pause.reason
        }
        since = time
        relapses = resumed.map { now < $0 + Self.recovery } ?? false ? relapses + 1 : 0
        nextProbe = now + (relapses == 0 ? .zero : min(.seconds(1 << min(relapses, 8)), .seconds(6)))
        isLogged = relapses & (relapses - 1) == 0
        return isLogged
    }

    /// - Returns: whether it is worth a line in the log.
    mutating func end(at now: Moment = .now) -> Bool {
        pause = nil
        resumed = now
        return isLogged
    }
}
