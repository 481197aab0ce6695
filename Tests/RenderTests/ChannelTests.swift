// Messages between supervisor and worker, and everything that the other side can do wrong.
import Glibc
import TestSupport
import Testing

@testable import Messages
@testable import System

@Suite struct ChannelTests {
    private func ends() throws -> (Channel, Channel) {
        let (ours, theirs) = try Channel.pair()
        return (ours, Channel(theirs))
    }

    @Test func `a message arrives as it was sent`() throws {
        let (left, right) = try ends()
        try left.send(["a", "ü\n"])
        let (received, files) = try right.receive([String].self)
        #expect(received == ["a", "ü\n"] && files.isEmpty)
    }

    @Test
    func `descriptors travel beside the message, in their order, and are closed in programs that are started`() throws {
        let folder = try TemporaryFolder()
        let (left, right) = try ends()
        let sent = try ["one", "two", "three"].map { open(try folder.write($0, to: $0), O_RDONLY) }
        try left.send("files", descriptors: sent)
        sent.forEach { close($0) }
        let (_, files) = try right.receive(String.self)
        let texts = try files.map { String(decoding: try $0.bytes(at: 0, count: 10), as: UTF8.self) }
        #expect(texts == ["one", "two", "three"])
        for file in files { #expect(fcntl(file.descriptor, F_GETFD, 0) & FD_CLOEXEC != 0) }
    }

    @Test func `a message longer than the socket's buffer arrives whole, with its descriptors`() throws {
        let (left, right) = try ends()
        let text = String(repeating: "0123456789", count: 300_000)
        let file = open("/dev/null", O_RDONLY)
        runOnNewThread { try? left.send(text, descriptors: [file]) }
        let (received, files) = try right.receive(String.self, until: .now + .seconds(20))
        #expect(received == text && files.count == 1)
        close(file)
    }

    @Test func `messages that follow each other stay apart`() throws {
        let (left, right) = try ends()
        for number in 0..<50 { try left.send(number, descriptors: number % 2 == 0 ? [0] : []) }
        for number in 0..<50 {
            let (received, files) = try right.receive(Int.self)
            #expect(received == number && files.count == (number % 2 == 0 ? 1 : 0))
        }
    }

    @Test func `a message that is too large is not sent`() throws {
        let (left, _) = try ends()
        #expect(throws: ChannelError.garbage("a message that is too large")) {
            try left.send(String(repeating: "x", count: 17 << 20))
        }
    }

    @Test func `the other side's end is noticed, also in the middle of a message`() throws {
        for bytes: [UInt8] in [[], [9], [9, 0, 0, 0], [9, 0, 0, 0, 34, 65]] {
            let (left, theirs) = try Channel.pair()
            #expect(write(theirs.descriptor, bytes, bytes.count) == bytes.count)
            shutdown(theirs.descriptor, CInt(SHUT_RDWR))
            #expect(throws: ChannelError.closed) { try left.receive(String.self) }
        }
        let (left, theirs) = try Channel.pair()
        shutdown(theirs.descriptor, CInt(SHUT_RDWR))
        #expect(throws: ChannelError.closed) { try left.send("to nobody") }
        #expect(left.isClosedByPeer)
    }

    @Test func `nonsense is refused, without making room for what it claims`() throws {
        let cases: [([UInt8], String)] = [
            ([0xFF, 0xFF, 0xFF, 0xFF], "a message of 4294967295 bytes"), ([1, 0, 0, 1], "a message of 16777217 bytes"),
            ([2, 0, 0, 0, 123, 120], "a message that is not understood"),
            ([0, 0, 0, 0], "a message that is not understood"),
            ([4, 0, 0, 0, 0x74, 0x72, 0x75, 0x65], "a message that is not understood"),
        ]
        for (bytes, words) in cases {
            let (left, theirs) = try Channel.pair()
            #expect(write(theirs.descriptor, bytes, bytes.count) == bytes.count)
            #expect(throws: ChannelError.garbage(words)) { try left.receive(String.self, until: .now + .seconds(5)) }
        }
    }

