// Two spools, several claimers of one inbox and a busy writer at once: what is dropped ends in done/, each drop once.
import Foundation
import Glibc
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import Engine
@testable import System

@Suite struct ClaimFlowTests {
    /// Claims whatever is in the inbox, and lets it leave, until it is stopped.
    private final class Claimers: Sendable {
        let fixture: SpoolFixture
        let claimed = Mutex(0)
        private let stopping = Mutex(false)
        private let running: Monitor<Int>

        init(_ count: Int) throws {
            fixture = try SpoolFixture()
            running = Monitor(count)
            for _ in 0..<count {
                runOnNewThread { [self] in
                    while !stopping.withLock({ $0 }) { claimAll() }
                    running.change { $0 -= 1 }
                }
            }
        }

        private func claimAll() {
            for name in (try? Directory(fixture.inbox).names()) ?? [] {
                guard let job = try? fixture.job(BytePath(name)), fixture.claim(job) == .claimed else { continue }
                _ = try? fixture.settle(job)
                claimed.withLock { $0 += 1 }
            }
        }

        func stop() async throws {
            stopping.withLock { $0 = true }
            try await onNewThread { [running] in running.wait { $0 == 0 ? () : nil } }
        }
    }

    /// Drops a file by renaming it in, if its name is free; so that a writer loses nothing by itself.
    private func drop(_ fixture: SpoolFixture, _ name: String, _ text: String) async throws {
        try fixture.folder.write(text, to: "outside/\(text)")
        for _ in 0..<3000 {
            if try moveIn(fixture, name, text) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("\(name) was not taken")
    }

    /// Whether the name was free.
    private func moveIn(_ fixture: SpoolFixture, _ name: String, _ text: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Directory(BytePath(fixture.folder.path("outside"))).move(
                BytePath(text), to: Directory(fixture.inbox), as: BytePath(name))
            return true
        } catch  where error.code == EEXIST {
            return false
        }
    }

    @Test
    func `four hundred drops under ten names, with three claimers, are four hundred files in done/`() async throws {
        let claimers = try Claimers(3)
        let fixture = claimers.fixture
        for number in 0..<400 { try await drop(fixture, "f\(number % 10).txt", "drop \(number)") }
        for _ in 0..<2000 {
            if claimers.claimed.withLock({ $0 }) >= 400 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        try await claimers.stop()
        let texts = try fixture.list(fixture.done).map { try fixture.folder.text("\(fixture.done)/\($0)") }
        #expect(texts.count == 400 && Set(texts) == Set((0..<400).map { "drop \($0)" }))
        #expect(try fixture.list("in") == [] && fixture.entries() == [])
    }
}
