// Who this process works as, for messages about rights.
import Glibc

/// The user of this process.
package enum ThisUser {
    /// `the user 'imagemill'`; with the number if it has no name.
    package static var title: String {
        let number = geteuid()
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let start = buffer.baseAddress, getpwuid_r(number, &entry, start, buffer.count, &found) == 0,
                found != nil, let name = entry.pw_name
            else { return "the user \(number)" }
            return "the user '\(String(cString: name))'"
        }
    }
}
