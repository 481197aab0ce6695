// The chunks of a WebP: https://developers.google.com/speed/webp/docs/riff_container
import Glibc
import Pipeline
import System

enum WebPFile {
    /// Removes the EXIF that libvips up to 8.14.1 writes into every WebP, and what only announces it: 212 bytes, a
    /// tenth of a small icon.
    /// - Parameter output: a whole file without XMP.
    static func removeEXIF(from output: OpenFile) throws(SystemError) {
        let first = try output.bytes(at: 0, count: headerBytes + extendedBytes)
        guard first.count == headerBytes + extendedBytes, type(first[headerBytes...]) == "VP8X" else { return }
        let (flags, chunks) = (first[headerBytes + 8], try chunks(of: output))
        guard flags & exif != 0, let last = chunks.last, last.type == "EXIF" else { return }
        // An alpha channel is announced too, which a picture without losses has in itself.
        let isPlain = chunks.count == 3 && (flags == exif || flags == exif | alpha && chunks[1].type == "VP8L")
        let kept = isPlain ? try output.bytes(at: chunks[1].offset, count: last.offset - chunks[1].offset) : []
        try output.shorten(to: last.offset)
        if isPlain {
            try output.write(kept, at: headerBytes)
            try output.shorten(to: headerBytes + kept.count)
        } else {
            try output.write([flags & ~exif], at: headerBytes + 8)
        }
        let length = isPlain ? headerBytes + kept.count : last.offset
        try output.write((0..<4).map { UInt8(truncatingIfNeeded: (length - 8) >> (8 * $0)) }, at: 4)
    }

    /// Says of an animation that it has transparency. libwebp says so only if a frame has, and leaves a transparent
    /// margin out of all frames; programs that go by the file's header show that margin black.
    /// - Parameter output: a whole file.
    static func announceAlpha(in output: OpenFile) throws(SystemError) {
        let first = try output.bytes(at: 0, count: headerBytes + extendedBytes)
        guard first.count == headerBytes + extendedBytes, type(first[headerBytes...]) == "VP8X" else { return }
        try output.write([first[headerBytes + 8] | alpha], at: headerBytes + 8)
    }

    private static let headerBytes = 12
    private static let extendedBytes = 18
    private static let exif: UInt8 = 0x08
    private static let alpha: UInt8 = 0x10

    private static func type(_ chunk: ArraySlice<UInt8>) -> String { String(decoding: chunk.prefix(4), as: UTF8.self) }

    private static func chunks(of file: OpenFile) throws(SystemError) -> [(type: String, offset: Int)] {
        var chunks: [(type: String, offset: Int)] = []
        var offset = headerBytes
        while case let head = try file.bytes(at: offset, count: 8), head.count == 8 {
            chunks.append((type(head[...]), offset))
            let length = (0..<4).reduce(0) { $0 | Int(head[4 + $1]) << (8 * $1) }
            offset += 8 + length + length % 2
        }
        return chunks
    }
}

extension OpenFile {
    fileprivate func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, bytes.count - written, offset + written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw SystemError("write the rendition") }
            written += count
        }
    }

    fileprivate func shorten(to length: Int) throws(SystemError) {
        guard ftruncate(descriptor, length) == 0 else { throw SystemError("write the rendition") }
    }
}
