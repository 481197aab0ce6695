// What a worker wrote is read back by our own code before anybody else sees it: the worker may lie.
import Pipeline

enum OutputCheck {
    /// Checks a rendition against its plan by its first bytes and its header.
    /// - Throws: `Failure` that says what was expected and what was found.
    static func check(_ file: OpenFile, against plan: RenditionPlan, said: RenderedSize) throws(Failure) -> Int {
        guard let bytes = try? file.byteSource(), bytes.count > 0 else {
            throw rejected(plan, "expected a \(plan.format.rawValue) file, found no bytes")
        }
        let expected = plan.format.asSource
        guard case .readable(let format) = guessFormat(bytes.read(0, 4096)), format == expected else {
            throw rejected(plan, "expected a \(plan.format.rawValue) file, found other bytes")
        }
        let planned = plan.output.size
        let isRight =
            switch plan.output.certainty {
            case .exact: said.size == planned
            case .atMost: said.size.width <= planned.width && said.size.height <= planned.height
            case .about: true
            }
        guard isRight, let size = headerSize(of: expected, in: bytes), size == (said.size.width, said.size.height) else {
            throw rejected(plan, "expected \(planned) pixels, found \(said.size)")
        }
        return bytes.count
    }

    private static func rejected(_ plan: RenditionPlan, _ message: String) -> Failure {
        Failure(.outputRejected, stage: "publish", "'\(plan.title)' was not published: \(message)")
    }
}
