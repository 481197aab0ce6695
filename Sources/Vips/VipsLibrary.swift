// libvips as a whole: start it, set what is one per process, count what it holds.
import CVips
import Glibc
import Synchronization

/// The library itself. Start it once per process, before anything else of this module is used.
package enum VipsLibrary {
    /// Starts libvips for the careful use that this project makes of it.
    ///
    /// The operation cache is off: it serves old pixels for a file that was replaced under its name.
    /// - Parameters:
    ///   - threads: how many threads one evaluation uses; many pictures by one thread beat one picture by many.
    ///   - loadsModules: loads all of libvips' modules; else `loadModule` loads those that are needed.
    /// - Throws: `VipsError` if the library cannot start.
    package static func start(threads: Int = 1, loadsModules: Bool = true, leakCheck: Bool = false) throws(VipsError) {
        if !loadsModules { LibraryModules.leaveOut() }
        // Some of libvips' loops are made into machine code as they run, by ORC, which ends the process if the system
        // forbids that, as systemd's MemoryDenyWriteExecute does. Most of them are there in C too; the smart crop's are
        // not, and are emulated then.
        let mayUseVectors = hasCompiledVectors || maySystemMapCode
        if !mayUseVectors { setenv("ORC_CODE", "emulate", 1) }
        // libvips sets the variable by itself. Tests, which use libvips and start workers, would have those load all
        // modules.
        let hadHome = LibraryModules.hasHome
        defer { if !hadHome { LibraryModules.removeHome() } }
        guard vips_init("imagemill") == 0 else { throw VipsError.failed(operation: "init") }
        g_log_set_default_handler(
            { domain, level, text, _ in GLibLog.shared.add(domain: domain, level: level, text: text) }, nil)
        vips_cache_set_max(0)
        vips_concurrency_set(CInt(threads))
        if !mayUseVectors { vips_vector_set_enabled(0) }
        if leakCheck { vips_leak_set(1) }
    }

    /// Whether libvips' vector code was compiled with it, by Highway, as libvips 8.15 and newer can be. The header of
    /// 8.14 does not know the function.
    private static var hasCompiledVectors: Bool {
        guard let symbol = dlsym(nil, "vips_vector_get_supported_targets") else { return false }
        return unsafeBitCast(symbol, to: (@convention(c) () -> Int64).self)() != 0
    }

    /// Whether this process may write machine code and run it.
    private static var maySystemMapCode: Bool {
        let size = 4096
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return false }
        munmap(memory, size)
        return true
    }

    /// Refuses the loaders and savers that libvips marks as untrusted (SVG, PDF, ImageMagick and their like).
    package static func blockUntrusted() {
        vips_block_untrusted_set(1)
    }

    /// Blocks a class of operations, such as `VipsForeignLoadSvg`, or lets it be used again.
    package static func setBlocked(_ operations: String, _ isBlocked: Bool) {
        vips_operation_block_set(operations, isBlocked ? 1 : 0)
    }

    /// The version at run time, such as `8.14.1`.
    package static var version: String {
        (0..<3).map { String(vips_version(CInt($0))) }.joined(separator: ".")
    }

    /// How many libvips objects are alive; equal before and after a piece of work that leaks none.
    package static var liveObjects: Int { cvips_live_objects() }

    /// Bytes that libvips has allocated for pixels and buffers; equal before and after a piece of work that leaks none.
    package static var trackedBytes: Int { vips_tracked_get_mem() }

    /// Takes the text of libvips' error buffer, which is one for the whole process, and empties it. Empty if there was
    /// no error.
    package static func takeErrors() -> String {
        guard let text = vips_error_buffer_copy() else { return "" }
        defer { g_free(text) }
        return trimmed(String(cString: text))
    }
}

extension VipsLibrary {
    /// Does something whose messages are its own business: those of before are in the buffer afterwards, and no others.
    package static func settingMessagesAside<Value>(_ work: () throws -> Value) rethrows -> Value {
        let before = takeErrors()
        defer {
            _ = takeErrors()
            if !before.isEmpty { cvips_add_error(before + "\n") }
        }
        return try work()
    }
}

/// Removes the line ends that libvips leaves after its texts.
func trimmed(_ text: String) -> String {
    var text = text[...]
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
}

/// The log of GLib and libvips. They log into one handler per process, so this is one per process too.
package final class GLibLog: Sendable {
    package static let shared = GLibLog()

    private let lines = Mutex<[String]>([])
    private static let limit = 100

    func add(domain: UnsafePointer<CChar>?, level: GLogLevelFlags, text: UnsafePointer<CChar>?) {
        guard cvips_is_warning(level) != 0 else { return }
        let line = (domain.map { String(cString: $0) + ": " } ?? "") + (text.map { String(cString: $0) } ?? "")
        lines.withLock { if $0.count < Self.limit { $0.append(line) } }
    }

    /// The warnings and worse since the last call, the first hundred of them.
    package func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
