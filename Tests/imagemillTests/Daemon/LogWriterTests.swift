// The log where nobody reads it: a pipe that is full stands for a terminal that is stopped.
import Foundation
import Glibc
import Testing

@testable import Engine
@testable import System
@testable import imagemill

@Suite struct LogWriterTests {
    /// A pipe: what is read, and what is written to.
    private func pipe() throws -> (reading: OpenFile, writing: CInt) {
        var ends: [CInt] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (OpenFile(owning: ends[0]), ends[1])
    }

    /// The text that is written until the other end is closed.
    private func text(_ file: OpenFile) -> String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while case let got = read(file.descriptor, &buffer, buffer.count), got > 0 { bytes += buffer[..<got] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes, waits a moment, and only then begins to read.
    private func written(_ body: (LogWriter) -> Void) throws -> String {
        let (reading, writing) = try pipe()
        let writer = LogWriter(writing, live: nil) { "\($0) lost\n" }
        body(writer)
        writer.flush(within: .milliseconds(50))
        let found = Background { text(reading) }
        writer.flush(within: .seconds(60))
        close(writing)
        return try #require(found.value(until: .now + .seconds(60)))
    }

    @Test func `lines come in their order`() throws {
        let text = try written { writer in for number in 0..<100 { writer.write("line \(number)\n") } }
        #expect(text == (0..<100).map { "line \($0)\n" }.joined())
    }

    @Test func `while nobody reads, writing does not wait, and how many lines were left out is said afterwards`() throws
    {
        let line = String(repeating: "x", count: 99)
        // A pipe holds 64 KiB: if a line waited, the test would not end.
        let lines = try written { writer in for _ in 0..<20_000 { writer.write(line + "\n") } }.split(separator: "\n")
        let lost = lines.filter { $0 != line }.map { Int($0.prefix { $0.isNumber }) ?? 0 }.reduce(0, +)
        // Some are said to be lost earlier than others.
        #expect(lost > 5_000 && lines.count { $0 == line } + lost == 20_000)
    }
}
