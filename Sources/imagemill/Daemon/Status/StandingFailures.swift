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
        /// What to do about it; nil if there is no note, or one with a code that this version does not know.
        let remedy: String?
    }

    let count: Int
    /// Some of them, with their reasons.
    let entries: [Entry]

    /// - Parameter most: so many are described.
    /// - Returns: nil if the folder cannot be read.
    init?(_ folder: BytePath, describing most: Int = 10) {
        guard let sources = try? FailedFolder(folder: folder, inbox: folder).sources() else { return nil }
        count = sources.count
        entries = sources.prefix(most).map {
            let note = Self.note(FailureNote.path(beside: folder.appending($0)))
            return Entry(
                path: $0, reason: note.map { "\($0.code): \($0.message)" },
                remedy: note.flatMap { FailureCode(rawValue: $0.code)?.remedy })
        }
    }

    private struct Note: Decodable {
        let code: String
        let message: String
    }

    private static func note(_ path: BytePath) -> Note? {
        guard let bytes = try? OpenFile.contents(path, limit: 1 << 16) else { return nil }
        return try? JSONDecoder().decode(Note.self, from: Data(bytes))
    }
}
