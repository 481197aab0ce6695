// The digests of FIPS 180-4 and RFC 1321.
import TestSupport
import Testing

@testable import Pipeline
@testable import System

@Suite struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 is that of FIPS 180-4`(text: String, digest: String) { #expect(Digest.of(text) == digest) }

    @Test(arguments: [("", "d41d8cd98f00b204e9800998ecf8427e"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0")])
    func `MD5 is that of RFC 1321`(text: String, digest: String) { #expect(Digest.of(text, .md5) == digest) }

    @Test func `a digest does not depend on the pieces, and is the one of a file of several blocks`() throws {
        let bytes = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let digest = Digest()
        for start in stride(from: 0, to: bytes.count, by: 99_991) {
            digest.update(Array(bytes[start..<min(start + 99_991, bytes.count)]))
        }
        let whole = digest.finish()
        #expect(whole == Digest.of(bytes))
        let folder = try TemporaryFolder()
        #expect(try Digest.of(OpenFile.reading(BytePath(try folder.write(bytes, to: "a")))) == whole)
    }
}
