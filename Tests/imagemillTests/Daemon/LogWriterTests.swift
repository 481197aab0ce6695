// The log where nobody reads it: a pipe that is full stands for a terminal that is stopped.
import Foundation
import Glibc
import Testing

@testable import Engine
@testable import imagemill

@Suite struct LogWriterTests {
    /// A pipe: what is read, and what is written to.
    private func pipe() throws -> (reading: OpenFile, writing: OpenFile) {
        var ends: [CInt] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (OpenFile(owning: ends[0]), OpenFile(owning: ends[1]))
    }

    private func text(_ file: OpenFile, until end: String) -> String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while !String(decoding: bytes.suffix(end.utf8.count), as: UTF8.self).hasSuffix(end) {
            let got = read(file.descriptor, &buffer, buffer.count)
            guard got > 0 else { break }
            bytes += buffer[..<got]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `lines come in their order`() throws {
        let (reading, writing) = try pipe()
        let writer = LogWriter(writing.descriptor, live: nil) { "\($0) lost\n" }
        for number in 0..<100 { writer.write("line \(number)\n") }
        #expect(text(reading, until: "line 99\n") == (0..<100).map { "line \($0)\n" }.joined())
        writer.flush(within: .seconds(20))
        withExtendedLifetime(writing) {}
    }

    @Test
    func `while nobody reads, writing does not wait, and how many lines were left out is said afterwards`() throws {
        let (reading, writing) = try pipe()
        let writer = LogWriter(writing.descriptor, live: nil) { "\($0) lost\n" }
        let line = String(repeating: "x", count: 99) + "\n"
        // A pipe holds 64 KiB: if a line waited, the test would not end.
        for _ in 0..<20_000 { writer.write(line) }
        let start = Moment.now
        writer.flush(within: .milliseconds(50))
        #expect(.now >= start + .milliseconds(50))
        let text = text(reading, until: " lost\n")
        let lines = text.split(separator: "\n")
        let lost = try #require(lines.last.flatMap { Int($0.prefix { $0.isNumber }) })
        // The pipe takes some, the writer has some in its hand, and some wait.
        #expect(lost > 10_000 && lines.count - 1 + lost == 20_000)
        writer.flush(within: .seconds(20))
        withExtendedLifetime(writing) {}
    }
}
