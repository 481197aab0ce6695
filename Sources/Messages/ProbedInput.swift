// The input of a plan, and the message that hands it to the worker that renders.
package import Pipeline

/// The facts from the headers: all that a plan needs of a picture or a set.
package enum ProbedInput: Sendable {
    case picture(SourceFacts, SourceName)
    case set([MemberFacts])

    package func plan(
        by planner: Planner, measurements: [Planner.StagePath: Measurement] = [:]
    ) throws(PlanFailure) -> SourcePlan {
        switch self {
        case .picture(let facts, let name):
            try planner.plan(facts, pixelsPerPoint: name.pixelsPerPoint, measurements: measurements)
        case .set(let members): try planner.plan(set: members, measurements: measurements)
        }
    }

    /// The facts of the picture, or of the first member of a set; nil for an empty set.
    private var facts: SourceFacts? {
        switch self {
        case .picture(let facts, _): facts
        case .set(let members): members.first?.facts
        }
    }

    /// The source as conditions see it.
    /// - Parameter path: of the source, below the folder that was searched.
    package func subject(at path: BytePath) -> Subject {
        switch self {
        case .picture(let facts, _): Subject(picture: facts, path: path)
        case .set(let members): Subject(set: members, path: path)
        }
    }

    /// The same, when its pixels were looked at.
    package func found(transparent: Bool) -> ProbedInput {
        guard case .picture(var facts, let name) = self else { return self }
        facts.isTransparent = transparent
        return .picture(facts, name)
    }

    /// When the picture was taken, by its metadata.
    package var captureDate: String? { facts?.captureDate }

    /// The values of the fields in texts. A set has no metadata of its own.
    package func texts(_ naming: NamingFacts) -> TextValues {
        switch self {
        case .picture(let facts, _):
            TextValues(naming, dateTaken: facts.captureDate, words: facts.words ?? PictureWords())
        case .set: TextValues(naming, dateTaken: nil, words: PictureWords())
        }
    }

    /// The planner for a source of which texts say something, and to which some parts do not apply.
    package func planner(_ planner: Planner, saying texts: TextValues?, without parts: OmittedParts) -> Planner {
        let planner = planner.leavingOut(parts)
        guard let texts, let facts else { return planner }
        return planner.saying(texts, of: facts)
    }

    package var message: SourceMessage {
        switch self {
        case .picture(_, let name): .picture(pixelsPerPoint: name.pixelsPerPoint)
        case .set(let members): .set(members)
        }
    }
}
