// Texts in a PNG: those of the source as they are, and a thumbnail's as `tEXt`, the chunk that file managers read its
// marks from. libvips would write `zTXt`, which GIO ignores, and cut keywords at spaces.
import Glibc
import Pipeline
import System

enum PNGTexts {
    /// The signature and IHDR, which is the first chunk of every PNG: 8 bytes, and 13 in a chunk.
    private static let headerBytes = 8 + 12 + 13
    private static let bytesAtOnce = 1 << 20

    /// Puts texts into a PNG, after its header.
    /// - Parameters:
    ///   - texts: ASCII, with keys of at most 79 bytes.
    ///   - kept: of another PNG.
    static func add(
        _ texts: [(key: String, text: String)], _ kept: [PNGText], to file: OpenFile
    ) throws(SystemError) {
        let chunks = texts.flatMap { PNGChunk("tEXt", Array($0.key.utf8) + [0] + Array($0.text.utf8)).bytes }
        let new = kept.flatMap { PNGChunk($0.type, $0.data).bytes } + chunks
        guard !new.isEmpty else { return }
        // The rest moves back, its end first.
        var end = try file.status().bytes
        while end > headerBytes {
            let start = max(headerBytes, end - bytesAtOnce)
            try write(file.bytes(at: start, count: end - start), at: start + new.count, to: file)
            end = start
        }
        try write(new, at: headerBytes, to: file)
    }

    private static func write(_ bytes: [UInt8], at offset: Int, to file: OpenFile) throws(SystemError) {
        guard lseek(file.descriptor, off_t(offset), SEEK_SET) >= 0 else { throw SystemError("write a text") }
        try file.append(bytes, for: BytePath("text"))
    }
}
