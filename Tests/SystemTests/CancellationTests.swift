import Glibc
import Testing

@testable import System

@Suite struct CancellationTests {
    @Test func `the first cause stays`() {
        let cancellation = Cancellation()
        #expect(!cancellation.isRaised && cancellation.cause == nil)
        cancellation.raise(signal: SIGTERM)
        cancellation.raise(signal: SIGINT)
        #expect(cancellation.isRaised && cancellation.cause == SIGTERM)
    }

    @Test func `the descriptor becomes readable and stays so`() {
        let cancellation = Cancellation()
        func isReadable() -> Bool {
            var waiting = pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 0) == 1
        }
        #expect(!isReadable())
        cancellation.raise()
        #expect(isReadable() && isReadable())
    }
}
