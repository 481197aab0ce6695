// One drop folder at a time works with a state folder.
import Glibc
import TestSupport
import Testing

@testable import Engine
@testable import Pipeline
@testable import System

@Suite struct StateLockTests {
    @Test func `a second one is refused with the number of the first, until that is gone`() throws {
        let folder = try TemporaryFolder()
        let state = BytePath(folder.path("deep/state"))
        do {
            let lock = try StateLock(state: state)
            let error = #expect(throws: StateInUse.self) { try StateLock(state: state) }
            let sentence = try #require(error?.description)
            #expect(
                sentence.hasPrefix(
                    "another imagemill watch (process \(getpid()) on host \(LockHolder.current.host), since "))
            #expect(
                sentence.hasSuffix(
                    ") works with the state folder '\(state.text)'; stop it first, or give this one a 'state' folder of its own"
                ))
            withExtendedLifetime(lock) {}
        }
        _ = try StateLock(state: state)
    }

    @Test func `what is locked is a file, since on NFS a lock on a folder is known to one machine only`() throws {
        let folder = try TemporaryFolder()
        let state = BytePath(folder.path("state"))
        let lock = try StateLock(state: state)
        let file = try OpenFile.reading(state.appending(BytePath("lock")))
        #expect(flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        let directory = try OpenFile.reading(state)
        #expect(flock(directory.descriptor, LOCK_EX | LOCK_NB) == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func `nobody else may open the lock, since whoever may can hold it`() throws {
        let folder = try TemporaryFolder()
        let lock = try StateLock(state: BytePath(folder.path("new")))
        #expect(try FileSystem.status(BytePath(folder.path("new/lock")))?.mode == 0o600)
        withExtendedLifetime(lock) {}
    }

    @Test func `a lock that leads elsewhere by a link is refused`() throws {
        let folder = try TemporaryFolder()
        try folder.write("precious", to: "elsewhere")
        try folder.write("", to: "state/x")
        #expect(symlink("../elsewhere", folder.path("state/lock")) == 0)
        #expect(throws: SystemError.self) { try StateLock(state: BytePath(folder.path("state"))) }
        #expect(try OpenFile.contents(BytePath(folder.path("elsewhere")), limit: 100) == Array("precious".utf8))
    }

    @Test func `a folder that cannot be made is an error that names it`() throws {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "file")
        let error = #expect(throws: SystemError.self) { try StateLock(state: BytePath(folder.path("file/state"))) }
        #expect(
            error?.description
                == "cannot make the state folder '\(folder.path("file/state"))' ('state' in the mill file): Not a directory"
        )
    }

    /// Files that root's `watch` made in the folder of a service could not be used by the service afterwards.
    @Test(.enabled(if: TestMachine.isRoot, "only root writes into the folders of others"))
    func `root leaves the state folder of another user alone, also one that its service has not used yet`() throws {
        let folder = try TemporaryFolder()
        for (name, file, owner, isRefused) in [
            ("used", "ledger.sqlite", 65534, true), ("begun", "lock", 1000, true), ("own", "ledger.sqlite", 0, false),
            ("service", nil, 100, true), ("person", nil, 1000, false),
        ] as [(String, String?, uid_t, Bool)] {
            let state = BytePath(folder.path(name))
            try DurableFile.makeFolders(state)
            if let file { try folder.write("", to: "\(name)/\(file)") }
            let path = file.map { state.appending(BytePath($0)) } ?? state
            #expect(chown(path.text, owner, 0) == 0)
            let before = try folder.entries()
            do {
                _ = try StateLock(state: state)
                #expect(!isRefused, "\(name)")
            } catch let error as ForeignState {
                #expect(isRefused && error == ForeignState(state: state, owner: owner), "\(name)")
                #expect(try folder.entries() == before)
            }
        }
    }
}
