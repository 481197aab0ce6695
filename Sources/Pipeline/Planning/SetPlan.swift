// Planning a set of pictures: what happens to each member, how they are joined, and then as for one picture.

/// One member of a set: its file name, and what its header says.
package struct MemberFacts: Hashable, Sendable, Codable {
    package let name: BytePath
    package let facts: SourceFacts

    package init(name: BytePath, facts: SourceFacts) {
        self.name = name
        self.facts = facts
    }
}

/// The plan for one member before it is joined.
package struct MemberPlan: Sendable {
    package let facts: SourceFacts
    package let load: LoadPlan
    /// The picture as the first stage gets it.
    package let decoded: PictureInfo
    /// The steps for all renditions.
    package let shared: [PlannedStage]
    /// The steps for each rendition of the plan; empty if the set is joined for all of them.
    package let own: [[PlannedStage]]

    /// The picture that a rendition begins with is smaller or larger than planned, since the decoder has made it so.
    package func beginsResized(rendition index: Int) -> Bool {
        load.resizes(rendition: index) && !shared.contains(where: \.isScaling)
    }
}

extension Planner {
    /// Works out what will happen to a set.
    /// - Parameters:
    ///   - members: in their order.
    ///   - measurements: what was measured on the decoded members, if stages ask for that.
    /// - Throws: `PlanFailure` if a member is beyond a limit, or the set cannot be joined.
    package func plan(
        set members: [MemberFacts], measurements: [StagePath: Measurement] = [:]
    ) throws(PlanFailure) -> SourcePlan {
        guard let first = members.first else {
            throw PlanFailure(.empty, stage: "read", "expected a folder with pictures, found none in it")
        }
        for member in members { try checkMember(member) }
        let starts = members.map {
            geometry(of: $0.facts, frames: 1, pixelsPerPoint: SourceName($0.name).pixelsPerPoint)
        }

        let uses = self.renditions.isEmpty ? [] : places(pipeline.stages, rendition: nil)
        let join = uses.firstIndex { $0.use.isJoining }
        let before = try memberSteps(
            uses[..<(join ?? uses.count)], before: join.map { uses[$0].use }, from: starts, scale: 1,
            measurements: measurements)
        let gathered = zip(members, zip(before, starts)).map {
            SetMember(name: $0.name, geometry: $1.0.last?.output ?? $1.1)
        }
        let shared =
            try join.map { index throws(PlanFailure) in
                try joinSteps(uses[index...], joining: gathered, scale: 1, measurements: measurements)
            } ?? []

        var renditions: [RenditionPlan] = []
        var own: [[[PlannedStage]]] = []
        for (index, rendition) in self.renditions {
            for scale in rendition.scales {
                let start = input(shared.last?.output ?? gathered.common, for: rendition)
                let uses = places(rendition.stages, rendition: index)
                let (each, steps) =
                    shared.isEmpty
                    ? try self.steps(uses, joining: gathered, scale: scale, measurements)
                    : ([], try self.steps(uses, from: start, scale: scale, measurements))
                renditions.append(try plan(rendition, at: index, scale: scale, steps: steps, from: start))
                own.append(each)
            }
        }
        let distinct = RenditionPlan.distinct(renditions)
        (renditions, own) = (distinct.map { renditions[$0] }, distinct.map { own[$0] })
        let plans = members.indices.map { member in
            memberPlan(
                for: members[member].facts, decoded: starts[member], shared: before[member],
                own: own.map { $0.isEmpty ? [] : $0[member] },
                renditions: renditions)
        }
        let sharing = Beginning.Sharing(renditions, after: shared)
        let cost = SetCost(
            members: plans, shared: shared, sharing: sharing, renditions: renditions,
            isMeasured: needsMeasurement && measurements.isEmpty,
            assets: Array(assets.values))
        let frames = shared.last?.output.frames ?? 1
        return SourcePlan(
            source: first.facts, load: plans[0].load.joined(sharing), decoded: starts[0], members: plans,
            shared: shared,
            renditions: renditions, memory: cost.memory, keptAssets: cost.keptAssets,
            time: TimeBound(limits, pixelSeconds: cost.seconds),
            warnings: nothingApplies + memberWarnings(about: members, first: plans[0], renditions: renditions)
                + warnings(of: shared, renditions, frames: frames))
    }

    private func checkMember(_ member: MemberFacts) throws(PlanFailure) {
        do throws(PlanFailure) {
            try checkLimits(member.facts, loadsAllFrames: false)
        } catch {
            throw PlanFailure(
                error.failure.code, stage: error.failure.stage, "'\(member.name.printable)': \(error.failure.message)")
        }
    }

