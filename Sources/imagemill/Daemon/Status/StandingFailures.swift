// The sources that are in a failed folder now, as `imagemill status` and the dashboard show them.
import Engine
import FoundationEssentials
import Pipeline

/// What is in the failed folder of one inbox. It is read by whoever asks for the status, so that a slow folder holds up
/// nobody else.
struct StandingFailures: Sendable {
    struct Entry: Sendable {
        let path: BytePath
        /// From the note beside it; nil if there is none that can be read.
        let reason: String?
    }

    let count: Int
    /// Some of them, with their reasons.
    let entries: [Entry]

    /// - Parameter most: so many are described.
    /// - Returns: nil if the folder cannot be read.
    init?(_ folder: BytePath, describing most: Int = 10) {
        guard let sources = try? FailedFolder(folder: folder, inbox: folder).contents().sources else {
            return nil
        }
        count = sources.count
        entries = sources.prefix(most).map {
            Entry(path: $0, reason: Self.reason(FailureNote.path(beside: folder.appending($0))))
        }
    }

    private struct Note: Decodable {
        let code: String
        let message: String
    }

    private static func reason(_ note: BytePath) -> String? {
        guard let bytes = try? OpenFile.contents(note, limit: 1 << 16),
            let note = try? JSONDecoder().decode(Note.self, from: Data(bytes))
        else {
            return nil
        }
        return "\(note.code): \(note.message)"
    }
}
