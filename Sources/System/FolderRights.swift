// The message for a user who may not write to a folder.
import Glibc
package import Pipeline

extension SystemError {
    /// An error of this user's rights with a folder in which something is to be made or removed, with the right that is
    /// missing and what to do.
    package static func withoutRight(_ attempt: String, in folder: BytePath, code: CInt) -> SystemError {
        guard code == EACCES || code == EPERM else { return SystemError(attempt, code: code) }
        let user = ThisUser.name
        let owner = (try? FileSystem.status(folder))?.map { ThisUser.name(of: $0.owner) }
        let remedy =
            owner.map { "which belongs to '\($0)'; start it as '\($0)', or" } ?? "or to look into it;"
        return SystemError(
            attempt, code: code,
            because:
                "the user '\(user)' may not write to the folder '\(folder.printable)', \(remedy) give it the right: chown \(user) '\(folder.printable)'"
        )
    }
}