    /// The steps of each member before the stage that joins: the stages before it, and its own.
    private func memberSteps(
        _ places: ArraySlice<(use: StageUse, path: StagePath)>, before join: StageUse?, from starts: [PictureInfo],
        scale: Int,
        measurements: [StagePath: Measurement]
    ) throws(PlanFailure) -> [[PlannedStage]] {
        let extra = (join?.stage as? any JoiningStage)?.memberStages ?? []
        var result: [[PlannedStage]] = []
        for start in starts {
            var steps = try steps(places, from: start, scale: scale, measurements)
            for stage in extra {
                steps.append(
                    try PlannedStage.plan(
                        stage, steps.last?.output ?? start, in: PlanContext(scale: Double(scale), assets: assets)))
            }
            result.append(steps)
        }
        return result
    }

    /// The stage that joins, and those after it.
    private func joinSteps(
        _ places: ArraySlice<(use: StageUse, path: StagePath)>, joining members: [SetMember], scale: Int,
        measurements: [StagePath: Measurement]
    ) throws(PlanFailure) -> [PlannedStage] {
        guard let (use, path) = places.first, let stage = use.stage as? any JoiningStage else { return [] }
        let context = context(of: path, scale: scale, measurements)
        let join = try PlannedStage.plan(stage, members, in: context, path: path)
        try checkPixels(join)
        guard join.output.frames <= limits.maximumFrames else {
            let message =
                "the animation would have \(join.output.frames) frames; the limit is \(limits.maximumFrames) (max-frames)"
            throw PlanFailure(.tooManyFrames, stage: use.name, message)
        }
        return [join] + (try steps(places.dropFirst(), from: join.output, scale: scale, measurements))
    }

    /// The stages of a rendition that joins the set itself: those for each member, and the rest.
    private func steps(
        _ uses: [(use: StageUse, path: StagePath)], joining members: [SetMember], scale: Int,
        _ measurements: [StagePath: Measurement]
    ) throws(PlanFailure) -> (each: [[PlannedStage]], rest: [PlannedStage]) {
        let join = uses.firstIndex { $0.use.isJoining } ?? uses.count
        let each = try memberSteps(
            uses[..<join], before: uses[join...].first?.use, from: members.map(\.geometry), scale: scale,
            measurements: measurements)
        let gathered = zip(members, each).map { SetMember(name: $0.name, geometry: $1.last?.output ?? $0.geometry) }
        return (each, try joinSteps(uses[join...], joining: gathered, scale: scale, measurements: measurements))
    }

    private func memberPlan(
        for facts: SourceFacts, decoded: PictureInfo, shared: [PlannedStage], own: [[PlannedStage]],
        renditions: [RenditionPlan]
    ) -> MemberPlan {
        let factors = zip(renditions, own).map { rendition, own in
            ShrinkOnLoad.factor(
                for: facts, shared: shared, own: own, save: rendition.rendition.save, scalesWhatIsDecoded: false)
        }
        let beginning = Beginning(member: facts, shared: shared, own: own)
        let load = LoadPlan(shrinks: factors, loadsAllFrames: false, beginning: beginning)
        return MemberPlan(facts: facts, load: load, decoded: decoded, shared: shared, own: own)
    }

    private func memberWarnings(
        about members: [MemberFacts], first: MemberPlan, renditions: [RenditionPlan]
    ) -> [Warning] {
        func warnings(_ code: WarningCode, _ rest: String, _ holds: (SourceFacts) -> Bool) -> [Warning] {
            let names = members.filter { holds($0.facts) }.map { "'\($0.name.printable)'" }
            return names.isEmpty ? [] : [Warning(code, "of \(names.joined(separator: ", ")) only \(rest) used")]
        }
        let dropped =
            warnings(.animationDropped, "the first frame is") { $0.isAnimated }
            + warnings(.pagesDropped, "the first page is") { $0.frames > 1 && !$0.isAnimated && $0.page == nil }
            + warnings(.channelsDropped, "colors and alpha are") { $0.droppedBands > 0 }
            + (renditions.contains { $0.rendition.save.keepsHDR }
                ? warnings(.hdrDropped, "the picture without its gain map is") { $0.gainMap != nil } : [])
        let colors = members.flatMap { member in
            (member.facts.color?.warnings ?? []).map { Warning($0.code, "'\(member.name.printable)': \($0.message)") }
        }
        // The warnings about one member hold for all that are like it.
        return dropped + colors + enlargements(first.shared, "each member")
            + zip(renditions, first.own).flatMap { enlargements($1, "'\($0.title)'") }
    }
}
