// The events of the drop folder, as lines of the log.
import Engine
import Logging
import Pipeline
import System

/// Writes one line for each event.
struct DaemonLog: DropFolderObserver {
    let logger: Logger
    /// The mill file, for commands that name it.
    private let file: String

    init(_ logger: Logger, file: String) { (self.logger, self.file) = (logger, file) }

    func happened(_ event: DropFolderEvent, inbox: String) {
        switch event {
        case .note(let note): tell(note, inbox)
        case .done(let job, let report):
            let count = report.renditions.count
            let codes = Set(report.warnings.map(\.code.rawValue)).subtracting(ReportPage.usualWarnings).sorted()
            let warnings = codes.isEmpty ? "" : "; warnings: \(codes.joined(separator: ", "))"
            let milliseconds = report.milliseconds.wait + report.milliseconds.render + report.milliseconds.publish
            let fields = fields(inbox: inbox, job: job, path: report.source.path, [.milliseconds: "\(milliseconds)"])
            logger.info("done: \(counted(count, "rendition"))\(warnings)", metadata: .event(.done, fields))
        case .failed(let job, let path, let failure, let attempts):
            let fields = fields(inbox: inbox, job: job, path: path, details(failure, attempts))
            logger.error(
                "failed: \(failure.message); what to do: \(failure.remedy(in: .millFile))",
                metadata: .event(.failed, fields))
        case .postponed(let job, let path, let failure, let attempt, let after):
            let fields = fields(inbox: inbox, job: job, path: path, details(failure, attempt))
            logger.warning("tried again in \(after / 1000) s: \(failure.message)", metadata: .event(.postponed, fields))
        case .putBack(let path):
            logger.info(
                "went back to the inbox: somebody still writes to it",
                metadata: .event(.putBack, fields(inbox: inbox, job: nil, path: path)))
        case .paused(let pause): tell(.paused(pause), inbox)
        case .resumed: tell(.resumed, inbox)
        case .pausedByRequest:
            tell(byRequest: "paused by request: nothing is taken until it is resumed", .paused, inbox)
        case .staysPausedByRequest(let since):
            tell(
                byRequest:
                    "paused by request since \(timestamp(milliseconds: since)): nothing is taken; resume it with 'imagemill resume \(shellQuoted(BytePath(file))) \(shellQuoted(BytePath(inbox)))'",
                .paused, inbox)
        case .resumedByRequest: tell(byRequest: "resumed by request", .resumed, inbox)
        case .recovered(let count):
            let sentence = "taking up \(counted(count, "source")) that an earlier run had begun"
            logger.notice("\(sentence)", metadata: .event(.takenUp, [.inbox: inbox]))
        case .lost(let job, let path):
            logger.warning(
                "somebody has removed it from work/ while it was claimed",
                metadata: .event(.lost, fields(inbox: inbox, job: job, path: path)))
        case .spool(let done, let failed):
            logger.notice(
                "originals go to '\(done.printable)', failed ones to '\(failed.printable)'",
                metadata: [LogField.inbox.rawValue: .string(inbox)])
        case .pruned(let count, let folder):
            logger.notice(
                "removed \(counted(count, "source")) from '\(folder.printable)'",
                metadata: [LogField.inbox.rawValue: .string(inbox)])
        case .hook(let news): tell(news, inbox)
        case .trouble(let sentence): logger.warning("\(sentence)", metadata: [LogField.inbox.rawValue: .string(inbox)])
        }
    }

    func noted(_ sentence: String) { logger.warning("\(sentence)") }

    /// A line for each change of a job.
    func follow(_ change: JobChange) {
        let fields = fields(inbox: change.inbox, job: change.id, path: change.path)
        logger.debug(
            "\(change)",
            metadata: Logger.Metadata(uniqueKeysWithValues: fields.map { ($0.key.rawValue, .string($0.value)) }))
    }

    private func tell(_ note: WatchNote, _ inbox: String) {
        var fields: [LogField: String] = [.inbox: inbox]
        if case .paused(let pause) = note { fields[.reason] = pause.reason.rawValue }
        let level: Logger.Level = note.isWarning ? .warning : .notice
        logger.log(
            level: level, "\(note.sentence)",
            metadata: note.event.map { .event($0, fields) } ?? [LogField.inbox.rawValue: .string(inbox)])
    }

    private func tell(_ news: HookNews, _ inbox: String) {
        var fields: [LogField: String] = [.inbox: inbox]
        fields[.hook] = news.call.map { "on-\($0.event)" }
        fields[.source] = news.call?.source?.printable
        switch news {
        case .postponed:
            let metadata = Logger.Metadata(
                uniqueKeysWithValues: fields.map { ($0.key.rawValue, .string($0.value)) })
            logger.warning("\(news.sentence)", metadata: metadata)
        case .lost(let loss):
            logger.error("\(news.sentence); what to do: \(loss.remedy)", metadata: .event(.hookLost, fields))
        }
    }

    private func tell(byRequest sentence: String, _ event: DaemonEvent, _ inbox: String) {
        logger.notice(
            "\(sentence)",
            metadata: .event(event, [.inbox: inbox, .reason: PauseReason.byRequest.rawValue]))
    }

    private func fields(inbox: String, job: JobID?, path: BytePath, _ more: [LogField: String] = [:]) -> [LogField:
        String]
    {
        var fields = more
        fields[.inbox] = inbox
        fields[.source] = path.printable
        fields[.job] = job?.text
        return fields
    }

    private func details(_ failure: Failure, _ attempt: Int) -> [LogField: String] {
        [.code: failure.code.rawValue, .stage: failure.stage, .attempt: "\(attempt)"]
    }
}

extension HookNews {
    /// Nil for events that were dropped.
    fileprivate var call: HookCall? {
        switch self {
        case .postponed(let call, _, _): call
        case .lost(let loss): loss.call
        }
    }

    var sentence: String {
        switch self {
        case .postponed(let call, let reason, let after): "\(call.words) is tried again in \(after / 1000) s: \(reason)"
        case .lost(let loss): loss.sentence
        }
    }
}

extension HookLoss {
    /// The loss as a sentence.
    var sentence: String {
        guard let call else { return "\(counted(count, "event")) will not be sent to hooks: \(reason)" }
        let events = count > 1 ? " for \(count) events" : ""
        return "\(call.words) is not tried again\(events): \(reason)"
    }
}

extension HookCall {
    /// `the hook on-success (notify •••) for 'a.jpg'`; the action is not known of a hook that is gone.
    fileprivate var words: String {
        "the hook on-\(event)" + (action.isEmpty ? "" : " (\(action))")
            + (source.map { " for '\($0.printable)'" } ?? "")
    }
}

extension WatchNote {
    fileprivate var event: DaemonEvent? {
        switch self {
        case .paused: .paused
        case .resumed: .resumed
        case .overflow: .overflow
        case .watching, .irregular, .unreadable, .blocked, .passedOver, .misplaced: nil
        }
    }
}
