// Where bytes come from and go to: open descriptors, never names. libvips reads `[options]` out of a name.
import CVips
import Glibc

/// Bytes to decode, from an open descriptor. The descriptor stays the caller's.
package final class Source {
    let pointer: UnsafeMutablePointer<VipsSource>

    /// Reads from the descriptor's beginning. libvips works on a duplicate, which shares the position: do not read beside it.
    package init(descriptor: CInt) throws(VipsError) {
        _ = lseek(descriptor, 0, SEEK_SET)
        guard let new = vips_source_new_from_descriptor(descriptor) else { throw VipsError.failed(operation: "source") }
        pointer = new
    }

    deinit { g_object_unref(pointer) }
}

/// A place for encoded bytes: an open descriptor, which stays the caller's.
package final class Target {
    let pointer: UnsafeMutablePointer<VipsTarget>

    package init(descriptor: CInt) throws(VipsError) {
        guard let new = vips_target_new_to_descriptor(descriptor) else { throw VipsError.failed(operation: "target") }
        pointer = new
    }

    deinit { g_object_unref(pointer) }
}
