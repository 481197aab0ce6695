// The index of a plan: where each shard's list is, and its digest.
import Pipeline

/// A shard's place in `sources.list`.
struct ShardEntry: Equatable {
    let offset: Int
    let bytes: Int
    let sources: Int
    /// SHA-256 of its list.
    let digest: String

    /// Every line has this many bytes, so that one is found without the others.
    static let lineBytes = 16 + 1 + 12 + 1 + 12 + 1 + 64 + 1

    var line: [UInt8] {
        Array("\(padded(offset, to: 16)) \(padded(bytes, to: 12)) \(padded(sources, to: 12)) \(digest)\n".utf8)
    }

    init(offset: Int, bytes: Int, sources: Int, digest: String) {
        self.offset = offset
        self.bytes = bytes
        self.sources = sources
        self.digest = digest
    }

    init?(line: some Sequence<UInt8>) {
        let words = String(decoding: Array(line), as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard words.count == 4, let offset = Int(words[0]), let bytes = Int(words[1]), let sources = Int(words[2])
        else { return nil }
        self.init(offset: offset, bytes: bytes, sources: sources, digest: String(words[3]))
    }
}

/// A number with zeros before it.
func padded(_ number: Int, to width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
}
