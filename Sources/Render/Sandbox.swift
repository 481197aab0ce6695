// The sandbox that keeps a worker process, and a hostile picture that has taken it over, away from everything but the
// worker's own open files.
import CLinux
import CRaw
import Glibc
import Messages
import Pipeline
import System
import Vips

/// The walls around a worker process: no file system, no network, no other process, no new program.
package struct Sandbox {
    /// This process is shut in, as far as the kernel can do it.
    private(set) var isEntered = false
    private var isNarrowed = false

    /// Those of libraries and of what comes with them.
    private static let libraryFolders = [
        "/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/lib", "/usr/local/share", "/lib", "/lib64",
    ]

    /// A sentence for each wall that the kernel lacks; empty if workers are shut in completely.
    package static var missing: [String] {
        var missing: [String] = []
        if clinux_has_call_filters() == 0 { missing.append("the kernel does not filter system calls (seccomp)") }
        if clinux_landlock_version() == 0 {
            missing.append("the kernel does not have Landlock, or it is switched off (Linux 5.13 or newer)")
        }
        return missing
    }

    /// A sentence that names the walls of workers on this system.
    package static var inForce: String {
        let landlock = clinux_landlock_version()
        let walls = [
            clinux_has_call_filters() == 0 ? nil : "a filter of system calls",
            landlock == 0 ? nil : "Landlock \(landlock)",
        ]
        let present = walls.compactMap(\.self)
        return present.isEmpty
            ? "workers are not shut in" : "workers are shut in by " + present.joined(separator: " and ")
    }

    /// Loads a module, while this process may open the files of libraries.
    static func load(_ module: CodecModule) {
        if module == .raw {
            craw_load()
            return
        }
        VipsLibrary.loadModule(module.rawValue)
        // The operations that the module has added are not blocked yet.
        VipsLibrary.blockUntrusted()
        if module == .heif { findCodecsOfHEIF() }
    }

    /// Has libheif load now what it would load with the first picture.
    private static func findCodecsOfHEIF() {
        // It looks for its codecs when it sees the first file, however short.
        let start = Array("\0\0\0\u{18}ftypavif\0\0\0\0avifmif1".utf8)
        let file = OpenFile(owning: clinux_memory_file("imagemill-start"))
        guard file.descriptor >= 0, write(file.descriptor, start, start.count) == start.count else { return }
        _ = try? Loader.open(ReceivedFile(file), format: .avif)
        _ = VipsLibrary.takeErrors()
    }

    /// Leaves this process nothing of the file system but fonts and the system's libraries with their data, which may
    /// be loaded with the first picture or text. Done while there is one thread, since Landlock holds for no other that
    /// is there already: libvips keeps those that it starts.
    /// - Throws: if the kernel can do it and refuses to.
    mutating func narrow() throws(SystemError) {
        if isNarrowed || isEntered { return }
        guard clinux_landlock_version() == 0 || clinux_thread_count() == 1 else {
            throw SystemError("take the access to files from threads of the worker", code: EBUSY)
        }
        try Self.forbidFiles(besides: FontFolders.all + Self.libraryFolders + (VipsLibrary.folder.map { [$0] } ?? []))
        isNarrowed = true
    }

    /// Shuts this process in, for good, as a worker of a kind. Does nothing if that was done before.
    /// - Throws: if the kernel can do it and refuses to.
    mutating func enter(_ kind: WorkerKind) throws(SystemError) {
        if isEntered { return }
        kind.allModules.forEach(Self.load)
        // Other kinds may open no file at all, in no thread.
        if kind.readsFonts { try narrow() }
        // Pango loads its modules with the first text.
        if kind.readsFonts { _ = try? Image.text("Ag", size: 12) }
        for format in kind.unblocked {
            guard let operations = format.decoder.blockedClass else { continue }
            VipsLibrary.setBlocked(operations, false)
            // Reading a sample makes the library load now what it would load late.
            _ = CodecTrial.canRead(format)
        }
        // Only those in modules are blocked; to find an encoder takes a search through all of the program's types.
        for format in OutputFormat.allCases
        where format.declaration.separateEncoder != nil && kind.saves(format.declaration) {
            if let operations = format.encoder.blockedClass { VipsLibrary.setBlocked(operations, false) }
        }
        try Self.forbidFiles(besides: kind.readsFonts ? FontFolders.all : [])
        guard clinux_forbid_calls(kind.readsFonts ? 1 : 0) == 0 else {
            throw SystemError("take the worker's system calls")
        }
        isEntered = true
    }

    private static func forbidFiles(besides folders: [String]) throws(SystemError) {
        let folders = folders.map { strdup($0) } + [nil]
        defer { folders.forEach { free($0) } }
        let result = folders.map { UnsafePointer($0) }.withUnsafeBufferPointer { clinux_forbid_files($0.baseAddress!) }
        guard result == 0 else { throw SystemError("take the worker's access to files") }
    }
}
