package import Pipeline
import Vips

/// Puts the members of a set below or beside each other: captures of a screen that was scrolled become one tall
/// picture.
package struct Stitch: SetStage {
    package static let name = "stitch"
    package static let summary =
        "Joins the pictures of a set into one tall or wide one; finds by itself how far captures of a scrolled page repeat."
    package static let example = """
        - stitch: { direction: vertical, overlap: auto }
        """

    enum Direction: String, ParameterWord { case vertical, horizontal }

    let direction: Direction
    let overlap: StitchOverlap
    let spacing: Distance
    let align: Anchor.Edge
    let background: Color

    package init(_ p: inout Parameters) {
        direction = p.optional("direction", .vertical, "Below each other, or beside each other from left to right.")
        overlap = p.optional(
            "overlap", .length(.zero),
            "How far each picture repeats the one before, less than a picture has; `auto` finds it, also under headers, footers, bars and buttons that do not scroll."
        )
        spacing = p.optional(
            "spacing", .zero,
            "Room between two pictures that do not overlap; `overlap` is what moves them over each other.")
        align = p.optional(
            "align", .center, "Where to put a picture that is narrower than the widest, or lower than the highest.")
        background = p.optional("background", .white, "What is seen where there is no picture.")
        if case .length(let length) = overlap, case .percent(100...) = length.length {
            p.problem(
                at: "overlap", "'overlap' expects less than 100%: nothing would be left of any picture but the first")
        }
        if spacing.length.amount != 0, case .length(let length) = overlap, length.length.amount != 0 {
            p.problem(at: "spacing", "'spacing' and 'overlap' exclude each other; write one of them")
        }
    }

    package var needsMeasurement: Bool { overlap == .auto }

    /// The part of one picture that is seen, and where.
    struct Piece: Sendable {
        /// The part of the picture; nil if nothing new is in it.
        let part: PixelBox?
        let length: Int
    }

    /// A picture that fits the one before in two places about equally well.
    struct Doubt: Sendable {
        let name, nameBefore: String
        /// The row or column of the picture before at which it was put, and another one at which it may belong; the
        /// length of that picture if they may share nothing.
        let start, otherStart: Int
        let lengthBefore: Int
        let isVertical: Bool

        var warning: Warning {
            let line = isVertical ? "row" : "column"
            let place = "'stitch': '\(name)' fits '\(nameBefore)' from its \(line) \(start) on"
            let other =
                otherStart < lengthBefore
                ? ", and about as well from its \(line) \(otherStart) on"
                : ", and may as well follow after its last \(line), as what both show there is shown elsewhere too"
            let advice = "; if anything is missing or repeated now, write the overlap as a length"
            return Warning(.overlapAmbiguous, place + other + "; the first was chosen" + advice)
        }
    }

    package struct Plan: StagePlan {
        package let output: PictureInfo
        let pieces: [Piece]
        /// Pixels between a piece and the next one.
        let gaps: [Int]
        /// The background where there is no picture; nil if there is one everywhere.
        let background: Ink?
        let isMeasured: Bool
        /// The pictures that overlap with the one before nowhere that could be found, counted from 1.
        let lost: [Int]
        let doubts: [Doubt]

        package var note: String {
            isMeasured ? "\(pieces.count) pictures, overlaps found" : "\(pieces.count) pictures"
        }
        package var warnings: [Warning] {
            lost.map {
                Warning(
                    .overlapNotFound,
                    "'stitch': no place was found at which picture \($0) fits the one before; all of it was put after that one"
                )
            }
                + doubts.map(\.warning)
        }
    }

    package func plan(_ members: [SetMember], in context: PlanContext) throws(PlanFailure) -> Plan {
        let common = members.common
        let across = isVertical ? common.size.width : common.size.height
        let lengths = members.map { isVertical ? $0.geometry.size.height : $0.geometry.size.width }
        let found = measured(context.measurement, lengths)
        let ranges: [Range<Int>]
        if let found { ranges = found.map(\.rows) } else { ranges = try fixed(lengths, scale: common.pixelsPerPoint) }
        let lost = found.map { found in found.indices.filter { found[$0].kind == .lost } } ?? []
        let space = try spacing.pixels(
            of: common.size.height, scale: common.pixelsPerPoint, "spacing", in: Self.name)
        let gaps = members.indices.dropLast().map { isMeasuring ? (lost.contains($0 + 1) ? space : 0) : space }
        let pieces = zip(members, ranges).map { piece($0.geometry.size, $1) }
        let length = pieces.reduce(0) { $0 + $1.length } + gaps.reduce(0, +)
        guard length > 0 else {
            throw PlanFailure(.emptyResult, stage: Self.name, "the overlap leaves nothing of any picture")
        }

        var output = common.resized(to: isVertical ? PixelSize(across, length) : PixelSize(length, across))
        let isFilled = gaps.allSatisfy { $0 == 0 } && members.allSatisfy { side($0.geometry.size) == across }
        var ink: Ink?
        if !isFilled {
            ink = try output.ink(background, for: Self.name)
            output.hasAlpha = common.hasAlpha || !background.isOpaque
        }
        if isMeasuring && found == nil { output.certainty = .atMost }
        return Plan(
            output: output, pieces: pieces, gaps: gaps, background: ink, isMeasured: found != nil,
            lost: lost.map { $0 + 1 }, doubts: doubts(of: found ?? [], members, lengths))
    }

    private var isVertical: Bool { direction == .vertical }
    private var isMeasuring: Bool { overlap == .auto }
    private func side(_ size: PixelSize) -> Int { isVertical ? size.width : size.height }

    /// The part of each picture that is new, as measured.
    private func measured(_ measurement: Measurement?, _ lengths: [Int]) -> [CapturePart]? {
        guard case .offsets(let numbers)? = measurement, numbers.count == 4 * lengths.count else { return nil }
        return lengths.indices.map { index in
            let start = rounded(numbers[4 * index] * Double(lengths[index]))
            let end = rounded(numbers[4 * index + 1] * Double(lengths[index]))
            return CapturePart(
                rows: start..<max(start, end), kind: CapturePart.Kind(rawValue: numbers[4 * index + 2]) ?? .joined,
                otherStart: rounded(numbers[4 * index + 3] * Double(lengths[max(0, index - 1)])))
        }
    }

    private func doubts(of parts: [CapturePart], _ members: [SetMember], _ lengths: [Int]) -> [Doubt] {
        parts.indices.dropFirst().filter { parts[$0].kind == .ambiguous }.map { index in
            Doubt(
                name: members[index].name.text, nameBefore: members[index - 1].name.text,
                start: parts[index - 1].rows.upperBound - parts[index].rows.lowerBound,
                otherStart: parts[index].otherStart, lengthBefore: lengths[index - 1], isVertical: isVertical)
        }
    }

    private func fixed(_ lengths: [Int], scale: Double) throws(PlanFailure) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for (index, length) in lengths.enumerated() {
            guard index > 0, case .length(let overlap) = overlap else {
                ranges.append(0..<length)
                continue
            }
            let pixels = try overlap.pixels(of: lengths[index - 1], scale: scale, "overlap", in: Self.name)
            guard pixels < min(length, lengths[index - 1]) else {
                let side = isVertical ? "high" : "wide"
                let found = "pictures \(index) and \(index + 1) are \(lengths[index - 1]) and \(length) pixels \(side)"
                throw PlanFailure(
                    .emptyResult, stage: Self.name,
                    "the overlap is \(pixels) pixels, and \(found); expected less than either has")
            }
            ranges.append(pixels..<length)
        }
        return ranges
    }

    private func piece(_ size: PixelSize, _ range: Range<Int>) -> Piece {
        guard !range.isEmpty else { return Piece(part: nil, length: 0) }
        let box =
            isVertical
            ? PixelBox(PixelOffset(0, range.lowerBound), PixelSize(size.width, range.count))
            : PixelBox(PixelOffset(range.lowerBound, 0), PixelSize(range.count, size.height))
        return Piece(part: box, length: range.count)
    }

    package func measure(_ frames: Frames, following plan: Plan, in context: RenderContext) throws -> Measurement? {
        // Whatever scrolls, rows are compared: a wide page is laid on its side.
        let captures = try frames.pictures.map {
            try CaptureRows(isVertical ? $0.inLibvipsNumbers : $0.inLibvipsNumbers.rot(.d90))
        }
        let parts = newParts(of: captures)
        return .offsets(
            captures.indices.flatMap { index in
                let part = parts[index]
                let ends = [part.rows.lowerBound, part.rows.upperBound].map {
                    Double($0) / Double(captures[index].count)
                }
                return ends + [part.kind.rawValue, Double(part.otherStart) / Double(captures[max(0, index - 1)].count)]
            })
    }

    package func join(_ members: Frames, following plan: Plan, in context: RenderContext) throws -> Frames {
        let output = plan.output
        var strips: [Picture] = []
        for (index, piece) in plan.pieces.enumerated() {
            guard let part = piece.part else { continue }
            let cut = try members.pictures[index].unified(to: output.pixels).cropped(to: part)
            strips.append(try strip(cut, plan, gap: index < plan.gaps.count ? plan.gaps[index] : 0))
        }
        return Frames([try joined(strips[...])])
    }

    /// A piece as wide as the result, with the room after it.
    private func strip(_ cut: Picture, _ plan: Plan, gap: Int) throws -> Picture {
        let output = plan.output
        let size =
            isVertical ? PixelSize(output.size.width, cut.height + gap) : PixelSize(cut.width + gap, output.size.height)
        guard size != cut.size, let background = plan.background else { return cut }
        let room = isVertical ? size.width - cut.width : size.height - cut.height
        let start = align.offset(in: room)
        let place = isVertical ? PixelOffset(start, 0) : PixelOffset(0, start)
        return try cut.onCanvas(size, at: place, background: background)
    }

    /// Halves are joined, and halves of halves, so that a row is looked for in few places however many pictures there
    /// are.
    private func joined(_ strips: ArraySlice<Picture>) throws -> Picture {
        guard strips.count > 1 else {
            guard let only = strips.first else { throw MismatchedPlan(stage: Self.name) }
            return only
        }
        let middle = strips.startIndex + strips.count / 2
        return try joined(strips[..<middle]).joined(to: joined(strips[middle...]), isVertical ? .vertical : .horizontal)
    }
}

/// `auto`, or a length.
enum StitchOverlap: ParameterValue, Equatable {
    case auto
    case length(Distance)

    static var expectation: String { "auto, or \(Distance.expectation)" }
    static var schema: JSONValue { ["anyOf": [["const": "auto"], Distance.schema]] }
    static var placeholder: StitchOverlap { .auto }
    var written: String {
        switch self {
        case .auto: "auto"
        case .length(let length): length.written
        }
    }

    static func read(_ node: YAMLNode, _ log: inout ReadingLog) -> StitchOverlap? {
        if node.text == "auto" { return .auto }
        return Distance.read(node, &log).map { .length($0) }
    }
}
