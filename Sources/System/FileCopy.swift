// Copies the content of one file into another, as cheaply as the file system can.
import CLinux
import Glibc

extension OpenFile {
    /// Fills this file, which is empty, with another one's content: by sharing its blocks, else inside of the kernel,
    /// else through memory. Holes stay holes, so that a copy needs no more room than its original.
    package func fill(from other: OpenFile) throws(SystemError) {
        if clinux_reflink(descriptor, other.descriptor) == 0 { return }
        let size = try other.status().bytes
        var offset = 0
        while let data = try other.nextData(from: offset, size: size) {
            try copy(data, from: other)
            offset = data.upperBound
        }
        // A hole at the end has no data that would make the file long enough.
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw SystemError("copy a file") }
    }

    /// The next bytes that are not a hole; nil if there are none.
    private func nextData(from offset: Int, size: Int) throws(SystemError) -> Range<Int>? {
        guard offset < size else { return nil }
        let start = clinux_seek_data(descriptor, Int64(offset))
        if start < 0 {
            if errno == ENXIO { return nil }
            // The file system knows no holes.
            if [EINVAL, EOPNOTSUPP, ENOSYS].contains(errno) { return offset..<size }
            throw SystemError("find the holes of a file")
        }
        guard start < size else { return nil }
        let end = clinux_seek_hole(descriptor, start)
        return Int(start)..<(end > start ? min(Int(end), size) : size)
    }

    private func copy(_ range: Range<Int>, from other: OpenFile) throws(SystemError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let copied = clinux_copy_range(
                descriptor, other.descriptor, Int64(offset), min(1 << 30, range.upperBound - offset))
            if copied < 0 && errno == EINTR { continue }
            if copied < 0 && [ENOSPC, EDQUOT].contains(errno) { throw SystemError("copy a file") }
            // Some file systems cannot, and some say 0 when they mean that; what is missing is copied through memory.
            guard copied > 0 else { return try copyThroughMemory(offset..<range.upperBound, from: other) }
            offset += copied
        }
    }

    private func copyThroughMemory(_ range: Range<Int>, from other: OpenFile) throws(SystemError) {
        var offset = range.lowerBound
        var block = [UInt8](repeating: 0, count: 1 << 20)
        while offset < range.upperBound {
            let got = pread(other.descriptor, &block, min(block.count, range.upperBound - offset), off_t(offset))
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw SystemError("read a file to copy it") }
            // It became shorter meanwhile, which the caller finds out.
            if got == 0 { return }
            try write(block[..<got], at: offset)
            offset += got
        }
    }

    /// Writes bytes at an offset.
    package func write(_ bytes: ArraySlice<UInt8>, at start: Int) throws(SystemError) {
        var (rest, offset) = (bytes, start)
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw SystemError("copy a file") }
            offset += written
            rest = rest.dropFirst(written)
        }
    }

    /// Makes the file empty again, to be written from its beginning.
    package func empty() throws(SystemError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw SystemError("empty a file")
        }
    }
}
