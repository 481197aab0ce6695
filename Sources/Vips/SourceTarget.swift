// Where bytes come from and go to: open descriptors, never names. libvips reads `[options]` out of a name.
import CLinux
import CVips
import Glibc

/// Bytes to decode, from an open regular file. The descriptor stays the caller's.
///
/// Each source has a position of its own. libvips' source for a descriptor moves the descriptor's, which all sources on
/// it share, and some loaders (libspng's, which libvips 8.15 to 8.17 prefer for PNG) go on reading where they believe
/// to be.
package final class Source {
    let pointer: UnsafeMutablePointer<VipsSource>

    package init(descriptor: CInt) throws(VipsError) {
        guard let file = FileReader(descriptor), let new = vips_source_custom_new() else {
            throw VipsError.failed(operation: "source")
        }
        pointer = UnsafeMutableRawPointer(new).assumingMemoryBound(to: VipsSource.self)
        connect("read", to: unsafeBitCast(readFile, to: GCallback.self), of: file)
        connect("seek", to: unsafeBitCast(seekFile, to: GCallback.self), of: file)
    }

    /// Reads a copy of bytes in memory.
    package init(bytes: [UInt8]) throws(VipsError) {
        guard let blob = vips_blob_copy(bytes, bytes.count) else { throw VipsError.failed(operation: "source") }
        defer { cvips_blob_unref(blob) }
        guard let new = vips_source_new_from_blob(blob) else { throw VipsError.failed(operation: "source") }
        pointer = new
    }

    deinit { g_object_unref(pointer) }

    /// The handler owns a reference to the file for as long as libvips has the source, which may be longer than this
    /// object lives.
    private func connect(_ signal: String, to handler: @escaping GCallback, of file: FileReader) {
        let release: GClosureNotify = { data, _ in Unmanaged<FileReader>.fromOpaque(data!).release() }
        g_signal_connect_data(
            pointer, signal, handler, Unmanaged.passRetained(file).toOpaque(), release, GConnectFlags(rawValue: 0))
    }
}

/// A regular file and how far it was read.
private final class FileReader {
    private let descriptor: CInt
    private var position: off_t = 0

    init?(_ descriptor: CInt) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard self.descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Reads as much as is asked for, or all that is left: libtiff takes less for damage, and a file system may give
    /// less at a time.
    /// - Returns: how many bytes were read, 0 at the end, -1 for an error.
    func read(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        var filled = 0
        while filled < count {
            let got = pread(descriptor, buffer + filled, count - filled, position)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { return filled > 0 ? filled : got }
            filled += got
            position += off_t(got)
        }
        return filled
    }

    /// - Returns: the new position, -1 for an error.
    func seek(_ offset: off_t, from whence: CInt) -> off_t {
        var status = stat()
        switch whence {
        case SEEK_SET: position = offset
        case SEEK_CUR: position += offset
        case SEEK_END where clinux_status(descriptor, &status) == 0: position = status.st_size + offset
        default: return -1
        }
        return position
    }
}

// The handlers of VipsSourceCustom's signals.
private let readFile:
    @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, Int64, UnsafeMutableRawPointer?) -> Int64 = {
        _, buffer, count, file in
        Int64(Unmanaged<FileReader>.fromOpaque(file!).takeUnretainedValue().read(buffer!, Int(count)))
    }

private let seekFile: @convention(c) (OpaquePointer?, Int64, CInt, UnsafeMutableRawPointer?) -> Int64 = {
    _, offset, whence, file in
    Int64(Unmanaged<FileReader>.fromOpaque(file!).takeUnretainedValue().seek(off_t(offset), from: whence))
}

/// A place for encoded bytes.
package final class Target {
    let pointer: UnsafeMutablePointer<VipsTarget>

    /// Writes to an open descriptor, which stays the caller's.
    package init(descriptor: CInt) throws(VipsError) {
        guard let new = vips_target_new_to_descriptor(descriptor) else { throw VipsError.failed(operation: "target") }
        pointer = new
    }

    /// Keeps the bytes in memory until it is let go.
    package init() throws(VipsError) {
        guard let new = vips_target_new_to_memory() else { throw VipsError.failed(operation: "target") }
        pointer = new
    }

    /// The bytes that a saver has left in memory.
    package var bytes: [UInt8] {
        guard let blob = cvips_target_blob(pointer) else { return [] }
        defer { cvips_blob_unref(blob) }
        var count = 0
        return Array(UnsafeRawBufferPointer(start: vips_blob_get(blob, &count), count: count))
    }

    deinit { g_object_unref(pointer) }
}
