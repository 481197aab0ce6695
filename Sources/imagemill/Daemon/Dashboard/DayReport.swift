// The page of what was done in the last day, from the journal.
import Engine
import Pipeline

/// The report page that the dashboard links to.
struct DayReport {
    let journal: BytePath

    /// Bytes of the journal that are read, and sources that are shown, at most.
    private static let mostBytes = 32 << 20
    private static let mostEntries = 10_000

    /// Reads the journal and waits for it.
    var response: HTTPResponse {
        let since = timestamp(milliseconds: wallClock() - 24 * 3_600_000)
        guard let document = try? self.document(since: since) else {
            return .text("Nothing was finished in the last 24 hours, as far as the journal says.\n", .notFound)
        }
        // The page has a policy of its own, for its script. Here it is alone: it can ask for nothing of the daemon's.
        return HTTPResponse(
            type: "text/html; charset=utf-8", body: ReportPage(document).html,
            headers: [("Content-Security-Policy", "sandbox allow-scripts allow-modals")])
    }

    private func document(since: String) throws -> ReportDocument {
        let (text, isCut) = try tail()
        let whole = try ReportDocument(text)
        let entries = whole.entries.filter { $0.started >= since }
        guard !entries.isEmpty else { throw ReportDocument.NoReport(found: nil) }
        let isShortened = entries.count > Self.mostEntries || isCut && entries.count == whole.entries.count
        let shown = Array(entries.suffix(Self.mostEntries))
        let notice =
            "Only the latest \(shown.count) sources of the last 24 hours are shown; the journal has the others."
        return ReportDocument(
            entries: shown, unreadable: whole.unreadable, notices: isShortened ? [notice] : [], totals: nil)
    }

    /// The end of the journal, and of the one that was put aside before if there is room, in whole lines.
    private func tail() throws -> (text: [UInt8], isCut: Bool) {
        var text: [UInt8] = []
        for path in [journal, BytePath(journal.bytes + Array(".1".utf8))] {
            guard let file = try? OpenFile.reading(path) else { continue }
            let (size, room) = (try file.status().bytes, Self.mostBytes - text.count)
            let start = max(0, size - room)
            var part = try file.bytes(at: start, count: size - start)
            if start > 0, let end = part.firstIndex(of: UInt8(ascii: "\n")) { part.removeFirst(end + 1) }
            text = part + text
            if start > 0 { return (text, true) }
        }
        return (text, false)
    }
}
