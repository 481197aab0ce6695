// One drop folder at a time works with a state folder.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline

@Suite struct StateLockTests {
    @Test("A second one is refused with the number of the first, until that is gone")
    func second() throws {
        let folder = try TemporaryFolder()
        let state = BytePath(folder.path("deep/state"))
        do {
            let lock = try StateLock(state: state)
            let error = #expect(throws: StateInUse.self) { try StateLock(state: state) }
            #expect(
                error?.description
                    == "another imagemill watch (process \(getpid())) works with the state folder '\(state.text)'; stop it first, or give this one "
                    + "a 'state' folder of its own")
            withExtendedLifetime(lock) {}
        }
        _ = try StateLock(state: state)
    }

    @Test("A folder that cannot be made is an error that names it")
    func impossible() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "file")
        let error = #expect(throws: SystemError.self) { try StateLock(state: BytePath(folder.path("file/state"))) }
        #expect(error?.description == "cannot make the state folder '\(folder.path("file/state"))' ('state' in the mill file): Not a directory")
    }
}
