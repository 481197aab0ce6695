// The resources of this machine, as far as this process may use them.
import CLinux
import Glibc
import Pipeline

package enum Machine {
    /// Processors that this process may run on.
    package static var cores: Int {
        max(1, Int(clinux_usable_processors()))
    }

    /// Keeps other processes of this user out of this one's memory and descriptors: a worker that a picture has taken
    /// over is one of them.
    package static func refuseInspection() { _ = clinux_refuse_inspection() }

    /// For a process that runs for years. To be called before there are threads.
    package static func packMemory() { clinux_pack_memory() }

    /// Raises the soft limit of open files to the hard one. No run needs more than some ten thousand.
    /// - Returns: the limit that holds now.
    @discardableResult
    package static func raiseDescriptorLimit() -> Int { Int(clamping: clinux_raise_descriptor_limit(65_536)) }

    /// Files that this process may have open.
    package static var descriptorLimit: Int { max(64, Int(clamping: sysconf(CInt(_SC_OPEN_MAX)))) }

    /// Files that this process has open; nil if the system does not tell.
    package static var openDescriptors: Int? {
        guard let folder = try? Directory(BytePath("/proc/self/fd")), let names = try? DirectoryStream(folder) else {
            return nil
        }
        var count = 0
        while let name = try? names.next() { count += name.isEmpty ? 0 : 1 }
        // The folder itself, and the look into it.
        return count - 2
    }

    /// How wide a terminal is, in characters; nil if the descriptor is no terminal, or it does not say.
    package static func terminalColumns(_ descriptor: CInt) -> Int? {
        let columns = Int(clinux_terminal_columns(descriptor))
        return columns > 0 ? columns : nil
    }

    /// Bytes that this process has in memory now.
    package static var residentMemory: Int {
        (try? OpenFile.reading(BytePath("/proc/self/statm"))).map(residentMemory) ?? 0
    }

    /// Bytes that a process has in memory now.
    /// - Parameter statm: its `/proc/PID/statm`.
    package static func residentMemory(_ statm: OpenFile) -> Int { Int(clinux_resident_memory(statm.descriptor)) }

    /// Seconds that this process has computed, in all threads.
    package static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Bytes of memory: the machine's, or what the control group leaves of it.
    package static var memory: Int {
        let installed = sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))
        return min(installed, controlGroupLimit ?? installed)
    }

    private static var controlGroupLimit: Int? {
        let own =
            (try? OpenFile.contents(BytePath("/proc/self/cgroup"), limit: 65_536)).map {
                String(decoding: $0, as: UTF8.self)
            } ?? ""
        return limitFiles(ofControlGroup: own).compactMap(limit).min()
    }

    private static func limit(_ file: String) -> Int? {
        guard let bytes = try? OpenFile.contents(BytePath(file), limit: 64) else { return nil }
        // `max` is no number.
        return Int(String(decoding: bytes, as: UTF8.self).filter(\.isNumber))
    }

    /// The files with limits of memory: in the process's own group, as a service has one, and in every group above; in
    /// a container the process sees its own group as the root.
    /// - Parameter text: `/proc/self/cgroup`.
    static func limitFiles(ofControlGroup text: String) -> [String] {
        let line = text.split(separator: "\n").first { $0.hasPrefix("0::/") }
        var names = (line?.dropFirst(4) ?? "").split(separator: "/")
        // A path that leads out of what this process sees says nothing.
        if names.contains("..") { names = [] }
        return (0...names.count).map { count in
            (["/sys/fs/cgroup"] + names.prefix(count).map(String.init) + ["memory.max"]).joined(separator: "/")
        }
    }
}
