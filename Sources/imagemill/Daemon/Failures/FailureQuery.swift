// The query for failed sources: by inbox, code and words.
import Engine
import Pipeline

/// A selection of failed sources.
struct FailureQuery: Equatable, Sendable {
    /// Nil for all.
    var inbox: String?
    var code: String?
    /// Words that the path or the message has, in any case.
    var search = ""

    /// The code of a source without a note that can be read.
    static let unknownCode = "unknown"

    private static let longest = 1000

    init(inbox: String? = nil, code: String? = nil, search: String = "") {
        (self.inbox, self.code, self.search) = (inbox, code, search)
    }

    /// - Parameter query: of a request; what is missing or empty selects all.
    init(_ query: [String: String]) throws(HTTPRefusal) {
        func value(_ key: String) throws(HTTPRefusal) -> String? {
            guard let text = query[key], !text.isEmpty else { return nil }
            guard text.utf8.count <= Self.longest else {
                throw HTTPRefusal(.badRequest, "'\(key)' is longer than \(Self.longest) bytes")
            }
            return text
        }
        self.init(inbox: try value("inbox"), code: try value("code"), search: try value("search") ?? "")
    }

    /// The failed sources that are meant, by inboxes.
    func selected(from standing: [String: Standing]) -> [(inbox: String, entry: StandingFailures.Entry)] {
        let words = search.lowercased().split(separator: " ").map(String.init)
        var selected: [(inbox: String, entry: StandingFailures.Entry)] = []
        for (name, found) in standing.sorted(by: { $0.key < $1.key }) where inbox == nil || inbox == name {
            for entry in found.failures?.entries ?? [] where matches(entry, in: name, words) {
                selected.append((name, entry))
            }
        }
        return selected
    }

    private func matches(_ entry: StandingFailures.Entry, in inbox: String, _ words: [String]) -> Bool {
        guard code == nil || code == entry.code else { return false }
        guard !words.isEmpty else { return true }
        let text = "\(inbox)/\(entry.path.text) \(entry.reason ?? "")".lowercased()
        return words.allSatisfy { text.contains($0) }
    }
}

extension StandingFailures.Entry {
    /// Why it has failed, for lists and groups.
    var code: String { note?.code ?? FailureQuery.unknownCode }
}
