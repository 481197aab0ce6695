// Stages that take a whole set of pictures: `stitch`, `contact-sheet`, `animate`.

/// A stage that makes one picture, or one animation, of the members of a set.
package protocol JoiningStage: StageDeclaration {
    /// The stages for each member before it is joined, besides those that the pipeline names.
    var memberStages: [any StageDeclaration] { get }
    /// The result flows on as frames, so that the format must hold an animation to show more than the first.
    var makesAnimation: Bool { get }

    /// Works out where every member goes.
    /// - Parameter members: in their order, never empty, all with the same bands and depth.
    func plan(_ members: [SetMember], in context: PlanContext) throws(PlanFailure) -> Plan
}

extension JoiningStage {
    package var memberStages: [any StageDeclaration] { [] }
    package var makesAnimation: Bool { false }

    package func plan(_ input: PictureInfo, in context: PlanContext) throws(PlanFailure) -> Plan {
        try plan([SetMember(name: BytePath([]), geometry: input)], in: context)
    }
}

/// One picture of a set as it is joined.
package struct SetMember: Hashable, Sendable {
    /// Its file name, without the folder.
    package let name: BytePath
    package let geometry: PictureInfo

    package init(name: BytePath, geometry: PictureInfo) {
        self.name = name
        self.geometry = geometry
    }
}

extension [SetMember] {
    /// The picture that every member is brought to before it is joined, but for its size: with colour, alpha and 16
    /// bits if any has them.
    package var common: PictureInfo {
        let largest = PixelSize(map(\.geometry.size.width).max() ?? 1, map(\.geometry.size.height).max() ?? 1)
        var common = first?.geometry.resized(to: largest) ?? PictureInfo(size: largest)
        common.hasAlpha = contains { $0.geometry.hasAlpha }
        common.colour = contains { $0.geometry.colour == .rgb } ? .rgb : common.colour
        common.depth = contains { $0.geometry.depth == .sixteen } ? .sixteen : .eight
        common.certainty = leastCertainty
        return common
    }

    /// As much as is certain of every member's size.
    private var leastCertainty: PictureInfo.Certainty {
        let all = map(\.geometry.certainty)
        if all.contains(.about) { return .about }
        return all.contains(.atMost) ? .atMost : .exact
    }

    /// The members with the same bands and depth.
    package var alike: [SetMember] {
        let common = common
        return map { member in
            var geometry = common.resized(to: member.geometry.size)
            geometry.pixelsPerPoint = member.geometry.pixelsPerPoint
            return SetMember(name: member.name, geometry: geometry)
        }
    }
}
