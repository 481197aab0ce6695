import CVips

/// An error in libvips, or in how this project called it.
package struct VipsError: Error, Equatable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
        /// libvips has no operation of this name.
        case unknownOperation
        /// The operation has no argument of this name, or it is not an input.
        case unknownArgument
        /// The argument takes another type of value.
        case wrongType
        /// The number is outside the argument's range, or the nickname is not one of its enum's.
        case outOfRange
        /// The operation ran and failed.
        case failed
    }

    package let reason: Reason
    /// The libvips name of the operation.
    package let operation: String
    /// One sentence of ours, or libvips' own text if the operation failed.
    package let message: String

    package init(reason: Reason, operation: String, message: String) {
        self.reason = reason
        self.operation = operation
        self.message = message
    }

    package var description: String { "\(operation): \(message)" }

    /// The failure of an operation, with the text that libvips left in its error buffer.
    ///
    /// The buffer is one for the process; it is copied and emptied at once, so that the next failure starts with none
    /// of it.
    static func failed(operation: String) -> VipsError {
        let text = VipsLibrary.takeErrors()
        return VipsError(reason: .failed, operation: operation, message: text.isEmpty ? "failed without a text" : text)
    }
}
