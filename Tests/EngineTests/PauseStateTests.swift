// How often a pause that comes back is logged, and when it is looked whether it is over.
import Testing

@testable import Engine
@testable import System

@Suite struct PauseStateTests {
    @Test func `a pause that comes again is logged less often and lasts longer, but a repair is soon noticed`() {
        var state = PauseState()
        var now = Moment.now
        var logged: [Int] = []
        for count in 0..<40 {
            if state.begin(Pause(.noSpace, "full"), since: 0, at: now) { logged.append(count) }
            // Again while it is paused is nothing new.
            let isNew = state.begin(Pause(.noSpace, "fuller"), since: 0, at: now)
            #expect(!isNew)
            #expect(state.isDue(at: now) == (count == 0))
            #expect(state.isDue(at: now + .seconds(6)))
            now = now + .seconds(7)
            let isLogged = state.end(at: now)
            #expect(isLogged == logged.contains(count))
            now = now + .seconds(1)
        }
        #expect(logged == [0, 1, 2, 4, 8, 16, 32])
        // After it has gone well for a while, it is news again.
        let isLogged2 = state.begin(Pause(.noSpace, "full"), since: 0, at: now + .seconds(60))
        #expect(isLogged2)
        // So is another reason.
        let isLogged3 = state.begin(Pause(.permission, "no"), since: 0, at: now + .seconds(60))
        #expect(isLogged3)
    }
}
