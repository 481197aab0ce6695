// Vector pictures have no pixels of their own: they are drawn as large as the first scaling stages need them.

package enum Enlargement {
    /// The factor by which a vector picture is drawn larger than planned for one rendition, so that its first
    /// scaling stage has nothing to enlarge; 1 for all others.
    ///
    /// As for decoding at a reduced size, every stage before the first scaling one must treat all pixels alike.
    /// - Parameters:
    ///   - planned: the size of the picture that the path begins with.
    ///   - path: the stages from the decoded picture to the rendition.
    ///   - maximumPixels: how many pixels may be drawn.
    static func factor(
        for source: SourceFacts, _ planned: PixelSize, path: [PlannedStage], maximumPixels: Int
    ) -> Int {
        guard source.format.isVector else { return 1 }
        let possible = (Double(maximumPixels) / Double(planned.area)).squareRoot()
        return max(1, min(factor(for: path), Int(possible)))
    }

    /// The factor for which a vector picture's first scaling stage has nothing to enlarge.
    package static func factor(for path: [PlannedStage]) -> Int {
        needed(path).map { max(1, Int($0.rounded(.up))) } ?? 1
    }

    /// How many pixels the first scaling stage makes of one, along the side where that is most; nil if a stage needs
    /// the source's own pixels, or none scales.
    private static func needed(_ path: [PlannedStage]) -> Double? {
        for step in path {
            switch step.plan.sizeDependence {
            case .anySize: continue
            case .sourcePixels: return nil
            case .scales(let size, _):
                return max(
                    Double(size.width) / Double(step.input.size.width),
                    Double(size.height) / Double(step.input.size.height))
            }
        }
        return nil
    }
}
