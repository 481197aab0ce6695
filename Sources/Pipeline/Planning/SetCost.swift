// The cost of a set. All members are held once they are scaled; they are decoded one after the other.

struct SetCost {
    let members: [MemberPlan]
    let shared: [PlannedStage]
    let sharing: Beginning.Sharing
    let renditions: [RenditionPlan]
    /// The members are looked at in full size first.
    let isMeasured: Bool
    let assets: [AssetFacts]

    /// Bytes of memory that the worker needs at most.
    var memory: Int {
        let rendering = max(decoding { $0.load }, saturating(joining, CostModel.base))
        let looking = isMeasured ? max(decoding { _ in .whole }, saturating(whole, CostModel.base)) : 0
        let drawing = CostModel.drawing(by: steps)
        return CostModel.withAssets(
            assets, [gathered, drawing, max(rendering, looking)].reduce(keptAssets, saturating))
    }

    /// Bytes of assets that the worker keeps.
    var keptAssets: Int { CostModel.keptAssets(assets, by: steps) }

    private var steps: [PlannedStage] {
        members.flatMap { $0.shared + $0.own.flatMap(\.self) } + shared + renditions.flatMap(\.steps)
    }

    /// All members in full size, as they are looked at.
    private var whole: Int { members.map(\.decoded.bytes).reduce(0, saturating) }

    /// Seconds that it may take on a slow machine.
    var seconds: Double {
        members.reduce(0) { $0 + Double($1.facts.size.area) / CostModel.pixelsPerSecond }
            + CostModel.drawingSeconds(by: steps)
            + renditions.map(CostModel.encodingSeconds).reduce(0, +) + comparing
    }

    /// Seconds for the comparison of each member with the next one, which looks at each overlap that is possible.
    private var comparing: Double {
        isMeasured
            ? members.reduce(0) { $0 + Double(max($1.facts.size.width, $1.facts.size.height)) / Self.overlapsPerSecond }
            : 0
    }

    /// A tenth of what was measured.
    private static let overlapsPerSecond = 1000.0

    /// The members as they wait to be joined, once for each rendition that has stages of its own for them.
    private var gathered: Int {
        let lists = ways.map { way in
            let last = members.map { SetMember(name: BytePath([]), geometry: way($0).last?.output ?? $0.decoded) }
            return last.alike.map(\.geometry.bytes).reduce(0, saturating)
        }
        return lists.reduce(0, saturating)
    }

    /// Each way from a member to the stage that joins, as the last steps of it.
    private var ways: [Way] {
        guard let first = members.first else { return [] }
        let own = first.own.indices.filter { !first.own[$0].isEmpty }.map { Way(rendition: $0) }
        return own.count < first.own.count || own.isEmpty ? own + [Way(rendition: nil)] : own
    }

    private struct Way {
        let rendition: Int?

        func callAsFunction(_ member: MemberPlan) -> [PlannedStage] {
            rendition.map { member.own[$0] } ?? member.shared
        }
    }

    /// The most that one member needs while it is made ready.
    private func decoding(_ load: (MemberPlan) -> LoadPlan) -> Int {
        members.flatMap { member in
            // The picture that several renditions begin with is held while each of them goes on with it.
            let isHeld = member.own.count { !$0.isEmpty } > 1
            let held = isHeld ? member.shared.last?.output.bytes ?? member.decoded.bytes : 0
            return (member.own.isEmpty ? [[]] : member.own).map { own in
                let cost = CostModel(
                    source: member.facts, load: load(member), decoded: member.decoded, shared: member.shared + own,
                    renditions: [],
                    isConverted: member.facts.colour != member.decoded.colour || member.facts.hasOwnColors)
                return saturating(cost.memory, held)
            }
        }.max() ?? CostModel.base
    }

    /// The bytes needed after decoding: the joined picture if it is held, and the renditions one after the other.
    private var joining: Int {
        // The frames of an animation are the members that are held already.
        let joined = sharing == .held ? shared.last.map { $0.output.frames > 1 ? 0 : $0.output.bytes } ?? 0 : 0
        let each =
            renditions.map { saturating(behindJoin($0.steps, isShared: !shared.isEmpty), CostModel.saving($0)) }.max()
            ?? 0
        return [joined, behindJoin(shared, isShared: false), each].reduce(0, saturating)
    }

    private func behindJoin(_ steps: [PlannedStage], isShared: Bool) -> Int {
        guard let join = isShared ? nil : steps.first else {
            return HeldPictures.held(by: steps[...], isInputHeld: true).peak
        }
        // The members that a stage joins are held already.
        let joined = join.plan.intermediates.map(\.bytes).reduce(0, saturating)
        return saturating(joined, HeldPictures.held(by: steps.dropFirst(), isInputHeld: false).peak)
    }
}
