// Small files and folders that are complete after a power cut: written aside, synced, renamed, and the folder synced.
import Glibc
package import Pipeline

package enum DurableFile {
    /// Writes a file into a folder that is there; a reader sees the old content or the new, never a part.
    /// - Parameters:
    ///   - token: distinct for every file that is written at one time.
    ///   - syncsFolder: whether the name is on the disk too when this returns. Who writes many can sync the folder
    ///     afterwards.
    package static func write(
        _ bytes: [UInt8], to path: BytePath, token: String = DurableFile.newToken, syncsFolder: Bool = true
    ) throws(SystemError) {
        try write(bytes, to: path, in: Directory(folder(of: path)), token: token, syncsFolder: syncsFolder)
    }

    /// The same into an open folder.
    /// - Parameter path: for messages; its last component is the name in the folder.
    package static func write(
        _ bytes: [UInt8], to path: BytePath, in folder: Directory, token: String = DurableFile.newToken,
        syncsFolder: Bool = true
    ) throws(SystemError) {
        let staged = try StagedFile(in: folder, destination: path, token: token)
        try staged.file.append(bytes, for: path)
        try staged.sync()
        try FaultPoint.pass(.afterReportWrite)
        try staged.publish()
        try FaultPoint.pass(.afterReportRename)
        guard syncsFolder else { return }
        try folder.sync()
        try FaultPoint.pass(.afterFolderSync)
    }

    /// For the name of a file that has none yet. The process's number alone would not do: in a container it is always
    /// the same, and a killed process may have left a file.
    package static var newToken: String { "\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))" }

    /// Makes what was created, renamed or removed in a folder last.
    package static func syncFolder(_ path: BytePath) throws(SystemError) {
        try Directory(path).sync("the folder '\(path.printable)'")
        try FaultPoint.pass(.afterFolderSync)
    }

    /// Makes a folder and those above it; each new one is synced into the one above.
    package static func makeFolders(_ path: BytePath) throws(SystemError) {
        if try FileSystem.status(path)?.kind == .directory { return }
        let parent = folder(of: path)
        if parent != path { try makeFolders(parent) }
        try FileSystem.makeDirectories(path)
        try syncFolder(parent)
    }

    /// The folder that contains something; `.` for a bare name.
    package static func folder(of path: BytePath) -> BytePath {
        let folder = path.withoutTrailingSlashes.directory
        return folder.bytes.isEmpty ? BytePath(".") : folder
    }
}

extension OpenFile {
    /// Writes all bytes at the file's position.
    /// - Parameter path: for the message.
    package func append(_ bytes: [UInt8], for path: BytePath) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written >= 0 else { throw SystemError("write '\(path.printable)'") }
            rest = rest.dropFirst(written)
        }
    }
}
