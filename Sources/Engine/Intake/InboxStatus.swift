// The status of an inbox, and its notes for the log.
package import Pipeline
package import System

/// How an inbox notices new files.
package enum WatchingHow: Equatable, Sendable {
    case events(folders: Int)
    /// By polling, with the reason as a part of a sentence.
    case polling(every: Duration, because: String)

    package var sentence: String {
        switch self {
        case .events: "by events"
        case .polling(let time, let reason): "by polling every \(time.written): \(reason)"
        }
    }
}

/// A source that is not complete yet.
package struct SettlingSource: Sendable {
    package let path: BytePath
    package let reason: SettlingReason
    /// When it is decoded anyway, if nothing changes before.
    package let deadline: Moment
}

/// The state of an inbox at one moment.
package struct InboxStatus: Sendable {
    /// nil until the inbox exists for the first time.
    package var how: WatchingHow?
    package var pause: Pause?
    /// Milliseconds since 1970.
    package var pausedSince = 0
    package var counts = TrackerCounts()
    /// Ignored names in the last whole scan.
    package var ignored = 0
    /// Links, pipes, sockets and devices that were found.
    package var irregular = 0
    /// Files and folders that are where nothing is taken from, by the last whole scan and since.
    package var misplaced = MisplacedFiles()
    /// Some of the sources that cannot be taken, with the reason.
    package var blocked: [(path: BytePath, reason: SystemError)] = []
    /// Some of the folders that cannot be looked into, with the reason.
    package var unreadable: [(path: BytePath, reason: SystemError)] = []
    /// Some of the files that are no pictures, with the reason.
    package var passedOver: [(path: BytePath, reason: NoPicture)] = []
    /// Some of the sources that are not complete yet.
    package var settling: [SettlingSource] = []
    /// Whole scans that have ended.
    package var scans = 0
    /// How long the last whole scan took.
    package var scanSeconds = 0.0
    /// How often the kernel dropped events.
    package var overflows = 0

    package init() {}
}

/// Why nothing is taken from a place in an inbox.
package enum Misplacement: Equatable, Sendable {
    /// A file is beside the folders of an inbox that takes sets.
    case outsideOfSets
    /// A folder is below the deepest level that is watched.
    case tooDeep

    package var sentence: String {
        switch self {
        case .outsideOfSets: "the pipeline takes sets; put it into a folder with the others of its set"
        case .tooDeep:
            "the folder is more than \(FolderScan.deepest) levels below the inbox; move it to a higher level"
        }
    }
}

/// Files and folders that an inbox leaves alone for where they are.
package struct MisplacedFiles: Sendable {
    private var all: [BytePath: Misplacement] = [:]

    /// So many are remembered; there may be more.
    private static let most = 1_000
    private static let mostShown = 5

    package var count: Int { all.count }
    /// Some of them.
    package var some: [(path: BytePath, reason: Misplacement)] {
        all.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.prefix(Self.mostShown).map {
            ($0.key, $0.value)
        }
    }

    mutating func add(_ path: BytePath, _ reason: Misplacement) {
        if all.count < Self.most || all[path] != nil { all[path] = reason }
    }

    /// Forgets a path and all below it.
    mutating func remove(atOrBelow path: BytePath) {
        if !all.isEmpty { all = all.filter { !$0.key.isAtOrBelow(path) } }
    }
}

/// Something for the log, once.
package enum WatchNote: Equatable, Sendable {
    case watching(WatchingHow)
    case paused(Pause)
    case resumed
    case overflow
    case irregular(BytePath, FileStatus.Kind)
    case unreadable(BytePath, SystemError)
    /// A file that the system refuses to let be read or taken.
    case blocked(BytePath, SystemError)
    /// A file that is no picture.
    case passedOver(BytePath, NoPicture)
    case misplaced(BytePath, Misplacement)

    package var isWarning: Bool {
        switch self {
        case .watching, .resumed, .passedOver: false
        case .paused, .overflow, .irregular, .unreadable, .blocked, .misplaced: true
        }
    }

    package var sentence: String {
        switch self {
        case .watching(let how): "watching \(how.sentence)"
        case .paused(let pause): "paused: \(pause.message)"
        case .resumed: "resumed"
        case .overflow: "the kernel dropped events; looking through the whole inbox"
        case .irregular(let path, .link): "left alone '\(path.printable)': it is a link, and links are not followed"
        case .irregular(let path, _): "left alone '\(path.printable)': it is a pipe, a socket or a device"
        case .blocked(let path, let error): "cannot take '\(path.printable)': \(error.obstacle); it is tried again"
        case .passedOver(let path, let reason): "left alone '\(path.printable)': \(reason.sentence)"
        case .misplaced(let path, let reason): "left alone '\(path.printable)': \(reason.sentence)"
        case .unreadable(let path, let error):
            "cannot look into \(path.bytes.isEmpty ? "the inbox" : "'\(path.printable)'"): \(error.obstacle)"
        }
    }
}
