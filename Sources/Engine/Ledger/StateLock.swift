// One drop folder at a time works with a state folder.
import Glibc
package import Pipeline

/// Another process works with the state folder.
package struct StateInUse: Error, Equatable, CustomStringConvertible {
    package let description: String
}

/// A lock on a state folder, held as long as this object lives; the system lets go of it however the process ends.
package final class StateLock: Sendable {
    private let folder: OpenFile

    /// - Throws: `StateInUse`, or `SystemError` where the folder cannot be used.
    package init(state: BytePath) throws {
        do throws(SystemError) {
            try DurableFile.makeFolders(state)
        } catch {
            throw SystemError("make the state folder '\(state.printable)' ('state' in the mill file)", code: error.code)
        }
        folder = try OpenFile.reading(state)
        let note = state.appending(BytePath("process"))
        guard flock(folder.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw SystemError("lock the state folder '\(state.printable)'") }
            throw StateInUse(description: Self.sentence(state, note))
        }
        // Only for the sentence; the lock is what counts.
        try FileSystem.write("\(getpid())\n", to: note)
    }

    private static func sentence(_ state: BytePath, _ note: BytePath) -> String {
        let words = (try? OpenFile.contents(note, limit: 64)).map { String(decoding: $0, as: UTF8.self).filter(\.isNumber) } ?? ""
        let process = words.isEmpty ? "" : " (process \(words))"
        return "another imagemill watch\(process) works with the state folder '\(state.printable)'; stop it first, or give this one a 'state' "
            + "folder of its own"
    }
}
