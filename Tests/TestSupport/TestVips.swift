// libvips for tests: started once, and watched for warnings.
import Vips

/// libvips in a test process.
package enum TestVips {
    private static let started: Result<Void, VipsError> = Result {
        () throws(VipsError) in try VipsLibrary.start(threads: 1, leakCheck: true)
    }

    /// Starts the library at the first call; any later call does nothing.
    package static func start() throws { try started.get() }
}
