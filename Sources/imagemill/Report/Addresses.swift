import Engine
import Pipeline
import System

/// The addresses of files, as seen from a page.
struct Addresses {
    private let folder: BytePath

    /// - Parameter page: the page's file.
    init?(from page: BytePath) {
        guard let folder = FileSystem.absolute(DurableFile.folder(of: page)) else { return nil }
        self.folder = folder
    }

    /// A relative address: it never begins with a slash or a scheme, so that it names no other host.
    /// - Returns: nil if there is no such folder.
    func address(_ path: BytePath, in parent: BytePath) -> String? {
        guard let place = FileSystem.absolute(parent) else { return nil }
        let base = place == folder ? BytePath(".") : place.relative(to: folder)
        return "./" + BytePath(base.bytes + [UInt8(ascii: "/")] + path.bytes).percentEncoded
    }
}
