// `run --manifest`: a file that says which renditions there are, for programs as JSON, for people as a page.
import Engine
import Glibc
import Pipeline
import System

/// The file of a manifest.
struct ManifestFile {
    private let path: BytePath
    private let outbox: BytePath

    init(_ path: BytePath, outbox: BytePath) { (self.path, self.outbox) = (path, outbox) }

    /// - Throws: `SystemError`.
    func write(_ manifest: Manifest) throws {
        // Addresses lead from the folder of the page.
        try FileSystem.makeDirectories(DurableFile.folder(of: path))
        let absolute = FileSystem.absolute(path)
        let isRendition = manifest.sources.flatMap(\.files).contains {
            FileSystem.absolute(outbox.appending($0)) == absolute
        }
        guard !isRendition else {
            throw SystemError(
                "write the manifest '\(path.printable)'", code: EEXIST,
                because: "a rendition has that name; choose another file (--manifest)")
        }
        let text =
            ReportPageFile.isPage(path.text)
            ? ManifestPage(manifest, Addresses(from: path), outbox: outbox).html : json(manifest, pretty: true) + "\n"
        try DurableFile.write(Array(text.utf8), to: path, syncsFolder: false)
    }
}
