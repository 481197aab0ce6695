// The document that the dashboard shows at every moment: the status, and what the status leaves to others.
import Engine
import Pipeline
import System

/// The document behind the dashboard. Internal to one version: the page and the daemon are one program. What is long,
/// or changes seldom, the page asks for by itself.
struct DashboardDocument: Encodable, Sendable {
    struct Failures: Encodable, Sendable {
        /// How many are in `failed/` now, by inbox; inboxes that were not looked at yet are missing.
        var counts: [String: Int]
        /// Another one whenever a list of failures has to be asked for again.
        var revision: Int
    }

    struct Result: Encodable, Sendable {
        struct Rendition: Encodable, Sendable {
            var name: String
            var bytes: Int?
            var size: String
            /// A browser can show it.
            var isShown: Bool
            var isAnimated: Bool
        }

        var number: Int
        var inbox: String
        var path: String
        var time: String
        var milliseconds: Int
        var renditions: [Rendition]
        var warnings: [Activity.Warning]
        /// The index of the rendition to show small.
        var picture: Int?
    }

    /// When it was made. In UTC, by the daemon's clock.
    var time = timestamp()
    var headline: Headline
    var status: StatusDocument
    var failures: Failures
    /// Seconds until what is queued is done, if it goes on as in the last minutes; nil if that cannot be told.
    var eta: Int?
    var events: [RecentEvents.Event]
    var results: [Result]
    /// The last hour, a minute each.
    var minutes: [Activity.Minute]

    init(_ control: any DaemonControl) {
        let (standing, activity) = (control.standing, control.activity)
        status = control.status()
        let counts = standing.compactMapValues { $0.failures?.count }
        // The pause of an inbox is said already, and its folders may not be there yet.
        let awaited = status.inboxes.count { standing[$0.name] == nil && $0.state != .paused }
        headline = Headline(
            status,
            failed: Headline.Failed(
                count: counts.values.reduce(0, +), unreadable: standing.count - counts.count, awaited: awaited))
        let queued = status.inboxes.filter { $0.state != .paused }.reduce(0) {
            $0 + $1.ready + $1.inProgress + $1.waiting
        }
        eta = queued == 0 ? nil : activity.endsPerSecond.map { Int((Double(queued) / $0).rounded(.up)) }
        events = control.events
        failures = Failures(counts: counts, revision: control.failuresRevision)
        results = activity.results.map(Result.init)
        minutes = activity.minutes
    }

}

extension DashboardDocument.Result {
    fileprivate init(_ result: Activity.Result) {
        self.init(
            number: result.number, inbox: result.inbox, path: result.path.text, time: result.time,
            milliseconds: result.milliseconds,
            renditions: result.renditions.map {
                Rendition(
                    name: $0.path.text, bytes: $0.bytes, size: "\($0.size)", isShown: $0.type != nil,
                    isAnimated: $0.isAnimated)
            },
            warnings: result.warnings.filter { !ReportPage.usualWarnings.contains($0.code) }, picture: result.picture)
    }
}
