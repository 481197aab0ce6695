package import Pipeline
import System

/// The settings of an inbox's watcher.
package struct WatchSettings: Sendable {
    /// The inbox's name, by which the queue knows it.
    package var name: String
    package var path: BytePath
    package var mode: WatchMode
    package var times: SettleTimes
    package var setQuiet: Duration
    /// The pipeline takes sets: each folder in the inbox is one source.
    package var takesSets: Bool
    package var ignored: IgnoredNames
    /// The formats on request that are read.
    package var allowed: Set<SourceFormat> = []
    package var companions = CompanionRule()
    /// Bytes beyond which a source will be refused.
    package var largest = Int.max
    /// How often the whole inbox is scanned if there are events.
    package var rescan = Duration.seconds(60)
    /// How often to check that the inbox is still the same folder.
    package var rootCheck = Duration.seconds(1)
    /// The largest number of sources that are kept in memory.
    package var capacity = 150_000
    /// How long the file system may take for an answer until the inbox counts as paused.
    package var patience = Duration.seconds(30)
    /// A source whose look takes longer is looked at on another thread, so that the other sources do not wait.
    package var lookTime = Duration.milliseconds(50)

    package init(
        name: String, path: BytePath, mode: WatchMode = .auto, times: SettleTimes = SettleTimes(),
        setQuiet: Duration = .seconds(5),
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
