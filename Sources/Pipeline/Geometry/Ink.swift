// Drawing in colours that a picture may not be able to hold.

/// A color that a stage draws. It is made by `PictureInfo.ink`, which makes the picture one that can hold it; a picture
/// that cannot refuses to be drawn on with it.
package struct Ink: Hashable, Sendable {
    package let color: Color

    fileprivate init(_ color: Color) { self.color = color }
}

extension PictureInfo {
    /// Makes the picture one that a colour can be drawn on: grey stays grey until something else is drawn.
    /// - Throws: `PlanFailure` if nothing can be drawn in the picture's own colours.
    package mutating func ink(_ color: Color, for stage: String) throws(PlanFailure) -> Ink {
        try hold(color.isGrey ? .grey : .rgb, drawnBy: stage)
        return Ink(color)
    }

    /// The same for a picture that is drawn on it.
    package mutating func hold(_ drawn: ColourModel, drawnBy stage: String) throws(PlanFailure) {
        switch colour {
        case .rgb: break
        case .grey: if drawn != .grey && !hasProfile { colour = .rgb }
        case .cmyk, .lab:
            let message = "'\(stage)' draws, which cannot be done in \(colour.rawValue) colors; remove 'profile: keep'"
            throw PlanFailure(.unsupportedColour, stage: stage, message)
        }
    }

    /// Refuses a picture in colors of its own that a stage cannot work in.
    /// - Parameters:
    ///   - colours: those that it can.
    ///   - work: how it works, for the message: `'adjust' works on RGB and gray`.
    package func require(
        _ colours: Set<ColourModel>, _ work: String, for stage: String
    ) throws(PlanFailure) {
        guard !colours.contains(colour) else { return }
        throw PlanFailure(
            .unsupportedColour, stage: stage, "\(work), not in \(colour.rawValue) colors; remove 'profile: keep'")
    }

    /// Puts the picture over a colour, which is seen around it and through it.
    /// - Parameter covers: whether the picture leaves no part of the frame free.
    /// - Returns: nil if nothing is seen of the colour.
    package mutating func lay(over color: Color, covers: Bool, for stage: String) throws(PlanFailure) -> Ink? {
        let isSeen = !covers || (hasAlpha && !color.isTransparent)
        hasAlpha = (hasAlpha || !covers) && !color.isOpaque
        return isSeen ? try ink(color, for: stage) : nil
    }
}
