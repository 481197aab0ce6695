// The page of what was done in the last day, from the journal.
import Engine
import Glibc
import Pipeline
import System

/// The report page that the dashboard links to.
struct DayReport {
    let journal: BytePath

    /// Bytes of the journal that are read, and sources that are shown, at most.
    private static let mostBytes = 32 << 20
    private static let mostEntries = 10_000

    /// Reads the journal and waits for it.
    var response: HTTPResponse {
        let since = timestamp(milliseconds: wallClock() - 24 * 3_600_000)
        let found: ReportDocument?
        do {
            found = try document(since: since)
        } catch {
            return HTTPResponse(HTTPRefusal(.unavailable, "the journal cannot be read: \(error)"))
        }
        guard let document = found else {
            return .text("Nothing was finished in the last 24 hours, as far as the journal says.\n", .notFound)
        }
        // The page has a policy of its own, for its script. Here it is alone: it can ask for nothing of the daemon's.
        return HTTPResponse(
            type: "text/html; charset=utf-8", body: ReportPage(document).html,
            headers: [("Content-Security-Policy", "sandbox allow-scripts allow-modals")])
    }

    /// - Returns: nil if nothing was finished since then.
    private func document(since: String) throws(SystemError) -> ReportDocument? {
        let (text, isCut) = try tail()
        guard !text.isEmpty else { return nil }
        guard let whole = try? ReportDocument(text) else {
            throw SystemError("read '\(journal.printable)'", code: EBADMSG, because: "no line of it is a report")
        }
        let entries = whole.entries.filter { $0.started >= since }
        guard !entries.isEmpty else { return nil }
        let isShortened = entries.count > Self.mostEntries || isCut && entries.count == whole.entries.count
        let shown = Array(entries.suffix(Self.mostEntries))
        let notice =
            "Only the latest \(shown.count) sources of the last 24 hours are shown; the journal has the others."
        return ReportDocument(
            entries: shown, unreadable: whole.unreadable, notices: isShortened ? [notice] : [], totals: nil)
    }

    /// The end of the journal, and of the one that was put aside before if there is room, in whole lines.
    private func tail() throws(SystemError) -> (text: [UInt8], isCut: Bool) {
        var text: [UInt8] = []
        for path in [journal, BytePath(journal.bytes + Array(".1".utf8))] {
            let file: OpenFile
            do throws(SystemError) {
                file = try OpenFile.reading(path)
            } catch {
                if error.code == ENOENT { continue }
                throw error
            }
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
