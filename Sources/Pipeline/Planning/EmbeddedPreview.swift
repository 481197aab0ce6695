// Smaller pictures of the same that cameras and phones put into their files, and when one is decoded instead.

/// Whether embedded previews may be used.
package enum PreviewUse: String, ParameterWord {
    case never
    case allow
}

/// A smaller picture in a source's file that shows the same, stored the same way up and in the same colors.
package struct EmbeddedPreview: Hashable, Codable, Sendable {
    /// Pixels as stored.
    package let size: PixelSize
    /// Where its bytes begin; the number of the item in HEIC.
    package let place: Int
    /// 0 in HEIC, whose items may be in pieces.
    package let bytes: Int

    /// The most of one file that are looked at.
    static let most = 4

    /// Whether a header can say this at all.
    var isPlausible: Bool {
        let sides = 1...maximumCoordinate
        return sides.contains(size.width) && sides.contains(size.height) && place >= 0 && bytes >= 0
    }
}

extension [EmbeddedPreview] {
    /// Those that show a picture of this size, the smallest first. Some programs put black bars around theirs, and one
    /// that is nearly as large saves nothing.
    package func showing(_ size: PixelSize) -> [EmbeddedPreview] {
        let alike = filter { preview in
            let height = Double(preview.size.width) * Double(size.height) / Double(size.width)
            // Some programs round sides to even numbers.
            return preview.size.area * 2 <= size.area
                && abs(Double(preview.size.height) - height) < Swift.max(1.5, 0.005 * height)
        }
        return Array(alike.sorted { $0.size.area < $1.size.area }.suffix(EmbeddedPreview.most))
    }
}

/// A preview that is decoded instead of the picture.
package struct PreviewLoad: Hashable, Sendable {
    package let preview: EmbeddedPreview
    /// The decoder delivers one pixel for so many of the preview, along a side.
    package let shrink: Int

    /// The smallest preview that no rendition is larger than; nil if there is none, or it would not be the same: stages
    /// before the first that scales would need the pixels of the picture itself.
    init?(_ source: SourceFacts, _ beginning: Beginning, _ renditions: [RenditionPlan]) {
        guard beginning.isScaled, !source.isAnimated, source.page == nil else { return nil }
        let sizes = renditions.compactMap(\.firstScaling?.size).map {
            source.orientation >= 5 ? $0.transposed : $0
        }
        func left(_ preview: EmbeddedPreview) -> Double {
            sizes.map { size in
                min(
                    Double(preview.size.width) / Double(size.width), Double(preview.size.height) / Double(size.height))
            }.min() ?? 0
        }
        guard let preview = source.previews.first(where: { left($0) >= 1 }) else { return nil }
        self.preview = preview
        shrink = ShrinkOnLoad.factor(forPreviewOf: source, leaving: left(preview))
    }
}
