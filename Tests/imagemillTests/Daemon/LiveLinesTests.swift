// The lines at the end of the terminal, as a terminal gets them.
import Foundation
import Glibc
import Testing

@testable import Engine
@testable import System
@testable import imagemill

@Suite struct LiveLinesTests {
    /// Both ends of a pseudo-terminal.
    private func terminal() throws -> (outside: OpenFile, inside: OpenFile) {
        let outside = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (isLocked, number): (CInt, CInt) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN, whose definitions Swift cannot import.
        let isReady =
            outside >= 0 && ioctl(outside, 0x4004_5431, &isLocked) == 0 && ioctl(outside, 0x8004_5430, &number) == 0
        try #require(isReady)
        let inside = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        let isOpen = inside >= 0
        try #require(isOpen)
        return (OpenFile(owning: outside), OpenFile(owning: inside))
    }

    private func text(_ file: OpenFile) -> String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        var poll = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
        // It may come in pieces.
        while Glibc.poll(&poll, 1, 200) > 0 {
            let got = read(file.descriptor, &buffer, buffer.count)
            guard got > 0 else { break }
            bytes += buffer[..<got]
        }
        return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
    }

    @Test func `the log is written above the lines, and lines that did not change are not written again`() throws {
        let (outside, inside) = try terminal()
        let live = try #require(LiveLines(terminal: inside.descriptor, variables: ["TERM": "xterm"]))
        live.show(["in  idle", "b  idle"])
        #expect(text(outside) == "in  idle\nb  idle\n")
        live.show(["in  idle", "b  idle"])
        live.write(above: "something happened\n")
        #expect(text(outside) == "\u{1B}[2F\u{1B}[Jsomething happened\nin  idle\nb  idle\n")
        live.show([])
        #expect(text(outside) == "\u{1B}[2F\u{1B}[J")
        live.write(above: "the end\n")
        #expect(text(outside) == "the end\n")
    }

    @Test func `a window has room for the log: of many inboxes some are only counted, and a long line is cut`() throws {
        let (outside, inside) = try terminal()
        var size = winsize(ws_row: 24, ws_col: 20, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(inside.descriptor, UInt(TIOCSWINSZ), &size) == 0)
        let live = try #require(LiveLines(terminal: inside.descriptor, variables: ["TERM": "xterm"]))
        live.show((1...12).map { "inbox number \($0) is idle" })
        let lines = text(outside).split(separator: "\n")
        #expect(lines.count == 8 && lines[0] == "inbox number 1 i..." && lines[7] == "and 5 other inboxes")
    }

    @Test func `without a terminal that can go back there are none`() throws {
        let (_, inside) = try terminal()
        #expect(LiveLines(terminal: inside.descriptor, variables: ["TERM": "dumb"]) == nil)
        #expect(LiveLines(terminal: inside.descriptor, variables: [:]) == nil)
    }
}
