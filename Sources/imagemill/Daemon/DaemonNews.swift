// Reports what happens in the drop folder to the log, to the counts, and to those who look into the spool.
import Engine
import Logging

/// The observers of one drop folder.
struct DaemonNews: Sendable {
    let log: DaemonLog
    let sink: LogSink
    let activity: Activity
    let spools: StandingWatch
    let events = RecentEvents()

    /// - Parameter file: the mill file.
    init(_ sink: LogSink, file: String, level: Logger.Level = .info) {
        let spools = StandingWatch()
        log = DaemonLog(ServiceLog.logger(sink, level: level), file: file)
        self.sink = sink
        self.spools = spools
        activity = Activity(failed: { spools.changed($0) })
    }

    /// All of them.
    var observer: any DropFolderObserver { Observers(all: [log, activity, events]) }
}

/// Sends what happens to several observers.
private struct Observers: DropFolderObserver {
    let all: [any DropFolderObserver]

    func happened(_ event: DropFolderEvent, inbox: String) {
        for observer in all { observer.happened(event, inbox: inbox) }
    }
    func noted(_ sentence: String) { for observer in all { observer.noted(sentence) } }
}
