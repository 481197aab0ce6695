// The part of its source that each rendition takes, as lines in the source's pixels.

/// The outline of a rendition, or of several that are alike, on the source.
package struct RenditionOutline: Sendable, Equatable {
    /// The renditions' titles and sizes, such as `thumb@2x 600×600`.
    package var titles: [String]
    /// The part of the source that is seen; without points if that is nothing.
    package let kept: Polygon
    /// The edge of the result.
    package let frame: Polygon
    package let anchors: [PlanePoint]
    package let lines: [Footprint.Line]
    /// Badges, watermarks and layers, as far as they are seen.
    package let drawings: [Footprint.Drawing]
    /// The parts that cannot be drawn, and what else a person must know.
    package let notes: [String]
    /// The rendition's place among the pipeline's.
    let index: Int
    /// Pixels of the source along the side of one of the result.
    let pixel: Double

    /// The result has room beside the picture.
    package var isPadded: Bool { kept.points.isEmpty || abs(abs(frame.area) - abs(kept.area)) > 0.5 }
}

extension SourcePlan {
    /// The renditions as they lie on the source, or on the first member of a set. Those that are alike are one.
    package var outlines: [RenditionOutline] {
        var outlines: [RenditionOutline] = []
        for (index, rendition) in renditions.enumerated() {
            let before = members.first.map { $0.shared + $0.own[index] } ?? []
            let outline = OutlineTracer(decoded.size).outline(before + shared + rendition.steps, of: rendition)
            if let same = outlines.firstIndex(where: { $0.isAlike(outline) }) {
                outlines[same].titles += outline.titles
            } else {
                outlines.append(outline)
            }
        }
        return outlines
    }
}

extension RenditionOutline {
    /// Whether all lines are in the same places. Scales of one rendition may differ by what is rounded to whole pixels.
    fileprivate func isAlike(_ other: RenditionOutline) -> Bool {
        let tolerance = index == other.index ? max(0.5, 2 * max(pixel, other.pixel)) : 0.5
        return notes == other.notes && drawings.map(\.name) == other.drawings.map(\.name) && isPadded == other.isPadded
            && points.count == other.points.count
            && zip(points, other.points).allSatisfy { abs($0.x - $1.x) <= tolerance && abs($0.y - $1.y) <= tolerance }
    }

    private var points: [PlanePoint] {
        kept.points + frame.points + anchors + lines.flatMap { [$0.start, $0.end] } + drawings.flatMap(\.area.points)
    }
}

/// Follows the steps of a rendition, and knows at each of them which part of the source is still to be seen.
private struct OutlineTracer {
    /// From the pixels of the current picture to those of the source.
    private var toSource = AffineMap.identity
    private var kept: Polygon
    private var frame: Polygon
    private var anchors: [PlanePoint] = []
    private var lines: [Footprint.Line] = []
    private var drawings: [Footprint.Drawing] = []
    private var notes: [String] = []
    /// The stage after which nothing can be drawn.
    private var end: String?

    init(_ source: PixelSize) {
        kept = Polygon(source)
        frame = kept
    }

    func outline(_ steps: [PlannedStage], of rendition: RenditionPlan) -> RenditionOutline {
        var tracer = self
        for step in steps { tracer.follow(step) }
        if tracer.kept.points.isEmpty { tracer.notes.append("nothing of the picture is seen") }
        if rendition.output.certainty != .exact { tracer.notes.append("a guess: the content decides") }
        return RenditionOutline(
            titles: ["\(rendition.title) \(rendition.output.description)"], kept: tracer.kept, frame: tracer.frame,
            anchors: tracer.anchors,
            lines: tracer.lines, drawings: tracer.drawings, notes: tracer.notes, index: rendition.index,
            pixel: (abs(tracer.frame.area) / Double(rendition.output.size.area)).squareRoot())
    }

    private mutating func follow(_ step: PlannedStage) {
        let footprint = step.plan.footprint
        if let end {
            if footprint != .unmoved { notes.append("'\(step.name)' after '\(end)' is not drawn") }
            return
        }
        if step.stage is any JoiningStage {
            notes.append("'\(step.name)' joins the pictures of the set, which is not drawn; this is the first of them")
            end = step.name
            return
        }
        anchors += footprint.anchor.map { [toSource($0)] } ?? []
        lines += footprint.lines.map { Footprint.Line(toSource($0.start), toSource($0.end)) }
        drawings += footprint.drawings.map { Footprint.Drawing($0.name, $0.area.mapped(by: toSource)) }
        if let note = footprint.note { notes.append("'\(step.name)' \(note)") }
        guard let map = footprint.map else {
            end = step.name
            return
        }
        toSource = toSource.after(map)
        frame = Polygon(step.output.size).mapped(by: toSource)
        kept = kept.clipped(to: frame)
        drawings = drawings.map { Footprint.Drawing($0.name, $0.area.clipped(to: frame)) }.filter {
            !$0.area.points.isEmpty
        }
    }
}
