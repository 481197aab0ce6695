// Vector pictures have no pixels of their own: they are drawn as large as the first scaling stages need them.

enum Enlargement {
    /// The factor by which a vector picture is drawn larger than its own size, so that no first scaling stage has
    /// anything to enlarge; 1 for all others.
    ///
    /// As for decoding at a reduced size, every stage before the first scaling one must treat all pixels alike.
    /// - Parameters:
    ///   - paths: the stages from the decoded picture to each rendition.
    ///   - maximumPixels: how many pixels may be drawn.
    static func factor(for source: SourceFacts, paths: [[PlannedStage]], maximumPixels: Int) -> Int {
        guard source.format.isVector else { return 1 }
        let needed = paths.map(needed)
        guard !needed.contains(nil), let most = needed.compactMap(\.self).max() else { return 1 }
        let possible = (Double(maximumPixels) / Double(source.size.area)).squareRoot()
        return max(1, Int(min(most.rounded(.up), possible.rounded(.down))))
    }

    /// How many pixels the first scaling stage makes of one, along the side where that is most; nil if a stage needs
    /// the source's own pixels.
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
