// Stopping an evaluation that runs in this process. Encoders of WebP, AVIF and GIF do not listen; for them, kill the process.
import CVips
import Synchronization

/// A flag that stops every evaluation that watches it.
package final class CancelFlag: @unchecked Sendable {
    // One word that is only touched through GLib's atomics, here and in the shim.
    fileprivate let flag = UnsafeMutablePointer<gint>.allocate(capacity: 1)

    package init() { flag.initialize(to: 0) }
    deinit { flag.deallocate() }

    package func cancel() { g_atomic_int_set(flag, 1) }
    package var isCancelled: Bool { g_atomic_int_get(flag) != 0 }
}

extension Image {
    /// Computes all pixels into memory, unless the deadline passes or the flag is raised first.
    /// - Parameter seconds: how long it may take; nil for as long as it needs.
    /// - Throws: `VipsError` with the reason `stopped`, or the failure of an operation.
    package func inMemory(withinSeconds seconds: Double?, cancel: CancelFlag? = nil) throws(VipsError) -> Image {
        // A copy carries the watch, so that it ends with this evaluation.
        let watched = try copy()
        let deadline = seconds.map { g_get_monotonic_time() + gint64($0 * 1_000_000) } ?? 0
        cvips_watch(watched.pointer, deadline, cancel?.flag)
        do throws(VipsError) {
            return try watched.inMemory()
        } catch {
            let late = deadline != 0 && g_get_monotonic_time() > deadline
            guard late || cancel?.isCancelled == true else { throw error }
            let message = late ? "stopped: it took longer than \(seconds ?? 0) s" : "stopped: cancelled"
            throw VipsError(reason: .stopped, operation: error.operation, message: message)
        }
    }
}
