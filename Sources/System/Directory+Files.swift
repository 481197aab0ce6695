// The operations on an open directory that publishing needs: new folders, and attributes of files.
import CLinux
import Glibc
package import Pipeline

extension Directory {
    /// Makes a folder.
    /// - Returns: false if something has that name already.
    package func make(_ name: BytePath, mode: UInt32) throws(SystemError) -> Bool {
        if withPath(name, { mkdirat(file.descriptor, $0, mode) }) == 0 { return true }
        guard errno == EEXIST else { throw SystemError("make the folder '\(name.printable)'") }
        return false
    }

    /// An extended attribute of a file; nil if it has none, or if the file system has no such thing. No link is
    /// followed.
    package func attribute(_ attribute: String, of name: BytePath) -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: 4096)
        let count = withPath(name) { clinux_attribute(file.descriptor, $0, attribute, &value, value.count) }
        return count > 0 ? Array(value.prefix(count)) : nil
    }
}

extension OpenFile {
    /// Sets an extended attribute.
    /// - Returns: false if the file system has no such thing, or no room for it.
    package func setAttribute(_ attribute: String, to value: [UInt8]) -> Bool {
        clinux_set_attribute(descriptor, attribute, value, value.count) == 0
    }
}
