// Copies the content of one file into another, as cheaply as the file system can.
import CLinux
import Glibc

extension OpenFile {
    /// Fills this file, which is empty, with another one's content: by sharing its blocks, else inside of the kernel, else through memory.
    func fill(from other: OpenFile) throws(SystemError) {
        if clinux_reflink(descriptor, other.descriptor) == 0 { return }
        var offset = 0
        while true {
            let copied = clinux_copy_range(descriptor, other.descriptor, Int64(offset), 1 << 30)
            if copied == 0 { return }
            if copied < 0 && errno == EINTR { continue }
            guard copied > 0 else { break }
            offset += copied
        }
        // Older kernels do not copy between file systems; a full disk is no other way's fault.
        guard [EXDEV, EOPNOTSUPP, EINVAL, ENOSYS, EPERM].contains(errno) else { throw SystemError("copy a file") }
        try fillThroughMemory(from: other, at: offset)
    }

    private func fillThroughMemory(from other: OpenFile, at start: Int) throws(SystemError) {
        var offset = start
        while case let block = other.bytes(at: offset, count: 1 << 20), !block.isEmpty {
            var rest = block[...]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { throw SystemError("copy a file") }
                offset += written
                rest = rest.dropFirst(written)
            }
        }
    }

    /// Makes the file empty again, to be written from its beginning.
    func empty() throws(SystemError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemError("empty a file") }
    }
}
