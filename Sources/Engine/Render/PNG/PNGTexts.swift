// Texts in a PNG as `tEXt`, the chunk that file managers read thumbnails' marks from; libvips writes `zTXt`, which GIO
// ignores.
import Glibc
import Pipeline

enum PNGTexts {
    /// The signature and IHDR, which is the first chunk of every PNG: 8 bytes, and 13 in a chunk.
    private static let headerBytes = 8 + 12 + 13

    /// Puts texts into a PNG, after its header.
    /// - Parameter texts: ASCII, with keys of at most 79 bytes.
    static func add(_ texts: [(key: String, text: String)], to file: OpenFile) throws(SystemError) {
        let bytes = try file.bytes(at: headerBytes, count: try file.status().bytes - headerBytes)
        let chunks = texts.flatMap { PNGChunk("tEXt", Array($0.key.utf8) + [0] + Array($0.text.utf8)).bytes }
        guard lseek(file.descriptor, off_t(headerBytes), SEEK_SET) >= 0 else { throw SystemError("write a thumbnail") }
        try file.append(chunks + bytes, for: BytePath("thumbnail"))
    }
}
