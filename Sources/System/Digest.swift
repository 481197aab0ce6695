// Digests of bytes and of files, by OpenSSL.
import CCrypto
import FoundationEssentials

/// SHA-256, or another digest, of bytes that come piece by piece.
package final class Digest {
    package enum Algorithm {
        case sha256, md5
    }

    private let context: OpaquePointer

    package init(_ algorithm: Algorithm = .sha256) {
        Self.start
        context = EVP_MD_CTX_new()!
        let began = EVP_DigestInit_ex(context, algorithm == .sha256 ? Self.sha256 : EVP_md5(), nil)
        precondition(began == 1, "OpenSSL has no \(algorithm)")
    }

    deinit { EVP_MD_CTX_free(context) }

    /// The system's configuration of OpenSSL is not read: it is for programs that talk to others, takes time, and may
    /// forbid MD5.
    private static let start: Void = { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) }()

    /// Looked up once: to look it up takes longer than the digest of a small file. Nothing changes it.
    nonisolated(unsafe) private static let sha256: OpaquePointer = {
        start
        return EVP_MD_fetch(nil, "SHA256", nil)!
    }()

    package func update(_ bytes: [UInt8]) { EVP_DigestUpdate(context, bytes, bytes.count) }

    /// The digest in hexadecimal. Nothing can be added afterwards.
    package func finish() -> String {
        Self.hexadecimal(bytes())
    }

    private static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private func bytes() -> ArraySlice<UInt8> {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: CUnsignedInt = 0
        EVP_DigestFinal_ex(context, &digest, &count)
        return digest[..<Int(count)]
    }

    /// SHA-256 in Base64, as policies of web pages have it.
    package static func base64(of bytes: some Sequence<UInt8>) -> String {
        let digest = Digest()
        digest.update(Array(bytes))
        return Data(digest.bytes()).base64EncodedString()
    }

    package static func of(_ bytes: some Sequence<UInt8>, _ algorithm: Algorithm = .sha256) -> String {
        let digest = Digest(algorithm)
        digest.update(Array(bytes))
        return digest.finish()
    }

    package static func of(_ text: String, _ algorithm: Algorithm = .sha256) -> String { of(text.utf8, algorithm) }

    /// HMAC-SHA256, in hexadecimal.
    package static func hmac(of bytes: [UInt8], key: [UInt8]) -> String {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: CUnsignedInt = 0
        HMAC(EVP_sha256(), key, CInt(key.count), bytes, bytes.count, &code, &count)
        return hexadecimal(code[..<Int(count)])
    }

    /// SHA-256 of a file's content, in hexadecimal.
    package static func of(_ file: OpenFile) throws(SystemError) -> String { try Digest(reading: file).finish() }

    /// As much of it as tells one content from another by accident: 120 bits in 20 characters.
    package static func short(of file: OpenFile) throws(SystemError) -> String {
        Data(try Digest(reading: file).bytes().prefix(15)).base64EncodedString()
    }

    private convenience init(reading file: OpenFile) throws(SystemError) {
        self.init()
        try file.readThrough { update($0) }
    }
}
