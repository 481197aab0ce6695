// Smaller pictures of the same that cameras and phones put into their files, and when one is decoded instead.

/// The policy for embedded previews.
package enum PreviewUse: String, ParameterWord {
    case never
    case allow
}

/// A smaller picture in a source's file that is said to show the same, stored the same way up and in the same colors.
package struct EmbeddedPreview: Hashable, Codable, Sendable {
    package enum Place: Hashable, Codable, Sendable {
        /// A JPEG within one.
        case bytes(from: Int, count: Int)
        /// An item of a HEIC or an AVIF.
        case item(Int)
        /// A JPEG in a raw file, which LibRaw finds.
        case raw
    }

    /// Pixels as stored.
    package let size: PixelSize
    package let place: Place

    package init(size: PixelSize, place: Place) { (self.size, self.place) = (size, place) }

    /// As many of one file are looked at.
    static let most = 4
    /// Bytes of one. Cameras write up to some hundred kilobytes.
    static let mostBytes = 16 << 20

    /// Whether the numbers are possible.
    var isPlausible: Bool {
        let sides = 1...maximumCoordinate
        let isPlace =
            switch place {
            case .bytes(let start, let count): start > 0 && (1...Self.mostBytes).contains(count)
            case .item(let number): number >= 0
            case .raw: true
            }
        return sides.contains(size.width) && sides.contains(size.height) && isPlace
    }

    /// Bytes of the file that a decoder gets.
    func fileBytes(in source: SourceFacts) -> Int {
        switch place {
        case .bytes(_, let count): count
        // The same file with another item as its primary one.
        case .item, .raw: source.bytes
        }
    }
}

extension [EmbeddedPreview] {
    /// Those that can show a picture of this size, the smallest first. Some programs put black bars around theirs, and
    /// one that is nearly as large saves nothing.
    package func showing(_ size: PixelSize) -> [EmbeddedPreview] {
        let alike = filter { preview in
            guard preview.isPlausible, preview.place == .raw || preview.size.area <= size.area / 2 else {
                return false
            }
            let height = Double(preview.size.width) * Double(size.height) / Double(size.width)
            let difference = abs(Double(preview.size.height) - height)
            // Some programs round sides to even numbers. Cameras leave out columns and rows at the edges that LibRaw has.
            let tolerance = preview.place == .raw ? 0.015 : 0.005
            return difference < Swift.max(1.5, tolerance * height) && difference < 0.03 * height
        }
        return Array(alike.sorted { $0.size.area < $1.size.area }.suffix(EmbeddedPreview.most))
    }
}

/// A preview that is decoded for a rendition instead of the picture.
package struct PreviewLoad: Hashable, Sendable {
    package let preview: EmbeddedPreview
    /// The decoder delivers one pixel for so many of the preview, along a side.
    package let shrink: Int

    /// The smallest preview that a rendition is not larger than. It depends on that rendition alone, so that no other one
    /// changes its pixels.
    /// - Returns: nil if there is none, or the rendition does something before it scales, for which it needs the pixels
    ///   of the picture itself.
    init?(_ source: SourceFacts, _ rendition: RenditionPlan) {
        // A preview has no alpha.
        guard !source.isAnimated, source.page == nil, !source.hasAlpha, let upright = rendition.firstScaling?.size
        else { return nil }
        let size = source.orientation >= 5 ? upright.transposed : upright
        func left(_ preview: EmbeddedPreview) -> Double {
            min(Double(preview.size.width) / Double(size.width), Double(preview.size.height) / Double(size.height))
        }
        guard let preview = source.previews.first(where: { left($0) >= 1 }) else { return nil }
        self.preview = preview
        shrink = ShrinkOnLoad.factor(forPreviewOf: source, leaving: left(preview))
    }
}

extension LoadPlan {
    /// Bytes for previews: of each the file, which libvips copies, and its pixels, one after the other; and all that is
    /// scaled from them, while the picture itself may be decoded for others.
    func memory(ofPreviewsIn source: SourceFacts, _ renditions: [RenditionPlan]) -> Int {
        let pixel = source.bands * source.depth.bytes
        let loads = previews.compactMap(\.self)
        let decoding = loads.map {
            // That of a raw file may be turned before it is scaled.
            let copies = $0.preview.place == .raw ? 2 : 1
            return saturating(2 * $0.preview.fileBytes(in: source), copies * pixel * $0.preview.size.area)
        }
        let scaled = zip(renditions, previews).map { rendition, load in
            load == nil ? 0 : pixel * (rendition.firstScaling?.size.area ?? 0)
        }
        return scaled.reduce(decoding.max() ?? 0, saturating)
    }
}
