import Testing

@testable import Pipeline

struct SignatureTests {
    /// The bytes of a signature with something between its marks.
    private func head(of signature: Signature) -> [UInt8] {
        var head: [UInt8] = []
        for mark in signature.marks {
            head += [UInt8](repeating: 0x55, count: max(0, mark.offset - head.count))
            head.replaceSubrange(mark.offset..<min(head.count, mark.offset + mark.bytes.count), with: mark.bytes)
        }
        return head
    }

    @Test func `no signature hides behind one that comes before it`() {
        for signature in Signature.all {
            #expect(guessFormat(head(of: signature)) == signature.guess)
        }
    }

    @Test func `no signature is so short that any file may have it`() {
        let weak = Signature.all.filter { $0.marks.map(\.bytes.count).reduce(0, +) < 3 }
        #expect(weak.map(\.guess) == [.readable(.jxl), .noPicture("gzip")])
    }
}
