import Glibc
import Testing

@testable import Engine

@Suite struct MachineTests {
    @Test("There is a core, and no more than the machine has")
    func cores() {
        #expect((1...Int(sysconf(CInt(_SC_NPROCESSORS_CONF)))).contains(Machine.cores))
    }

    @Test("There is memory, and no more than the machine has")
    func memory() {
        let installed = sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))
        #expect((1 << 20...installed).contains(Machine.memory))
    }
}
