// Where the pictures of a report are.
import Engine
import Pipeline

/// The folders that a report's paths begin at.
enum PicturePlaces {
    case unknown
    /// The folder of all renditions, for a run.
    case outbox(BytePath)
    /// The folders of each inbox by its name, for a journal.
    case inboxes([String: LoadedMill.Inbox])

    /// A file, as a folder that may be reached by links and a path from there.
    struct File {
        let folder: BytePath
        let path: BytePath
    }

    init(_ mill: LoadedMill) {
        self = .inboxes(Dictionary(mill.inboxes.map { ($0.settings.name, $0) }) { first, _ in first })
    }

    /// The file of a source; nil if that is not known, or it is a set.
    func source(_ entry: ReportDocument.Entry) -> File? {
        let source = entry.source
        guard source.members == nil, entry.place.archive == nil else { return nil }
        switch self {
        case .unknown: return nil
        case .outbox(let outbox):
            return source.location.map {
                File(folder: outbox, path: entry.place.folder.appending(Self.path($0, source.locationBytes)))
            }
        case .inboxes(let inboxes):
            guard let inbox = entry.inbox.flatMap({ inboxes[$0] }) else { return nil }
            let path = Self.path(source.path, source.pathBytes)
            return inbox.original(of: path, bytes: source.bytes, on: entry.error == nil ? .done : .failed).map {
                File(folder: $0.directory, path: $0.lastComponent)
            }
        }
    }

    /// The file of a rendition; nil if that is not known, or nothing was written.
    func rendition(_ rendition: ReportDocument.Entry.Rendition, of entry: ReportDocument.Entry) -> File? {
        guard rendition.bytes != nil, entry.place.archive == nil else { return nil }
        let path = Self.path(rendition.path, rendition.pathBytes)
        switch self {
        case .unknown: return nil
        case .outbox(let outbox): return File(folder: outbox, path: entry.place.folder.appending(path))
        case .inboxes(let inboxes):
            return entry.inbox.flatMap { inboxes[$0] }.map { File(folder: $0.outbox, path: path) }
        }
    }

    private static func path(_ text: String, _ bytes: String?) -> BytePath {
        bytes.flatMap(BytePath.init(percentEncoded:)) ?? BytePath(text)
    }
}
