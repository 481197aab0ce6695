// A set in the worker: its members come as descriptors when they are asked for, are decoded one after the other, and
// wait to be joined.
import CLinux
import Messages
import Pipeline
import Stages
import System
import Vips

/// The members of a set, as they were planned with.
struct SetSource {
    let members: [MemberFacts]
    /// Asks for a member by its place.
    let open: (Int) throws -> OpenFile

    fileprivate func member(_ index: Int) throws -> ProbedSource {
        let member = members[index]
        let probed = try ProbedSource(try open(index), format: member.facts.format, page: member.facts.page)
        guard probed.facts == member.facts else {
            throw Failure(.changedWhileRead, stage: "decode", "its header has changed since it was read first")
        }
        return probed
    }

    /// Says which member it is that failed.
    fileprivate func naming<Value>(_ index: Int, _ work: () throws -> Value) throws -> Value {
        let name = members[index].name.printable
        do {
            return try work()
        } catch let failure as Failure where failure.code != .internal {
            throw failure.ofMember(name)
        } catch let error as VipsError {
            throw Failure(.setMemberFailed, stage: "decode", "the member '\(name)' is damaged", detail: error.message)
        }
    }
}

extension Renderer {
    /// Renders renditions of a set, by their places in the plan, each into its descriptor.
    func render(_ source: SetSource, wanted: [Int], to outputs: [OpenFile]) throws -> RenderResult {
        assets.keep(atMost: plan.keptAssets)
        let (lists, metadata, warnings) = try gather(source)
        // The decoders are gone. Memory that they have freed is not counted for the joining.
        clinux_return_freed_memory(CostModel.keptMemory)
        // The members were decoded before they are joined, so that no message is theirs.
        let trial = DecoderTrial {}
        let starts = try judging(trial) { try self.starts(from: lists) }
        return try render(
            Starts(frames: starts, metadata: metadata, warnings: warnings), wanted: wanted, to: outputs, trial: trial
        )
    }

    /// The members in full size as a rendition joins them, or all do.
    func wholeMembers(_ source: SetSource, rendition: Int?) throws -> Frames {
        let index = plan.renditions.firstIndex { $0.index == rendition }
        let pictures = try source.members.indices.map { member in
            try source.naming(member) {
                let way = plan.members[member]
                let probed = try source.member(member)
                return try judging(
                    DecoderTrial {
                        try probed.decoded(
                            probed.reopened(shrink: 1, tolerance: pipeline.tolerance), shrink: 1, .streamed
                        ).image.evaluated()
                    }
                ) {
                    let (picture, _, _) = try decode(probed, way, isWhole: true)
                    let shared = try run(way.shared, on: Frames([picture]), StageRun(context))
                    return try ready(shared, way, index: plan.shared.isEmpty ? index : nil, isWhole: true)
                }
            }
        }
        return Frames(pictures)
    }

    /// The frames that each rendition begins with: the joined set, or the members that it joins itself.
    private func starts(from lists: [[Picture]]) throws -> [Frames] {
        guard let list = lists.first, !plan.shared.isEmpty else { return lists.map { Frames($0) } }
        var joined = try run(plan.shared, on: Frames(list), StageRun(context))
        if plan.load.beginning.sharing == .held { joined = try joined.map { try $0.inMemory() } }
        return plan.renditions.map { frames(of: $0, from: joined) }
    }

    /// All members, ready to be joined: a list for each rendition, or one if the set is joined for all of them.
    private func gather(_ source: SetSource) throws -> (lists: [[Picture]], SourceMetadata, [Warning]) {
        var lists: [[Picture]] = Array(repeating: [], count: plan.shared.isEmpty ? plan.renditions.count : 1)
        var metadata: SourceMetadata?
        var warnings: [Warning] = []
        for (index, way) in plan.members.enumerated() {
            try source.naming(index) {
                let member = try source.member(index)
                let trial = DecoderTrial {
                    try member.decoded(
                        member.reopened(way.load, tolerance: pipeline.tolerance), shrink: way.load.shrink, .streamed
                    ).image.evaluated()
                }
                let (picture, found, said) = try judging(trial) { try decode(member, way) }
                // The metadata of the first member is that of the whole.
                metadata = metadata ?? found
                warnings += said.filter { !warnings.contains($0) }
                try judging(trial) {
                    let shared = try run(
                        way.shared, on: Frames([picture]), StageRun(context, isResized: way.load.resizes))
                    let held = lists.count > 1 ? try shared.map { try $0.inMemory() } : shared
                    for list in lists.indices {
                        lists[list].append(try ready(held, way, index: plan.shared.isEmpty ? list : nil))
                    }
                }
                let text = VipsLibrary.takeErrors()
                // A warning says already that the file is truncated.
                guard !said.contains(where: { $0.code == .sourceTruncated }) else { return }
                let name = source.members[index].name.printable
                warnings += try trial.warnings(text).map { Warning($0.code, "'\(name)': \($0.message)") }
            }
        }
        guard let metadata else { throw Failure(.empty, stage: "read", "the set has no members") }
        return (lists, metadata, warnings)
    }

    private func decode(
        _ source: ProbedSource, _ way: MemberPlan, isWhole: Bool = false
    ) throws -> (Picture, SourceMetadata, [Warning]) {
        let shrink = isWhole ? 1 : way.load.shrink
        let picture = try source.reopened(shrink: shrink, tolerance: pipeline.tolerance)
        let upright = try source.decoded(picture, shrink: shrink, way.load.beginning)
            .upright(orientation: way.facts.orientation)
        let (converted, warnings) = try converted(upright)
        return (converted, try source.metadata(of: picture), try warnings + source.warnings(pipeline.tolerance))
    }

    /// One member as it waits to be joined.
    /// - Parameters:
    ///   - index: the rendition that joins it; nil if the shared stages do.
    ///   - isWhole: whether it was decoded in full size, and not as planned.
    private func ready(_ shared: Frames, _ way: MemberPlan, index: Int?, isWhole: Bool = false) throws -> Picture {
        var frames = shared
        if let index {
            let alone = isWhole ? shared : try way.load.asAlone(shared, rendition: index)
            frames = try run(
                way.own[index], on: alone,
                StageRun(context, isResized: !isWhole && way.beginsResized(rendition: index)))
        }
        let join = index.map { plan.renditions[$0].steps.first } ?? plan.shared.first
        guard let join else { throw MismatchedPlan(stage: "read") }
        return try frames.pictures[0].unified(to: join.input.pixels).inMemory()
    }
}
