// The latest events that an operator may want to know of, without those of single pictures.
import Engine
import Pipeline
import Synchronization

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
        var events: [Event] = []
        var next = 1
    }

    private let state = Mutex(State())
    private static let most = 50
    private static let longest = 400

    /// The newest first.
    var all: [Event] { state.withLock { $0.events } }

    func happened(_ event: DropFolderEvent, inbox: String) {
        switch event {
        case .note(let note): if note.isWarning || note == .resumed { add(note.sentence, inbox) }
        case .paused(let pause): add("paused (\(pause.reason.rawValue)): \(pause.message)", inbox)
        case .resumed: add("goes on", inbox)
        case .pausedByRequest: add("paused by request", inbox)
        case .resumedByRequest: add("resumed by request", inbox)
        case .recovered(let count): add("\(counted(count, "source")) of an earlier start taken up again", inbox)
        case .lost(_, let path): add("'\(path.printable)' was removed from work/ by somebody", inbox)
        case .pruned(let count, let folder):
            add("removed \(counted(count, "old source")) from '\(folder.printable)'", inbox)
        case .hook(let news): add(news.sentence, inbox)
        case .trouble(let sentence): add(sentence, inbox)
        // These have lists of their own.
        case .done, .failed, .postponed, .putBack, .spool: break
        }
    }

    func noted(_ sentence: String) { add(sentence, nil) }

    private func add(_ sentence: String, _ inbox: String?) {
        state.withLock { state in
            let event = Event(
                number: state.next, time: timestamp(), inbox: inbox, sentence: String(sentence.prefix(Self.longest)))
            state.next += 1
            state.events = Array(([event] + state.events).prefix(Self.most))
        }
    }
}
