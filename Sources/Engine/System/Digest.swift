// SHA-256 of bytes and of files.
import Crypto

enum Digest {
    /// SHA-256 in hexadecimal.
    static func of(_ bytes: some Sequence<UInt8>) -> String { hexadecimal(SHA256.hash(data: Array(bytes))) }

    static func of(_ text: String) -> String { of(text.utf8) }

    /// SHA-256 of a file's content, in hexadecimal.
    static func of(_ file: OpenFile) -> String {
        var hash = SHA256()
        var offset = 0
        while case let block = file.bytes(at: offset, count: 1 << 20), !block.isEmpty {
            hash.update(data: block)
            offset += block.count
        }
        return hexadecimal(hash.finalize())
    }

    /// Any digest as text.
    static func hexadecimal(_ digest: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
