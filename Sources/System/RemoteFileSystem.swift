// Whether a file system tells of all changes, or only of those that this machine makes.
import CLinux

/// The kinds of file systems on which another machine, or a program behind them, changes files without a word.
package enum RemoteFileSystem {
    /// Numbers of statfs(2), with names for people.
    private static let names: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x6573_5546: "FUSE", 0x0102_1997: "9p",
        0x00C3_6400: "Ceph",
        0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x7375_7245: "Coda", 0x564C: "NCP", 0x0BD0_0BD0: "Lustre",
        0x786F_4256: "VirtualBox share",
        0x4750_4653: "GPFS", 0x1983_0326: "BeeGFS", 0xAAD7_AAEA: "PanFS", 0x0116_1970: "GFS2", 0x7461_636F: "OCFS2",
        0x5B7E_6C63: "VMware share",
    ]

    /// The file system's name for people; nil for one whose events can be relied on.
    package static func name(ofType type: UInt32) -> String? { names[type] }

    /// The name of a remote file system that holds a directory. One that does not say what it is may be remote.
    package static func name(of directory: Directory) -> String? {
        let type = clinux_file_system_type(directory.file.descriptor)
        return type == 0 ? "a file system that does not say what it is" : name(ofType: type)
    }

    /// Whether the file's server decides about leases. It may refuse one although nobody writes: NFS refuses without a
    /// delegation, for example shortly after the server has started. FUSE leaves leases to the kernel.
    static func givesLeases(_ type: UInt32) -> Bool { names[type].map { $0 != "FUSE" } ?? false }
}

extension OpenFile {
    /// Whether it is on such a file system.
    package var isRemote: Bool { RemoteFileSystem.name(ofType: clinux_file_system_type(descriptor)) != nil }

    /// True if any process has this file open for writing, nil if the system cannot tell.
    package var hasWriter: Bool? {
        Self.hasWriter(lease: clinux_nobody_writes(descriptor), fileSystem: clinux_file_system_type(descriptor))
    }

    /// - Parameters:
    ///   - lease: the answer of `clinux_nobody_writes`.
    ///   - fileSystem: its number in statfs(2).
    package static func hasWriter(lease: CInt, fileSystem: UInt32) -> Bool? {
        switch lease {
        case 1: false
        case 0: RemoteFileSystem.givesLeases(fileSystem) ? nil : true
        default: nil
        }
    }
}
