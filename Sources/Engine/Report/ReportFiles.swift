// Where a source's report is in the outbox, and what is in its file.
package import Pipeline
import System

/// The reports of an outbox.
package struct ReportFiles: Sendable {
    private let besideRenditions: Bool

    /// - Parameter besideRenditions: in the outbox itself instead of in its folder `reports/`; in both, in the same
    ///   sub-folders as the sources in the inbox.
    package init(besideRenditions: Bool = false) { self.besideRenditions = besideRenditions }

    /// `reports/a/b.jpg.json` for `a/b.jpg`, from the outbox.
    /// - Parameter version: that of the renditions' names; 2 makes `b.jpg-2.json`.
    package func path(for source: BytePath, version: Int = 1) -> BytePath {
        let path = source.withSuffix(version == 1 ? ".json" : "-\(version).json")
        return besideRenditions ? path : BytePath("reports").appending(path)
    }

    /// A report as the file has it.
    package static func bytes(of report: SourceReport) -> [UInt8] { Array((json(report, pretty: true) + "\n").utf8) }
}

extension BytePath {
    /// The path with something after its last component, which is shortened if the whole would be longer than a file
    /// name can be.
    package func withSuffix(_ suffix: String) -> BytePath {
        let name = lastComponent.bytes
        let room = longestFileName - suffix.utf8.count
        guard name.count > room else { return BytePath(bytes + Array(suffix.utf8)) }
        let digest = Array("~\(String(FNV1a(name).value, radix: 16))".utf8)
        return directory.appending(BytePath(Array(name.prefix(room - digest.count)) + digest + Array(suffix.utf8)))
    }
}

/// The longest file name that Linux' file systems take, in bytes.
private let longestFileName = 255
