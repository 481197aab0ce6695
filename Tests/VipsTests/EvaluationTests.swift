import TestSupport
import Testing

@testable import Vips

@Suite("Stopping an evaluation") struct EvaluationTests {
    init() throws { try TestVips.start() }

    /// More work than any machine does in the time that these tests allow.
    private func endless() throws -> Image {
        try Image.black(width: 20_000, height: 20_000, bands: 3).gaussblur(sigma: 50)
    }

    @Test("a deadline stops it")
    func deadline() throws {
        let start = ContinuousClock.now
        let error = try #require(throws: VipsError.self) { _ = try endless().inMemory(withinSeconds: 0.1) }
        #expect(error.reason == .stopped)
        #expect(error.message == "stopped: it took longer than 0.1 s")
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("a flag stops it from another thread")
    func cancel() async throws {
        let flag = CancelFlag()
        let stopper = Task.detached {
            try await Task.sleep(for: .milliseconds(100))
            flag.cancel()
        }
        let error = try #require(throws: VipsError.self) { _ = try endless().inMemory(withinSeconds: nil, cancel: flag) }
        #expect(error.reason == .stopped)
        #expect(error.message == "stopped: cancelled")
        try await stopper.value
    }

    @Test("one that is quick enough is not stopped")
    func quick() throws {
        let image = try TestPicture.solid([1, 2, 3], width: 10, height: 10).inMemory(withinSeconds: 60, cancel: CancelFlag())
        #expect(try image.getpoint(x: 9, y: 9) == [1, 2, 3])
    }
}
