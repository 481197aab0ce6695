// Tells the messages of a decoder from those of stages and encoders.
import Pipeline
import Vips

/// An operation of libvips that failed outside of the decoder, unless the decoder turns out to be the cause.
struct FailedOperation: Error {
    /// The failure if the source decodes without an error.
    let failure: Failure
    let error: VipsError

    init(_ code: FailureCode, stage: String, _ message: String, _ error: VipsError) {
        failure = Failure(code, stage: stage, message, detail: error.message)
        self.error = error
    }
}

/// Decodes a source without doing anything else. Decoder, stages and encoder of libvips work at one time and share one
/// buffer of messages, so that a message says little about its author. Only pictures with a message are decoded again.
final class DecoderTrial {
    /// Decodes all rows of the source and keeps none of them.
    private let decode: () throws -> Void
    /// The result of the first trial.
    private var known: Result<String, Failure>?

    init(_ decode: @escaping () throws -> Void) { self.decode = decode }

    /// The warnings of a decoder that has finished with messages.
    /// - Parameter text: libvips' messages since the decoder began.
    /// - Throws: `Failure` with the code `corrupt` if the decoder fails alone; `VipsError` with the messages that are
    ///   not the decoder's, because libvips has been seen to succeed with an error in its buffer and wrong pixels.
    func warnings(_ text: String) throws -> [Warning] {
        guard !text.isEmpty else { return [] }
        let said = try messages()
        let others = lines(text).filter { !lines(said).contains($0) }
        guard others.isEmpty else {
            throw VipsError(reason: .failed, operation: "render", message: others.joined(separator: "\n"))
        }
        return [Warning(.sourceDamaged, "the decoder found damage and went on: \(lines(said).first ?? said)")]
    }

    /// The failure of a source over which an operation failed. A decoder that warns, and does not say the same twice,
    /// has met damage too.
    func failure(after error: FailedOperation) -> Failure {
        do throws(Failure) {
            let said = try messages()
            return said.isEmpty ? error.failure : Self.damaged(said)
        } catch {
            return error
        }
    }

    /// The messages of the decoder alone.
    private func messages() throws(Failure) -> String {
        let result = known ?? tried()
        known = result
        return try result.get()
    }

    private func tried() -> Result<String, Failure> {
        _ = VipsLibrary.takeErrors()
        do {
            try decode()
        } catch {
            let detail = (error as? VipsError)?.message ?? "\(error)"
            return .failure(Self.damaged(detail))
        }
        return .success(VipsLibrary.takeErrors())
    }

    private static func damaged(_ detail: String) -> Failure {
        Failure(.corrupt, stage: "decode", "the picture is damaged", detail: detail)
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
}
