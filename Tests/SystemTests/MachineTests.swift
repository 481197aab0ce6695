import Glibc
import Testing

@testable import System

@Suite struct MachineTests {
    @Test func `there is a core, and no more than the machine has`() {
        #expect((1...Int(sysconf(CInt(_SC_NPROCESSORS_CONF)))).contains(Machine.cores))
    }

    @Test func `there is memory, and no more than the machine has`() {
        let installed = sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))
        #expect((1 << 20...installed).contains(Machine.memory))
    }

    @Test func `the memory of a service is that of its own control group and of all above`() {
        let root = "/sys/fs/cgroup/memory.max"
        #expect(
            Machine.limitFiles(ofControlGroup: "0::/system.slice/imagemill.service\n") == [
                root, "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/system.slice/imagemill.service/memory.max",
            ])
        #expect(Machine.limitFiles(ofControlGroup: "0::/\n") == [root])
        #expect(Machine.limitFiles(ofControlGroup: "0::/../other\n") == [root])
        #expect(Machine.limitFiles(ofControlGroup: "12:memory:/x\n") == [root])
        #expect(Machine.limitFiles(ofControlGroup: "") == [root])
    }
}
