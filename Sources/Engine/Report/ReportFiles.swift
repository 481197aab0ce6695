// Where a source's report stands, and how it gets there: last, complete, and on the disk.
package import Pipeline

/// Writes reports into an outbox.
package struct ReportFiles: Sendable {
    private let outbox: BytePath
    private let besideRenditions: Bool

    /// - Parameter besideRenditions: in the outbox itself instead of in its folder `reports/`; in both, as the sources stand in the inbox.
    package init(outbox: BytePath, besideRenditions: Bool = false) { (self.outbox, self.besideRenditions) = (outbox, besideRenditions) }

    /// `reports/a/b.jpg.json` for `a/b.jpg`, from the outbox.
    /// - Parameter version: that of the renditions' names; 2 makes `b.jpg-2.json`.
    package func path(for source: BytePath, version: Int = 1) -> BytePath {
        let path = source.withSuffix(version == 1 ? ".json" : "-\(version).json")
        return besideRenditions ? path : BytePath("reports").appending(path)
    }

    /// Writes a source's report; that says "done" to everybody who waits for it, so the renditions must be in place.
    /// - Parameters:
    ///   - path: from the outbox; nil for the usual one.
    ///   - token: as of a staged file.
    ///   - syncsFolder: as in `DurableFile.write`.
    /// - Returns: the folder that it stands in.
    @discardableResult
    package func write(
        _ report: SourceReport, to path: BytePath? = nil, token: String = DurableFile.newToken, syncsFolder: Bool = true
    ) throws(SystemError) -> BytePath {
        let path = path ?? self.path(for: report.source.path)
        try DurableFile.makeFolders(path.directory, below: outbox)
        let text = json(report, pretty: true) + "\n"
        try DurableFile.write(Array(text.utf8), to: outbox.appending(path), token: token, syncsFolder: syncsFolder)
        return outbox.appending(path.directory)
    }
}

extension BytePath {
    /// The path with something behind its last component, which is shortened where the whole would be longer than a file name can be.
    package func withSuffix(_ suffix: String) -> BytePath {
        let name = lastComponent.bytes
        let room = longestFileName - suffix.utf8.count
        guard name.count > room else { return BytePath(bytes + Array(suffix.utf8)) }
        let digest = Array("~\(String(fnv1a(name), radix: 16))".utf8)
        return directory.appending(BytePath(Array(name.prefix(room - digest.count)) + digest + Array(suffix.utf8)))
    }
}

/// The longest file name that Linux' file systems take, in bytes.
private let longestFileName = 255

/// Enough to tell names apart that share their first two hundred bytes.
private func fnv1a(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
