// What the dashboard shows: the status, and what the status leaves to others.
import Engine
import Pipeline

/// The document behind the dashboard. Internal to one version: the page and the daemon are one program.
struct DashboardDocument: Encodable, Sendable {
    struct Failure: Encodable, Sendable {
        /// The name of the inbox.
        var inbox: String
        /// The path below `failed/`.
        var path: String
        /// What `retry` takes: the inbox and the path, percent-encoded.
        var name: String
        var reason: String?
        /// What to do about it.
        var remedy: String?
    }

    struct Result: Encodable, Sendable {
        var number: Int
        var inbox: String
        var path: String
        var time: String
        var milliseconds: Int
        var renditions: Int
        var warnings: Int
        /// Whether there is something to show.
        var picture: Bool
    }

    var status: StatusDocument
    /// How many are in `failed/` now, by inbox; inboxes that were not looked at yet are missing.
    var failed: [String: Int]
    var failures: [Failure]
    var results: [Result]
    /// The last hour, a minute each.
    var minutes: [Activity.Minute]

    init(_ control: any DaemonControl) {
        let (standing, activity) = (control.standing, control.activity)
        status = control.status()
        failed = standing.compactMapValues { $0.failures?.count }
        failures = standing.sorted { $0.key < $1.key }.flatMap { inbox, found in
            (found.failures?.entries ?? []).map { entry in
                let name = BytePath(inbox).appending(entry.path)
                return Failure(
                    inbox: inbox, path: entry.path.text, name: name.percentEncoded, reason: entry.reason,
                    remedy: entry.remedy)
            }
        }
        results = activity.results.map {
            Result(
                number: $0.number, inbox: $0.inbox, path: $0.path.text, time: $0.time, milliseconds: $0.milliseconds,
                renditions: $0.renditions,
                warnings: $0.warnings, picture: $0.picture != nil)
        }
        minutes = activity.minutes
    }
}
