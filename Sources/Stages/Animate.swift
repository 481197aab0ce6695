package import Pipeline

/// Makes the members of a set the frames of an animation.
package struct Animate: SetStage {
    package static let name = "animate"
    package static let summary = "Makes the pictures of a set the frames of one animation, in their order."
    package static let example = """
        - animate: { duration: 2, repeat-count: 0, range: { from: 1, to: 12 } }
        """

    let duration: Double?
    let repeatCount: Int
    let range: FrameRange?

    package init(_ p: inout Parameters) {
        duration = p.optional(
            "duration", "Seconds for the whole animation, above 0; default a thirtieth for each frame."
        ).map { (value: Seconds) in
            value.value
        }
        repeatCount = p.optional("repeat-count", 0, in: 0...65_535, "How often it plays; 0 is for ever.")
        range = p.optional(
            "range", "The part of the sequence to use, such as { from: 3, to: 12 }; the first picture is 1.")
    }

    /// The fewest milliseconds of a frame that browsers keep to.
    private static let shortest = 11

    package var makesAnimation: Bool { true }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let range: Range<Int>
        /// Milliseconds for each frame.
        let delays: [Int]
        package var warnings: [Warning] = []

        package var note: String {
            let milliseconds = delays.reduce(0, +)
            return "\(range.count) of the pictures in \(writtenNumber(Double(milliseconds) / 1000)) s"
        }
    }

    package func plan(_ members: [SetMember], in context: PlanContext) throws(PlanFailure) -> Plan {
        let range = try range?.indices(of: members.count) ?? 0..<members.count
        let frames = Array(members[range])
        try checkSizes(frames)
        var output = frames.common
        output.frames = frames.count
        let milliseconds = (duration ?? Double(frames.count) / 30) * 1000
        // Each frame ends at a whole millisecond near its own time, so that the errors do not add up.
        let each = milliseconds / Double(frames.count)
        if frames.count > 1, each < Double(Self.shortest) {
            let delays = [Int](repeating: Self.shortest, count: frames.count)
            let words =
                "'animate': frames of \(writtenNumber((each * 10).rounded() / 10)) ms would be played at 100 ms by browsers"
            let warning = Warning(.animationSlowed, "\(words); they are shown for \(Self.shortest) ms each")
            return Plan(output: output, range: range, delays: delays, warnings: [warning])
        }
        let ends = (0...frames.count).map { rounded(milliseconds * Double($0) / Double(frames.count)) }
        return Plan(output: output, range: range, delays: zip(ends, ends.dropFirst()).map { $1 - $0 })
    }

    /// All frames must have the size and the scale of the first.
    private func checkSizes(_ frames: [SetMember]) throws(PlanFailure) {
        guard let first = frames.first else { return }
        let others = frames.filter {
            $0.geometry.size != first.geometry.size || $0.geometry.pixelsPerPoint != first.geometry.pixelsPerPoint
        }
        guard !others.isEmpty else { return }
        let named = others.prefix(5).map { "'\($0.name.printable)' (\(described($0)))" }.joined(separator: ", ")
        let more = others.count > 5 ? " and \(others.count - 5) more" : ""
        let message =
            "expected every frame to be like '\(first.name.printable)' (\(described(first))), found \(named)\(more)"
        throw PlanFailure(
            .unequalSizes, stage: Self.name, message + "; put a 'frame' before 'animate' to make them equal")
    }

    private func described(_ member: SetMember) -> String {
        let scale = member.geometry.pixelsPerPoint
        return member.geometry.size.description
            + (scale == 1 ? "" : " at @\(writtenNumber((scale * 100).rounded() / 100))x")
    }

    package func join(_ members: Frames, following plan: Plan, in context: RenderContext) throws -> Frames {
        let pictures = Array(members.pictures[plan.range])
        return pictures.count == 1 ? Frames(pictures) : Frames(pictures, delays: plan.delays, repeatCount: repeatCount)
    }
}

/// A time above 0, in seconds.
struct Seconds: ParameterValue {
    let value: Double

    static var expectation: String { "a number of seconds above 0, at most 3600" }
    static var schema: JSONValue { ["type": "number", "exclusiveMinimum": 0, "maximum": 3600] }
    static var placeholder: Seconds { Seconds(value: 1) }
    var written: String { writtenNumber(value) }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> Seconds? {
        guard let value = Double.read(node, &log), value > 0, value <= 3600 else { return nil }
        return Seconds(value: value)
    }
}

/// A part of a sequence: `{ from: 3, to: 12 }`, both included, counted from 1.
struct FrameRange: ParameterMapping {
    let from: Int
    let to: Int?

    init(from: Int, to: Int?) { (self.from, self.to) = (from, to) }

    init(_ p: inout Parameters) {
        from = p.optional("from", 1, in: 1...1_000_000, "The first picture.")
        let last: Int? = p.optional("to", "The last picture; default the last of all.")
        to = last
        if let last, last < from {
            p.problem(at: "to", "'to' expects a number from \(from), the value of 'from', found \(last)")
        }
    }

    /// The indices of the part in a set of so many members.
    func indices(of count: Int) throws(PlanFailure) -> Range<Int> {
        let last = to ?? count
        guard from <= count, last <= count else {
            let message = "'range' asks for the pictures \(from) to \(last), the set has \(count)"
            throw PlanFailure(.emptyResult, stage: Animate.name, message)
        }
        return (from - 1)..<last
    }

    static var expectation: String { "a part of the sequence such as { from: 3, to: 12 }" }
    static var owner: String { "'range'" }
    static var placeholder: FrameRange { FrameRange(from: 1, to: nil) }
    var written: String { "{ from: \(from)\(to.map { ", to: \($0)" } ?? "") }" }
}
