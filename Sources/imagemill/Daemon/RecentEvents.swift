// The latest events that an operator may want to know of, without those of single pictures.
import Engine
import Pipeline
import Synchronization
import System

/// The last events. For any thread.
final class RecentEvents: DropFolderObserver {
    struct Event: Encodable, Equatable, Sendable {
        let number: Int
        let time: String
        /// Nil if it concerns all.
        let inbox: String?
        let sentence: String
    }

    private struct State {
        /// Only the newest of one title is kept: a receiver that is away would push everything else out.
        var events: [(event: Event, title: String?)] = []
        var next = 1
    }

    private let state = Mutex(State())
    private static let most = 50
    private static let longest = 400

    /// The newest first.
    var all: [Event] { state.withLock { $0.events.map(\.event) } }

    func happened(_ event: DropFolderEvent, inbox: String) {
        switch event {
        case .note(let note): if note.isWarning || note == .resumed { add(note.sentence, inbox) }
        case .paused(let pause): add("paused (\(pause.reason.rawValue)): \(pause.message)", inbox)
        case .resumed: add("goes on", inbox)
        case .pausedByRequest: add("paused by request", inbox)
        case .staysPausedByRequest(let since):
            add("paused by request since \(timestamp(milliseconds: since))", inbox)
        case .resumedByRequest: add("resumed by request", inbox)
        case .recovered(let count): add("\(counted(count, "source")) of an earlier start taken up again", inbox)
        case .lost(_, let path): add("'\(path.printable)' was removed from work/ by somebody", inbox)
        case .pruned(let count, let folder):
            add("removed \(counted(count, "old source")) from '\(folder.printable)'", inbox)
        case .hook(let news):
            let title: String? = if case .postponed(let call, _, _) = news { "hook \(call.event)" } else { nil }
            add(news.sentence, inbox, title: title)
        case .trouble(let sentence): add(sentence, inbox)
        // These have lists of their own.
        case .done, .failed, .postponed, .putBack, .spool: break
        }
    }

    func noted(_ sentence: String) { add(sentence, nil) }

    private func add(_ sentence: String, _ inbox: String?, title: String? = nil) {
        state.withLock { state in
            state.events.removeAll { $0.title != nil && $0.title == title && $0.event.inbox == inbox }
            let event = Event(
                number: state.next, time: timestamp(), inbox: inbox, sentence: String(sentence.prefix(Self.longest)))
            state.next += 1
            state.events = Array(([(event, title)] + state.events).prefix(Self.most))
        }
    }
}
