// Where a path really is: which file system, and where in it. Two paths through two bind mounts can be one folder.
import CLinux
package import Pipeline

/// A place within a file system, which is the same through whatever mount one comes.
package struct FileSystemPlace: Equatable, Sendable {
    /// `major:minor`, as the table of mounts has it.
    package let device: String
    package let path: BytePath

    package func isAtOrBelow(_ other: FileSystemPlace) -> Bool {
        device == other.device && path.isAtOrBelow(other.path)
    }

    package func appending(_ rest: BytePath) -> FileSystemPlace {
        FileSystemPlace(device: device, path: path.appending(rest))
    }
}

/// The mounts that this process sees, by their numbers. See proc(5), mountinfo.
package struct MountTable: Sendable {
    private struct Mount {
        let device: String
        /// The part of the file system that is mounted.
        let root: BytePath
        let point: BytePath
    }

    private var mounts: [Int64: Mount] = [:]

    /// - Parameter text: the content of `/proc/self/mountinfo`.
    package init(_ text: [UInt8]) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count > 4, let number = Int64(String(decoding: fields[0], as: UTF8.self)) else { continue }
            mounts[number] = Mount(
                device: String(decoding: fields[2], as: UTF8.self), root: BytePath(Self.plain(fields[3])),
                point: BytePath(Self.plain(fields[4])))
        }
    }

    /// As this process sees it now; empty if the system does not tell.
    package static var current: MountTable {
        MountTable((try? OpenFile.contents(BytePath("/proc/self/mountinfo"), limit: 16 << 20)) ?? [])
    }

    /// Where a path is; nil if the table does not have the mount.
    /// - Parameter path: without links and dots.
    package func place(of path: BytePath, onMount number: Int64) -> FileSystemPlace? {
        guard let mount = mounts[number], path.isAtOrBelow(mount.point) else { return nil }
        let rest = BytePath(Array(path.bytes[mount.point.bytes.count...].drop { $0 == UInt8(ascii: "/") }))
        return FileSystemPlace(device: mount.device, path: mount.root.appending(rest))
    }

    /// The device of a file system as `major:minor`; nil if the table does not have the mount.
    package func device(onMount number: Int64) -> String? { mounts[number]?.device }

    /// Blanks and the like are written as `\040` in the table.
    private static func plain(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                result.append(value)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
