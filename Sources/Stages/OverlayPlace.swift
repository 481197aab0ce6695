// Where something is drawn on a picture, and how large.
import Pipeline

/// The place and the size of what is drawn: by an anchor and an offset, out of the way of a rectangle.
struct OverlayPlace: Sendable {
    let anchor: Anchor
    var offset: Offset
    let width: PositiveLength?
    let height: PositiveLength?
    let avoid: Rectangle?
    let spacing: Distance
    let push: PushDirection?
    let edge: PushEdge

    /// Declares the parameters; part of a stage's or a layer's own.
    init(_ p: inout Parameters) {
        anchor = p.optional("anchor", .center, "Where it sits.")
        offset = p.optional(
            "offset", .zero, "How far it is moved from the anchored edges inwards; from the center right and down.")
        width = p.optional(
            "width", "Its width; the height follows, or both make a box that it fits. Default: its natural size.")
        height = p.optional("height", "Its height; the width follows, or both make a box that it fits.")
        avoid = p.optional(
            "avoid",
            "A rectangle that it must not cover: it is pushed off it, the shortest way that stays inside the picture.")
        push = p.optional(
            "push",
            "The direction in which it is pushed off `avoid`; default the shortest way that stays inside the picture.")
        edge = p.optional(
            "edge", .slide,
            "If `push` takes it past the picture's edge: slide lets it leave the picture, clamp stops it at the edge, although it may then cover `avoid`, fail "
                + "fails the source.")
        spacing = p.optional("spacing", .zero, "How far it stays from what it was pushed off.")
        if p.has("spacing") && avoid == nil {
            p.problem(at: "spacing", "'spacing' says how far to stay from 'avoid'; add 'avoid' or remove it")
        }
        if p.has("push") && avoid == nil {
            p.problem(at: "push", "'push' says how to leave 'avoid'; add 'avoid' or remove it")
        }
        if p.has("edge") && push == nil {
            p.problem(at: "edge", "'edge' is for a given direction; add 'push' or remove it")
        }
    }

    /// The box that is drawn into.
    /// - Throws: `PlanFailure` if it cannot be moved off the rectangle and stay inside the picture.
    func box(of size: PixelSize, on picture: PixelSize, scale: Double, stage: String) throws(PlanFailure) -> PixelBox {
        var place = anchor.offset(of: size, in: picture)
        place.x += anchor.inwardX * offset.x.pixels(of: picture.width, scale: scale)
        place.y += anchor.inwardY * offset.y.pixels(of: picture.height, scale: scale)
        let box = PixelBox(place, size)
        guard let avoid else { return box }
        let protected = try avoid.pixels(of: picture, scale: scale, "avoid", in: stage)
        let gap = try spacing.pixels(
            of: min(picture.width, picture.height), scale: scale, "spacing", in: stage)
        guard let free = box.pushed(off: protected, spacing: gap, inside: picture, to: push, edge) else {
            let thing = stage == Composite.name ? "layer" : stage
            let way =
                push.map { "cannot be moved \($0.rawValue) off it by \(gap) pixels inside \(picture)" }
                ?? "can be moved off it by \(gap) pixels in no direction inside \(picture)"
            let message = "the \(thing) of \(box) covers \(protected) and \(way); see 'push' and 'edge'"
            throw PlanFailure(.overlayDoesNotFit, stage: stage, message)
        }
        return free
    }

    /// How large it is drawn.
    func size(
        of drawn: PictureInfo, on picture: PixelSize, scale: Double, stage: String
    ) throws(PlanFailure) -> PixelSize {
        let boxWidth = try width?.pixels(of: picture.width, scale: scale, "width", in: stage)
        let boxHeight = try height?.pixels(of: picture.height, scale: scale, "height", in: stage)
        return drawn.drawnSize(width: boxWidth, height: boxHeight, scale: scale)
    }
}

extension PictureInfo {
    /// How large something is drawn for which a width, a height or a box was named, or nothing.
    func drawnSize(width: Int?, height: Int?, scale: Double) -> PixelSize {
        switch (width, height) {
        case (let width?, let height?): ScalingMode.aspectFit.size(of: size, in: PixelSize(width, height))
        case (let width?, nil): size.scaled(toWidth: width)
        case (nil, let height?): size.scaled(toHeight: height)
        case (nil, nil): naturalSize(scale: scale)
        }
    }
}

extension Anchor {
    /// The direction in which an offset moves: inwards from the edge that something is anchored to.
    var inwardX: Int { horizontal == .end ? -1 : 1 }
    var inwardY: Int { vertical == .end ? -1 : 1 }
}

/// The direction in which an overlay is pushed.
enum PushDirection: String, ParameterWord { case up, down, left, right }

/// The treatment of an overlay that is pushed past the edge of the picture.
enum PushEdge: String, ParameterWord { case slide, clamp, fail }

extension PixelBox {
    /// The box moved off another one by the overlap and the spacing; itself if they do not overlap.
    /// - Parameters:
    ///   - direction: nil for the shortest way that stays inside the picture. Of ways of one length the first of up,
    ///     down, left and right is taken.
    ///   - edge: what to do if it does not stay inside in the direction.
    /// - Returns: nil if it does not stay inside, and must.
    func pushed(
        off other: PixelBox, spacing: Int, inside picture: PixelSize, to direction: PushDirection?, _ edge: PushEdge
    ) -> PixelBox? {
        let up = offset.y + size.height - other.offset.y
        let down = other.offset.y + other.size.height - offset.y
        let left = offset.x + size.width - other.offset.x
        let right = other.offset.x + other.size.width - offset.x
        guard up > 0, down > 0, left > 0, right > 0 else { return self }
        let ways: [(direction: PushDirection, length: Int, place: PixelOffset)] = [
            (.up, up, PixelOffset(offset.x, offset.y - up - spacing)),
            (.down, down, PixelOffset(offset.x, offset.y + down + spacing)),
            (.left, left, PixelOffset(offset.x - left - spacing, offset.y)),
            (.right, right, PixelOffset(offset.x + right + spacing, offset.y)),
        ].filter { direction == nil || $0.0 == direction }
        let inside = ways.filter { PixelBox($0.place, size).stays(inside: picture) }
        if let way = inside.min(by: { $0.length < $1.length }) { return PixelBox(way.place, size) }
        guard direction != nil, let way = ways.first else { return nil }
        switch edge {
        case .slide: return PixelBox(way.place, size)
        case .clamp:
            let x = max(0, min(way.place.x, picture.width - size.width))
            return PixelBox(PixelOffset(x, max(0, min(way.place.y, picture.height - size.height))), size)
        case .fail: return nil
        }
    }

    private func stays(inside picture: PixelSize) -> Bool {
        offset.x >= 0 && offset.y >= 0 && offset.x + size.width <= picture.width
            && offset.y + size.height <= picture.height
    }
}
