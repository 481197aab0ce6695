// How a source begins: the way from its pixels to what each rendition begins with.

/// How a source begins.
package enum Beginning: Hashable, Sendable {
    /// Row by row, once, while each rendition's first stage scales them. What these stages make of a still that is not
    /// upright is turned late: when it is small.
    case scaled(turnedLate: Bool)
    /// Upright, and through the shared stages. All pixels are in memory before that if they are needed in another order
    /// than the decoder delivers them, or several times; otherwise they pass row by row, once.
    case upright(isHeld: Bool, then: Sharing)

    /// How the renditions come by what the shared stages make, or by the source if there are none.
    package enum Sharing: Hashable, Sendable {
        /// The only rendition reads its rows while they come.
        case streamed
        /// It is made once, and held for several renditions, or for one that reads its rows out of order.
        case held
        /// Each rendition's first stage scales it, all of them while its rows pass a single time.
        case scaled
    }

    /// All pixels as they come, for one who reads them once.
    package static let streamed = Beginning.upright(isHeld: false, then: .streamed)
    /// All pixels in memory, for one who reads them as often as needed.
    package static let held = Beginning.upright(isHeld: true, then: .streamed)

    /// Each row is scaled when it comes, and then let go.
    package var isScaled: Bool { if case .scaled = self { true } else { false } }

    /// All pixels that are decoded are in memory before anything is done with them.
    package var isHeld: Bool { if case .upright(let isHeld, _) = self { isHeld } else { false } }

    /// How the renditions come by what they begin with.
    package var sharing: Sharing { if case .upright(_, let sharing) = self { sharing } else { .scaled } }
}

extension Beginning {
    /// The beginning of a picture.
    /// - Parameter decoded: as its first stage gets it.
    init(_ source: SourceFacts, _ decoded: PictureInfo, shared: [PlannedStage], renditions: [RenditionPlan]) {
        let base = shared.last?.output ?? decoded
        let scalesAtOnce =
            renditions.allSatisfy { $0.firstScaling != nil && $0.steps[0].input.frames == base.frames }
            && (base.frames == 1 || (shared.isEmpty && source.orientation == 1))
        guard !scalesAtOnce || !shared.isEmpty else {
            self = .scaled(turnedLate: source.orientation > 1)
            return
        }
        // Frames are cut out of one tall picture.
        let isReadOutOfOrder = source.isReadOutOfOrder || decoded.frames > 1
        let isReadAgain = shared.isEmpty && renditions.count > 1
        let first = shared.first ?? renditions.first?.steps.first
        self = .upright(
            isHeld: isReadOutOfOrder || isReadAgain || first?.plan.isStreaming == false,
            then: scalesAtOnce ? .scaled : Sharing(renditions, after: shared))
    }

    /// The beginning of a picture that stages look at: all of it, upright.
    package init(lookingAt source: SourceFacts) {
        self = .upright(isHeld: source.isReadOutOfOrder, then: .streamed)
    }

    /// The beginning of a member of a set.
    /// - Parameter own: its stages for each rendition that joins the set itself.
    init(member source: SourceFacts, shared: [PlannedStage], own: [[PlannedStage]]) {
        let firsts = shared.first.map { [$0] } ?? own.compactMap(\.first)
        let isReadAgain = shared.isEmpty && own.filter { !$0.isEmpty }.count > 1
        self = .upright(
            isHeld: source.isReadOutOfOrder || isReadAgain || firsts.contains { !$0.plan.isStreaming }, then: .streamed)
    }
}

extension Beginning.Sharing {
    /// How the renditions come by a joined set, or by another result of shared stages.
    init(_ renditions: [RenditionPlan], after shared: [PlannedStage]) {
        let isReadOutOfOrder = !shared.isEmpty && renditions.contains { $0.steps.first?.plan.isStreaming == false }
        self = renditions.count > 1 || isReadOutOfOrder ? .held : .streamed
    }
}
