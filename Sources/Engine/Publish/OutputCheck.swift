// A check of a worker's output: our own code reads it back before anybody else sees it, since the worker may lie.
import Pipeline
import System

enum OutputCheck {
    /// Checks a rendition against its plan by its first bytes and its header.
    /// - Parameters:
    ///   - said: the size that the worker says it has.
    ///   - limit: the most bytes that a rendition may have.
    /// - Returns: the size of the file in bytes.
    /// - Throws: `Failure` that says what was expected and what was found, or that the file cannot be read.
    static func check(_ file: OpenFile, against plan: RenditionPlan, said: PixelSize, atMost limit: Int = .max)
        throws(Failure) -> Int
    {
        let format = plan.format.declaration
        let planned = plan.output.size
        let isRight =
            switch plan.output.certainty {
            case .exact: said == planned
            case .atMost: said.width <= planned.width && said.height <= planned.height
            case .about: true
            }
        let (count, isRecognized, size): (Int, Bool, (width: Int, height: Int)?)
        do throws(SystemError) {
            (count, isRecognized, size) = try file.structure {
                ($0.count, format.recognizes($0), isRight ? plan.rendition.save.encoding.size(in: $0, said: said) : nil)
            }
        } catch {
            throw error.asOutputFailure
        }
        guard count > 0 else {
            throw rejected(plan, "expected a \(plan.format.rawValue) file, found no bytes")
        }
        guard count <= limit else {
            throw rejected(plan, "expected at most \(limit) bytes, found \(count)")
        }
        guard isRecognized else {
            throw rejected(plan, "expected a \(plan.format.rawValue) file, found other bytes")
        }
        guard let size, size == (said.width, said.height) else {
            throw rejected(plan, "expected \(planned) pixels, found \(said)")
        }
        return count
    }

    static func rejected(_ plan: RenditionPlan, _ message: String) -> Failure {
        Failure(.outputRejected, stage: "publish", "'\(plan.title)' was not published: \(message)")
    }
}
