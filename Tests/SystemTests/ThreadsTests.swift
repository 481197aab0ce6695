// Work that may hang, on threads of its own.
import Glibc
import Testing

@testable import System

@Suite struct ThreadsTests {
    @Test func `whoever waits for work that hangs goes on in time, and can wait for it again`() {
        let gate = Monitor(false)
        let work = Background {
            gate.wait { $0 ? () : nil }
            return 7
        }
        #expect(work.value(until: .now + .milliseconds(20)) == nil)
        gate.change { $0 = true }
        #expect(work.value(until: .now + .seconds(60)) == 7)
        #expect(work.value(until: .now) == 7)
    }
}
