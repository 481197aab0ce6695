// What a worker wrote is read back by our own code before anybody else sees it: the worker may lie.
import Pipeline

enum OutputCheck {
    /// Checks a rendition against its plan by its first bytes and its header.
    /// - Parameters:
    ///   - said: the size that the worker says it has.
    ///   - limit: the most bytes that a rendition may have.
    /// - Returns: the size of the file in bytes.
    /// - Throws: `Failure` that says what was expected and what was found.
    static func check(_ file: OpenFile, against plan: RenditionPlan, said: PixelSize, atMost limit: Int = .max)
        throws(Failure) -> Int
    {
        guard let bytes = try? file.byteSource(), bytes.count > 0 else {
            throw rejected(plan, "expected a \(plan.format.rawValue) file, found no bytes")
        }
        guard bytes.count <= limit else {
            throw rejected(plan, "expected at most \(limit) bytes, found \(bytes.count)")
        }
        let expected = plan.format.asSource
        guard case .readable(let format) = guessFormat(bytes.read(0, 4096)), format == expected else {
            throw rejected(plan, "expected a \(plan.format.rawValue) file, found other bytes")
        }
        let planned = plan.output.size
        let isRight =
            switch plan.output.certainty {
            case .exact: said == planned
            case .atMost: said.width <= planned.width && said.height <= planned.height
            case .about: true
            }
        guard isRight, let size = headerSize(of: expected, in: bytes), size == (said.width, said.height) else {
            throw rejected(plan, "expected \(planned) pixels, found \(said)")
        }
        return bytes.count
    }

    static func rejected(_ plan: RenditionPlan, _ message: String) -> Failure {
        Failure(.outputRejected, stage: "publish", "'\(plan.title)' was not published: \(message)")
    }
}
