// The user that this process works as, for messages about rights.
import Glibc

/// The user of this process.
package enum ThisUser {
    /// `the user 'imagemill'`.
    package static var title: String { "the user '\(name)'" }

    package static var name: String { name(of: geteuid()) }

    /// A user's name; the number if there is none.
    package static func name(of user: UInt32) -> String { knownName(of: user) ?? "\(user)" }

    /// - Returns: nil if the system knows no name.
    package static func knownName(of user: UInt32) -> String? {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let start = buffer.baseAddress, getpwuid_r(user, &entry, start, buffer.count, &found) == 0,
                found != nil, let name = entry.pw_name
            else { return nil }
            return String(cString: name)
        }
    }
}