    @Test func `waiting ends at its deadline`() throws {
        let (left, theirs) = try Channel.pair()
        let start = SuspendingClock.now
        #expect(throws: ChannelError.timedOut) { try left.receive(String.self, until: .now + .seconds(0.2)) }
        #expect((.milliseconds(190) ..< .seconds(5)).contains(SuspendingClock.now - start))
        withExtendedLifetime(theirs) {}
    }

    @Test
    func `the deadline holds for the whole message: one that begins and never ends must not hang the supervisor`()
        throws
    {
        for bytes: [UInt8] in [[9], [9, 0, 0, 0], [9, 0, 0, 0, 34]] {
            let (left, theirs) = try Channel.pair()
            #expect(write(theirs.descriptor, bytes, bytes.count) == bytes.count)
            // Ends the test if the channel waits for ever.
            runOnNewThread {
                usleep(1_500_000)
                shutdown(theirs.descriptor, CInt(SHUT_RDWR))
            }
            #expect(throws: ChannelError.timedOut) { try left.receive(String.self, until: .now + .seconds(0.2)) }
        }
    }

    @Test func `a cancellation ends the waiting, also one that came before`() throws {
        let (left, theirs) = try Channel.pair()
        let cancellation = Cancellation()
        runOnNewThread {
            usleep(100_000)
            cancellation.raise(signal: SIGINT)
        }
        for _ in 0..<2 {
            #expect(throws: ChannelError.cancelled) {
                try left.receive(String.self, until: .now + .seconds(20), cancellation: cancellation)
            }
        }
        withExtendedLifetime(theirs) {}
    }

    @Test func `sending to a side that does not read ends at the deadline`() throws {
        let (left, theirs) = try Channel.pair()
        let text = String(repeating: "x", count: 4 << 20)
        let start = SuspendingClock.now
        #expect(throws: ChannelError.timedOut) { try left.send(text, until: .now + .seconds(0.3)) }
        #expect((.milliseconds(290) ..< .seconds(10)).contains(SuspendingClock.now - start))
        // The buffer is full now: a small message does not get away either.
        #expect(throws: ChannelError.timedOut) { try left.send(1, until: .now + .seconds(0.1)) }
        withExtendedLifetime(theirs) {}
    }

    @Test func `a cancellation ends the sending to a side that does not read`() throws {
        let (left, theirs) = try Channel.pair()
        let cancellation = Cancellation()
        runOnNewThread {
            usleep(200_000)
            cancellation.raise(signal: SIGTERM)
        }
        let text = String(repeating: "x", count: 4 << 20)
        #expect(throws: ChannelError.cancelled) {
            try left.send(text, until: .now + .seconds(20), cancellation: cancellation)
        }
        withExtendedLifetime(theirs) {}
    }

    @Test
    func `a long message to a side that reads slowly arrives whole, with its descriptors, within the deadline`() throws
    {
        let (left, right) = try ends()
        let text = String(repeating: "0123456789", count: 300_000)
        let file = open("/dev/null", O_RDONLY)
        runOnNewThread {
            try? left.send(text, descriptors: [file], until: .now + .seconds(20), cancellation: Cancellation())
        }
        usleep(300_000)
        let (received, files) = try right.receive(String.self, until: .now + .seconds(20))
        #expect(received == text && files.count == 1)
        close(file)
    }

    @Test func `a side that never stops sending does not outlast the deadline`() throws {
        let (left, right) = try ends()
        let isOver = Cancellation()
        runOnNewThread {
            while !isOver.isRaised, (try? right.send("x", until: .now + .seconds(1))) != nil {}
        }
        let end = SuspendingClock.now + .seconds(0.3)
        #expect(throws: ChannelError.timedOut) {
            while SuspendingClock.now < end + .seconds(10) { _ = try left.receive(String.self, until: end) }
        }
        isOver.raise()
    }
}
