// The processes that hold locks (flock) on files: whoever may open a file may lock it, whatever its user is.
package import CLinux
import Glibc
import Pipeline

/// The table of locks that this process sees. See proc(5), locks. Locks of processes that it does not see, as those
/// outside of its container, are missing.
package struct LockTable: Sendable {
    private struct Lock: Hashable {
        /// `major:minor`, as the table of mounts has it.
        let device: String
        let inode: UInt64
    }

    private var holders: [Lock: [pid_t]] = [:]

    /// - Parameter text: the content of `/proc/locks`.
    init(_ text: [UInt8]) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            // `3: FLOCK  ADVISORY  WRITE 1234 fe:00:16498971 0 EOF`; those that wait have an arrow in the second place.
            let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard fields.count > 5, fields[1] == "FLOCK", let process = pid_t(fields[4]) else { continue }
            let file = fields[5].split(separator: ":")
            guard file.count == 3, let major = UInt32(file[0], radix: 16), let minor = UInt32(file[1], radix: 16),
                let inode = UInt64(file[2])
            else { continue }
            holders[Lock(device: "\(major):\(minor)", inode: inode), default: []].append(process)
        }
    }

    /// As this process sees it now; empty if the system does not tell.
    package static var current: LockTable {
        LockTable((try? OpenFile.contents(BytePath("/proc/locks"), limit: 16 << 20)) ?? [])
    }

    /// - Parameter device: `major:minor`.
    func holders(of inode: UInt64, on device: String) -> [pid_t] {
        holders[Lock(device: device, inode: inode)] ?? []
    }
}

/// The owner of the lock on an open folder.
package enum LockOwner: Equatable {
    /// A process of this user's, or at least nobody else may open the folder.
    case user
    /// An imagemill of another user, who may take the files in the folder.
    case rival(process: pid_t, user: String)
    /// Somebody else's, or it cannot be found out.
    case stranger

    /// - Parameter locks: the table after the folder could not be locked.
    package init(of folder: Directory, by locks: LockTable, _ mounts: MountTable) {
        guard let status = try? folder.file.status(),
            let device = mounts.device(onMount: clinux_mount(folder.file.descriptor))
        else {
            self = .stranger
            return
        }
        let holders = locks.holders(of: status.identity.inode, on: device).filter { kill($0, 0) == 0 || errno == EPERM }
        let isUsers =
            holders.isEmpty
            ? status.owner == geteuid() && status.mode & 0o044 == 0 : holders.contains(where: Self.isUsers)
        if isUsers {
            self = .user
        } else if let rival = holders.firstFound({ Self.rival($0, in: folder) }) {
            self = rival
        } else {
            self = .stranger
        }
    }

    /// A process that is an imagemill, and whose user may take the files in the folder, whoever has put them there; nil
    /// for any other, which could only pretend to take them.
    private static func rival(_ process: pid_t, in folder: Directory) -> LockOwner? {
        var status = stat()
        guard fstat(folder.file.descriptor, &status) == 0, let found = ProcessStatus(process),
            found.name.hasPrefix("imagemill"), let user = found.users.first
        else { return nil }
        let mayWrite =
            status.st_mode & S_IWOTH != 0 || status.st_mode & S_IWGRP != 0 && found.groups.contains(status.st_gid)
        // In a sticky folder, everybody else may take files of their own only.
        let mayTake = user == 0 || user == status.st_uid || mayWrite && status.st_mode & S_ISVTX == 0
        return mayTake ? .rival(process: process, user: ThisUser.name(of: user)) : nil
    }

    /// Whether a process is this user's. The system answers that for processes that it hides otherwise.
    private static func isUsers(_ process: pid_t) -> Bool {
        guard geteuid() == 0 else { return kill(process, 0) == 0 }
        // Root may send signals to all. The real user counts: a program with rights of its own has another one.
        return ProcessStatus(process)?.users.first == 0
    }
}

/// The facts about a process in `/proc/PID/status`.
private struct ProcessStatus {
    let name: String
    /// The real user is the first.
    let users: [uid_t]
    let groups: [gid_t]

    /// Returns nil for a process that is gone or hidden.
    init?(_ process: pid_t) {
        guard let text = try? OpenFile.contents(BytePath("/proc/\(process)/status"), limit: 1 << 16) else { return nil }
        var values: [Substring: [Substring]] = [:]
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if let key = words.first { values[key] = Array(words.dropFirst()) }
        }
        func numbers(_ key: Substring) -> [UInt32] { (values[key] ?? []).compactMap { UInt32($0) } }
        name = values["Name:"]?.first.map(String.init) ?? ""
        users = numbers("Uid:")
        groups = numbers("Gid:") + numbers("Groups:")
    }
}
