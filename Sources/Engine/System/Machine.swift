// What this machine has, as far as this process may use it.
import CLinux
import Glibc
import Pipeline

package enum Machine {
    /// Processors that this process may run on.
    package static var cores: Int {
        max(1, Int(clinux_usable_processors()))
    }

    /// How wide a terminal is, in characters; nil where the descriptor is no terminal, or it does not say.
    package static func terminalColumns(_ descriptor: CInt) -> Int? {
        let columns = Int(clinux_terminal_columns(descriptor))
        return columns > 0 ? columns : nil
    }

    /// Bytes of memory: the machine's, or what the control group leaves of it.
    package static var memory: Int {
        let installed = sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))
        return min(installed, controlGroupLimit ?? installed)
    }

    private static var controlGroupLimit: Int? {
        guard let bytes = try? OpenFile.contents(BytePath("/sys/fs/cgroup/memory.max"), limit: 64) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).filter(\.isNumber))
    }
}
