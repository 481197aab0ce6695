// When a file system counts as one that does not answer: time is a number, and nothing is asked of a disk.
import Pipeline
import Testing

@testable import Engine
@testable import System

@Suite struct AnswerStateTests {
    private func at(_ seconds: Double) -> Moment { Moment(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1e9)) }
    private let outbox = BytePath("/out")
    private let other = BytePath("/state")

    /// For `#expect`, which calls nothing that changes a variable.
    private final class Looks {
        private var state: AnswerState
        init(at now: Moment) { state = AnswerState(at: now) }
        var lastSilence: Moment? { state.lastSilence }
        func begin(with folder: BytePath, at now: Moment) -> Bool { state.begin(with: folder, at: now) }
        func goOn(to folder: BytePath, at now: Moment) { state.goOn(to: folder, at: now) }
        func end(at now: Moment) { state.end(at: now) }
        func silent(waiting: Moment?, at now: Moment) -> BytePath? { state.silent(waiting: waiting, at: now) }
    }

    @Test func `a folder that has not answered for half a minute is silent until it does`() {
        let state = Looks(at: at(0))
        #expect(state.begin(with: outbox, at: at(0)))
        #expect(!state.begin(with: outbox, at: at(15)), "one look at a time")
        #expect(state.silent(waiting: nil, at: at(30)) == nil && state.lastSilence == nil)
        #expect(state.silent(waiting: nil, at: at(31)) == outbox && state.lastSilence == at(31))
        state.end(at: at(40))
        #expect(state.silent(waiting: nil, at: at(40)) == nil && state.lastSilence == at(31))
    }

    @Test func `looks are ten seconds apart`() {
        let state = Looks(at: at(0))
        #expect(state.begin(with: outbox, at: at(0)))
        state.end(at: at(1))
        #expect(!state.begin(with: outbox, at: at(10.9)))
        #expect(state.begin(with: outbox, at: at(11)))
    }

    @Test func `a lane that waits for long makes no folder silent that answers, and one that does not soon`() {
        let state = Looks(at: at(0))
        #expect(state.silent(waiting: at(0), at: at(100)) == nil)
        #expect(state.begin(with: outbox, at: at(15)))
        #expect(state.silent(waiting: at(0), at: at(29)) == nil)
        #expect(state.silent(waiting: at(0), at: at(31)) == outbox)
        state.goOn(to: other, at: at(32))
        #expect(state.silent(waiting: at(0), at: at(41)) == nil)
        #expect(state.silent(waiting: at(0), at: at(43)) == other)
        state.end(at: at(44))
        #expect(state.silent(waiting: at(0), at: at(50)) == nil)
    }

    @Test func `a look that ends after its folder was replaced begins none by itself`() {
        let state = Looks(at: at(0))
        state.goOn(to: other, at: at(1))
        #expect(state.silent(waiting: nil, at: at(100)) == nil)
    }
}
