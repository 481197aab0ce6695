// Copies of files that somebody may write to meanwhile.
import CLinux
import Glibc
import Pipeline

enum SourceCopy {
    /// Copies a file, or a folder with all its files. Links, pipes and the like are left out.
    /// - Parameter largest: bytes beyond which a file gets a second name instead: it will be refused, and must not fill the disk for that.
    /// - Throws: EBUSY where a file was written to while it was copied.
    static func copy(_ name: BytePath, in folder: Directory, to target: Directory, as newName: BytePath, largest: Int = .max) throws(SystemError) {
        guard let found = try folder.sighting(name) else { throw SystemError("find '\(name.printable)'", code: ENOENT) }
        switch found.kind {
        case .regular where found.bytes > largest: try folder.link(name, to: target, as: newName)
        case .regular: try copy(folder.opening(name), to: target, as: newName)
        case .directory:
            let (inner, copy) = (try folder.folder(name), try target.makingFolder(newName, mode: 0o700))
            for entry in try inner.names() { try self.copy(BytePath(entry), in: inner, to: copy, as: BytePath(entry), largest: largest) }
        case .link, .other: return
        }
    }

    /// Copies an open file, with the time of its last change. The copy shares its blocks with the file where the file system can.
    /// - Throws: EBUSY where the file was written to meanwhile.
    static func copy(_ original: OpenFile, to folder: Directory, as name: BytePath) throws(SystemError) {
        let before = try status(original)
        guard Sighting(before).kind == .regular else { throw SystemError("read the source: it is no file", code: EINVAL) }
        let copy = try folder.making(name)
        if clinux_clone(original.descriptor, copy.descriptor) != 0 { try copyBytes(original, to: copy) }
        guard Sighting(try status(original)).hasSameContent(as: Sighting(before)), try copy.status().bytes == Sighting(before).bytes else {
            throw SystemError("copy the source: somebody still writes to it", code: EBUSY)
        }
        // Names with {date} are made of it.
        let times = [before.st_atim, before.st_mtim]
        guard futimens(copy.descriptor, times) == 0 else { throw SystemError("copy the source") }
    }

    private static func status(_ file: OpenFile) throws(SystemError) -> stat {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw SystemError("examine the source") }
        return status
    }

    private static func copyBytes(_ original: OpenFile, to copy: OpenFile) throws(SystemError) {
        var copied = 0
        while true {
            let count = clinux_copy(original.descriptor, copy.descriptor, 1 << 30)
            if count == 0 && copied > 0 { return }
            // Some file systems cannot, and some say 0 where they mean that.
            if count <= 0 { return try copyByHand(original, to: copy) }
            copied += count
        }
    }

    private static func copyByHand(_ original: OpenFile, to copy: OpenFile) throws(SystemError) {
        var offset = 0
        while case let block = original.bytes(at: offset, count: 1 << 20), !block.isEmpty {
            try write(block, at: offset, to: copy)
            offset += block.count
        }
    }

    private static func write(_ block: [UInt8], at offset: Int, to copy: OpenFile) throws(SystemError) {
        var written = 0
        while written < block.count {
            let count = block.withUnsafeBytes {
                pwrite(copy.descriptor, $0.baseAddress! + written, block.count - written, off_t(offset + written))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw SystemError("copy the source") }
            written += count
        }
    }
}
