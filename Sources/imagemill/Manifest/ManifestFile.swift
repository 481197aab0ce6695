// `run --manifest`: a file that says which renditions there are, for programs as JSON, for people as a page.
import Engine
import Pipeline
import System

/// The file of a manifest.
struct ManifestFile {
    private let path: BytePath
    private let outbox: BytePath

    init(_ path: BytePath, outbox: BytePath) { (self.path, self.outbox) = (path, outbox) }

    /// - Throws: `SystemError`.
    func write(_ manifest: Manifest) throws {
        let text =
            ReportPageFile.isPage(path.text)
            ? ManifestPage(manifest, Addresses(from: path), outbox: outbox).html : json(manifest, pretty: true) + "\n"
        try FileSystem.makeDirectories(DurableFile.folder(of: path))
        try DurableFile.write(Array(text.utf8), to: path, syncsFolder: false)
    }
}
