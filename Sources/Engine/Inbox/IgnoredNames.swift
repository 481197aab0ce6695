// What other programs leave in folders of pictures. It is nobody's source, and nobody wants to hear of it.
package import Pipeline

/// Whether a file or folder of this name is passed over.
package func isIgnored(_ name: [UInt8]) -> Bool {
    guard name.first != UInt8(ascii: ".") else { return true }
    let text = String(decoding: name, as: UTF8.self).lowercased()
    let endings = [".part", ".partial", ".filepart", ".tmp", ".temp", ".crdownload", ".download", ".!ut", ".opdownload", ".swp", ".rsync", "~"]
    let names = ["thumbs.db", "ehthumbs.db", "ehthumbs_vista.db", "desktop.ini", "@eadir", "#recycle", "$recycle.bin", "__macosx", "lost+found"]
    return endings.contains(where: text.hasSuffix) || names.contains(text) || text.hasPrefix("~$")
}

/// What an inbox passes over: the usual leftovers, and what its owner says.
package struct IgnoredNames: Sendable {
    private let patterns: [NamePattern]

    package init(_ patterns: [NamePattern] = []) { self.patterns = patterns }

    /// The last pattern that fits decides; without one, the usual list.
    package func contains(_ name: [UInt8]) -> Bool {
        // Our own folder, and our own temporary files, are never sources.
        if name.starts(with: ".imagemill".utf8) { return true }
        if let last = patterns.last(where: { $0.matches(name) }) { return !last.isException }
        return isIgnored(name)
    }
}
