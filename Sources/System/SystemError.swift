// The system's own errors, and how they become failures of a source.
import CLinux
import Glibc
package import Pipeline

/// A call to the system that failed.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    /// The system's error number.
    package let code: CInt
    /// The attempted action, in the user's words: `open the source`.
    package let attempt: String
    /// Why, and what to do about it, if that is known better than the system's sentence says it.
    private let explanation: String?

    package init(_ attempt: String, code: CInt = errno, because explanation: String? = nil) {
        self.code = code
        self.attempt = attempt
        self.explanation = explanation
    }

    /// Why: usually the system's sentence for the number.
    package var reason: String {
        if let explanation { return explanation }
        var buffer = [CChar](repeating: 0, count: 256)
        clinux_error_text(code, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The reason is not the system's sentence, and says what to do.
    package var isExplained: Bool { explanation != nil }

    package var description: String { "cannot \(attempt): \(reason)" }

    /// It has nothing to do with what the user wrote, and another time it may be gone.
    package var mayPass: Bool {
        [ENOSPC, EDQUOT, EIO, EINTR, EAGAIN, EBUSY, EMFILE, ENFILE, ENOMEM, ESTALE, ETIMEDOUT].contains(code)
    }

    /// It is about the state of the machine, such as a file system that is read-only or not mounted, and not about what
    /// the user wrote. Unlike `mayPass`, this holds for folders of ours only: a pipeline file that is missing is a
    /// mistake.
    package var isEnvironmental: Bool {
        let codes = [EROFS, EACCES, EPERM, ENOENT, ENOTCONN, EHOSTDOWN, EPIPE, ENOLCK, EADDRINUSE, EADDRNOTAVAIL]
        return mayPass || codes.contains(code)
    }

    /// The reason why a source cannot be taken, and for missing rights, who needs which.
    package var obstacle: String {
        guard [EACCES, EPERM].contains(code), !isExplained else { return reason }
        return "\(reason); give \(ThisUser.title) the right to read it and to write into its folder"
    }

    /// The failure of a source that could not be read.
    package var asSourceFailure: Failure {
        let failure: FailureCode =
            switch code {
            case ENOENT, ENOTDIR, ELOOP: .notFound
            case EACCES, EPERM: .permissionDenied
            case EISDIR: .isADirectory
            // It had to be copied.
            case ENOSPC, EDQUOT: .diskFull
            default: .ioError
            }
        return Failure(
            failure, stage: "read",
            code == EACCES ? "\(description); this user needs the right to read it" : description)
    }

    /// The failure of a source whose results could not be written.
    package var asOutputFailure: Failure {
        let failure: FailureCode =
            switch code {
            case ENOSPC, EDQUOT: .diskFull
            case EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ELOOP: .outputNotWritable
            case EFBIG: .outputTooLarge
            case ENAMETOOLONG: .nameInvalid
            default: .ioError
            }
        return Failure(failure, stage: "publish", description)
    }

    /// The file, or a folder above it, is gone, or is a link by now.
    package var isAbsence: Bool { [ENOENT, ENOTDIR, ELOOP, ESTALE].contains(code) }
}
