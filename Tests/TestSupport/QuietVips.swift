// libvips' error buffer, GLib's log and the count of live objects are one per process: tests that look at them take
// turns.
package import Testing
import Vips

/// Lets one test at a time use libvips, and fails it if it leaves a GLib warning or a text in libvips' error buffer
/// behind.
package struct QuietVips: TestTrait, SuiteTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(for test: Test, testCase: Test.Case?, performing work: @Sendable () async throws -> Void)
        async throws
    {
        await VipsTurn.shared.take()
        defer { VipsTurn.shared.giveBack() }
        try TestVips.start()
        _ = GLibLog.shared.take()
        _ = VipsLibrary.takeErrors()
        try await work()
        #expect(GLibLog.shared.take() == [], "GLib warnings", sourceLocation: test.sourceLocation)
        #expect(VipsLibrary.takeErrors() == "", "libvips' error buffer", sourceLocation: test.sourceLocation)
    }
}

extension Trait where Self == QuietVips {
    /// For suites that use libvips in this process.
    package static var quietVips: Self { QuietVips() }
}
