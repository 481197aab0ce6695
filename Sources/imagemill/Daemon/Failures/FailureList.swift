// A page of the failed sources, as the dashboard asks for it.
import Engine
import Pipeline

/// Some of the failed sources, the latest first, and the groups that all of them form. Internal to one version, as
/// `DashboardDocument`.
struct FailureList: Encodable, Sendable {
    /// All failed sources of one inbox with one code.
    struct Group: Encodable, Sendable {
        var inbox: String
        var code: String
        var count: Int
        /// When the latest of them failed.
        var latest: String?
        var remedy: String?
    }

    struct Failure: Encodable, Sendable {
        var inbox: String
        /// The path below `failed/`.
        var path: String
        /// The name that `retry` takes: the inbox and the path, percent-encoded.
        var name: String
        var bytes: Int?
        var code: String
        var message: String?
        var stage: String?
        var attempts: Int?
        var time: String?
        var remedy: String?
        /// There may be a small picture of it.
        var isShown: Bool
    }

    /// In `failed/`, whatever is asked for.
    var total: Int
    /// Those of them that are listed; the rest is too many.
    var listed: Int
    /// Those that are meant.
    var matching: Int
    /// The number of the first one on this page.
    var offset: Int
    var groups: [Group]
    var failures: [Failure]

    var size = FailureList.longest

    static let longest = 25

    /// - Parameter offset: that of the page; the last page if there is less.
    init(_ standing: [String: Standing], _ query: FailureQuery, offset: Int) {
        let selected = query.selected(from: standing).sorted {
            ($1.entry.time, $0.inbox, $0.entry.path.text) < ($0.entry.time, $1.inbox, $1.entry.path.text)
        }
        total = standing.values.reduce(0) { $0 + ($1.failures?.count ?? 0) }
        listed = standing.values.reduce(0) { $0 + ($1.failures?.entries.count ?? 0) }
        matching = selected.count
        let lastPage = max(0, matching - 1) / Self.longest * Self.longest
        self.offset = max(0, min(offset / Self.longest * Self.longest, lastPage))
        groups = Self.groups(standing)
        failures = selected.dropFirst(self.offset).prefix(Self.longest).map { Failure($0.inbox, $0.entry) }
    }

    /// The largest first.
    private static func groups(_ standing: [String: Standing]) -> [Group] {
        let all = standing.flatMap { inbox, found in
            Dictionary(grouping: found.failures?.entries ?? [], by: \.code).map { code, entries in
                Group(
                    inbox: inbox, code: code, count: entries.count, latest: entries.compactMap(\.note?.time).max(),
                    remedy: remedy(code, entries.first?.note))
            }
        }
        return all.sorted { ($1.count, $0.inbox, $0.code) < ($0.count, $1.inbox, $1.code) }
    }

    fileprivate static func remedy(_ code: String, _ note: StandingFailures.Note?) -> String? {
        guard let note else { return "Look into the log, which says why: no `error.json` beside it can be read." }
        return note.remedy ?? FailureCode(rawValue: code)?.remedy(in: .millFile)
    }
}

extension StandingFailures.Entry {
    /// An entry without a time counts as the oldest.
    fileprivate var time: String { note?.time ?? "" }

    /// Whether a worker may try to make a small picture of it.
    var canBeShown: Bool { bytes != nil && (FailureCode(rawValue: code)?.leavesPicture ?? false) }
}

extension FailureCode {
    /// Whether a source that has failed for this reason may still be rendered. What is no picture, is refused for its
    /// size, or has cost a worker is not tried again for a look at it.
    fileprivate var leavesPicture: Bool {
        switch self {
        case .truncated, .corrupt, .unsupportedColour, .noSuchPage, .emptyResult, .overlayDoesNotFit, .targetNotReached,
            .refusedByPolicy,
            .requirementNotMet, .badParameters, .duplicate, .tooLargeForFormat, .encodingFailed, .outputRejected,
            .nameTaken,
            .nameInvalid,
            .outputTooLarge, .diskFull,
            .outputNotWritable, .ioError, .permissionDenied, .notFound, .changedWhileRead, .changedSincePlan, .internal:
            true
        case .empty, .notAnImage, .unsupportedFormat, .tooManyPixels, .tooLongSide, .tooManyBands, .tooManyFrames,
            .tooManyScans, .tooManyMembers, .tooManyBytes, .tooMuchMetadata, .tooMuchMemory, .isADirectory,
            .notARegularFile, .unequalSizes, .setMemberFailed, .timedOut, .workerCrashed, .outOfMemory:
            false
        }
    }
}

extension FailureList.Failure {
    fileprivate init(_ inbox: String, _ entry: StandingFailures.Entry) {
        let note = entry.note
        self.init(
            inbox: inbox, path: entry.path.text, name: BytePath(inbox).appending(entry.path).percentEncoded,
            bytes: entry.bytes, code: entry.code, message: note?.message, stage: note?.stage, attempts: note?.attempts,
            time: note?.time, remedy: FailureList.remedy(entry.code, note), isShown: entry.canBeShown)
    }
}
