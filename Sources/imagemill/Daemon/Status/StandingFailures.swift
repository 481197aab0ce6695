// The sources that are in a failed folder now, as `imagemill status` and the dashboard show them.
import Engine
import FoundationEssentials
import Pipeline
import System

/// The contents of one inbox's failed folder. It is read by whoever asks for the status, so that a slow folder holds up
/// nobody else.
struct StandingFailures: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        /// From the folder.
        let path: BytePath
        /// Nil for a set.
        let bytes: Int?
        /// Nil if there is none that can be read.
        let note: Note?
        /// By which it is known whether the note is still the same.
        fileprivate let file: FileStatus?

        var reason: String? { note.map { "\($0.code): \($0.message)" } }
        /// The remedy: as the note says, or this version of a code that it knows.
        var remedy: String? { note.flatMap { $0.remedy ?? FailureCode(rawValue: $0.code)?.remedy(in: .millFile) } }
    }

    /// The note beside a source.
    struct Note: Equatable, Sendable, Decodable {
        let code: String
        let message: String
        let stage: String?
        let attempts: Int?
        let time: String?
        /// The remedy, as the program says that wrote the note.
        let remedy: String?
    }

    let count: Int
    /// Some of them, sorted by their paths.
    let entries: [Entry]
    /// How many of those have which code; of some it is not known.
    let codes: [String: Int]

    /// - Parameters:
    ///   - most: so many are described.
    ///   - known: what was found before: notes that have not changed are not read again.
    /// - Returns: nil if the folder cannot be read.
    init?(_ folder: BytePath, describing most: Int = 10, known: StandingFailures? = nil) {
        guard let found = try? FailedFolder(folder: folder, inbox: folder).first(most) else { return nil }
        let known = Dictionary((known?.entries ?? []).map { ($0.path, $0) }) { first, _ in first }
        count = found.count
        entries = found.entries.map { source in
            if let entry = known[source.path], entry.file == source.note, entry.bytes == source.bytes { return entry }
            let note = source.note.flatMap { _ in Self.note(FailureNote.path(beside: folder.appending(source.path))) }
            return Entry(path: source.path, bytes: source.bytes, note: note, file: source.note)
        }
        codes = entries.reduce(into: [:]) { codes, entry in
            if let code = entry.note?.code { codes[code, default: 0] += 1 }
        }
    }

    private static func note(_ path: BytePath) -> Note? {
        guard let bytes = try? OpenFile.contents(path, limit: 1 << 16) else { return nil }
        return try? JSONDecoder().decode(Note.self, from: Data(bytes))
    }
}
