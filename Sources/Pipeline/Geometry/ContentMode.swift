// How a picture is drawn into a frame: the twelve content modes of an image view.

/// How a picture is drawn into a frame.
package enum ContentMode: String, ParameterWord {
    case aspectFit = "aspect-fit"
    case aspectFill = "aspect-fill"
    case scaleToFill = "scale-to-fill"
    case center, top, bottom, left, right
    case topLeft = "top-left"
    case topRight = "top-right"
    case bottomLeft = "bottom-left"
    case bottomRight = "bottom-right"

    /// The anchor of a mode that places without scaling; nil for the three that scale.
    package var placement: Anchor? {
        switch self {
        case .aspectFit, .aspectFill, .scaleToFill: nil
        case .center: Anchor(.center, .center)
        case .top: Anchor(.center, .start)
        case .bottom: Anchor(.center, .end)
        case .left: Anchor(.start, .center)
        case .right: Anchor(.end, .center)
        case .topLeft: Anchor(.start, .start)
        case .topRight: Anchor(.end, .start)
        case .bottomLeft: Anchor(.start, .end)
        case .bottomRight: Anchor(.end, .end)
        }
    }
}

/// The scaling modes that need no frame.
package enum ScalingMode: String, ParameterWord {
    case aspectFit = "aspect-fit"
    case aspectFill = "aspect-fill"
    case scaleToFill = "scale-to-fill"

    /// The size at which a picture is drawn for a box, in pixels, exactly: no floating point is involved.
    package func size(of picture: PixelSize, in box: PixelSize) -> PixelSize {
        // box.width / picture.width < box.height / picture.height, without dividing.
        let widthIsTighter = box.width * picture.height <= box.height * picture.width
        switch self {
        case .scaleToFill: return box
        case .aspectFit:
            return widthIsTighter ? picture.scaled(toWidth: box.width) : picture.scaled(toHeight: box.height)
        case .aspectFill:
            return widthIsTighter ? picture.scaled(toHeight: box.height) : picture.scaled(toWidth: box.width)
        }
    }
}

extension PixelSize {
    /// This size for a picture that must not become larger.
    /// - Parameter eachSide: whether a side that must not become larger leaves the other one free; otherwise the picture
    ///   keeps its size.
    package func limited(to picture: PixelSize, eachSide: Bool) -> PixelSize {
        if eachSide { return PixelSize(min(width, picture.width), min(height, picture.height)) }
        return width > picture.width || height > picture.height ? picture : self
    }

    /// This size at another width, with the same shape.
    package func scaled(toWidth width: Int) -> PixelSize {
        PixelSize(width, scaledSide(height, times: width, over: self.width))
    }

    /// This size at another height, with the same shape.
    package func scaled(toHeight height: Int) -> PixelSize {
        PixelSize(scaledSide(width, times: height, over: self.height), height)
    }
}

/// Where and how large a picture is drawn in a frame.
package struct Placement: Hashable, Sendable {
    /// The picture's size when drawn, in pixels.
    package let drawn: PixelSize
    /// Its top left corner in the frame; negative if it is cut.
    package let offset: PixelOffset

    /// Works out the drawing of a picture in a frame.
    /// - Parameters:
    ///   - natural: the size at which the modes that do not scale draw the picture, in pixels.
    ///   - anchor: where a scaled picture sits in the frame; the modes that do not scale have a place of their own.
    ///   - enlarges: whether a mode that scales may give the picture more pixels than it has.
    package init(
        of picture: PixelSize, natural: PixelSize, in frame: PixelSize, mode: ContentMode, anchor: Anchor,
        enlarges: Bool = true
    ) {
        let scaled: PixelSize
        switch mode {
        case .aspectFit: scaled = ScalingMode.aspectFit.size(of: picture, in: frame)
        case .aspectFill:
            let covering = ScalingMode.aspectFill.size(of: picture, in: frame)
            scaled = PixelSize(max(frame.width, covering.width), max(frame.height, covering.height))
        case .scaleToFill: scaled = frame
        case .center, .top, .bottom, .left, .right, .topLeft, .topRight, .bottomLeft, .bottomRight: scaled = natural
        }
        drawn = enlarges ? scaled : scaled.limited(to: picture, eachSide: mode == .scaleToFill)
        offset = (mode.placement ?? anchor).offset(of: drawn, in: frame)
    }

    /// Whether the drawn picture leaves no part of the frame free.
    package func covers(_ frame: PixelSize) -> Bool {
        offset.x <= 0 && offset.y <= 0 && offset.x + drawn.width >= frame.width
            && offset.y + drawn.height >= frame.height
    }
}
