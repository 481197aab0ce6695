// What a plan is made of, and the message that tells it to the worker that renders.
import Pipeline

/// What the headers say: all that a plan needs of a picture or a set.
enum ProbedInput: Sendable {
    case picture(SourceFacts, SourceName)
    case set([MemberFacts])

    func plan(
        by planner: Planner, measurements: [Planner.StagePath: Measurement] = [:]
    ) throws(PlanFailure) -> SourcePlan {
        switch self {
        case .picture(let facts, let name):
            try planner.plan(facts, pixelsPerPoint: name.pixelsPerPoint, measurements: measurements)
        case .set(let members): try planner.plan(set: members, measurements: measurements)
        }
    }

    var message: SourceMessage {
        switch self {
        case .picture(_, let name): .picture(pixelsPerPoint: name.pixelsPerPoint)
        case .set(let members): .set(members)
        }
    }
}
