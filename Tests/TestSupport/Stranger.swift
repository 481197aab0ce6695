// Work that is done without root's rights, since root may read and remove everything.
import Glibc
import System

package enum Stranger {
    private static let nobody: uid_t = 65_534

    /// Does something on a thread that gets at no file of this user's that is not meant for everybody. If this user is
    /// not root, it is done with the user's own rights, and files are out of reach by their mode alone.
    package static func tries<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await onNewThread {
            if TestMachine.isRoot { try becomeNobody() }
            return try work()
        }
    }

    /// Glibc's module does not have the call. It concerns the calling thread alone.
    private static func becomeNobody() throws {
        typealias Call = @convention(c) (uid_t) -> CInt
        guard let symbol = dlsym(nil, "setfsuid") else { throw SystemError("find setfsuid", code: ENOSYS) }
        let setFileUser = unsafeBitCast(symbol, to: Call.self)
        _ = setFileUser(nobody)
        // The call returns the user that was set before.
        guard setFileUser(nobody) == CInt(nobody) else { throw SystemError("become nobody", code: EPERM) }
    }
}
