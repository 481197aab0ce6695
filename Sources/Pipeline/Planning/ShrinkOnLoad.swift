// Decoding at a reduced size: far cheaper than decoding all pixels and throwing most of them away.

enum ShrinkOnLoad {
    /// The factor by which the decoder may shrink for one rendition.
    ///
    /// Every stage before the first scaling one must treat all pixels alike. What is left for that one to do must be
    /// enough to hide how coarsely decoders shrink.
    /// - Parameters:
    ///   - shared: the stages from the decoded picture to what all renditions begin with.
    ///   - own: the rendition's stages.
    ///   - scalesWhatIsDecoded: the first stage scales the decoded picture as it is, and so can make up for half a
    ///     pixel at its edges.
    static func factor(
        for source: SourceFacts, shared: [PlannedStage], own: [PlannedStage], save: SaveSettings,
        scalesWhatIsDecoded: Bool
    ) -> Int {
        let ratio = self.ratio(shared + own)
        // The result of a shared stage is for every rendition: for a lossless one too, if not now, then beside another.
        let hidesFineErrors =
            save.encoding.hidesFineErrors && !source.isFinelyDetailed && !shared.contains(where: \.isScaling)
        let factors = factors(of: source, isExact: !scalesWhatIsDecoded)
        return factors.last { ratio / Double($0) >= leftOver($0, hidesFineErrors: hidesFineErrors) } ?? 1
    }

    /// The factor for a preview, whose last pixels the scaler counts as they are.
    /// - Parameter ratio: how many of its pixels the largest rendition makes one of.
    static func factor(forPreviewOf source: SourceFacts, leaving ratio: Double) -> Int {
        source.format.declaration.previewShrinkFactors.last {
            ratio / Double($0) >= leftOver($0, hidesFineErrors: false)
        } ?? 1
    }

    /// The factors that the format's decoder offers, in rising order.
    /// - Parameter isExact: only those after which every pixel stands for as many as any other. At 1/2, a picture 2725
    ///   pixels wide becomes 1362 pixels and half a one, which is left out or taken for a whole one; that would move
    ///   the picture by up to half a pixel.
    private static func factors(of source: SourceFacts, isExact: Bool) -> [Int] {
        guard !source.isAnimated else { return [1] }
        // A drawing has all its pixels at any size.
        let mayCutPixels = isExact && !source.format.isVector
        return source.format.declaration.shrinkFactors(of: source).filter {
            !mayCutPixels || (source.size.width % $0 == 0 && source.size.height % $0 == 0)
        }
    }

    /// How much the first scaling stage must still shrink after a decode at 1/factor.
    ///
    /// Two is what keeps a decode at 1/2 to 1/8 above 50 dB to a full one. A lossy encoder hides the error of a decode
    /// at 1/2 already where a third is left; that of 1/4 and 1/8 it does not.
    private static func leftOver(_ factor: Int, hidesFineErrors: Bool) -> Double {
        switch factor {
        case 1: 0
        case 2: hidesFineErrors ? 1.3 : 2
        default: 2
        }
    }

    /// How many source pixels the first scaling stage makes one of, along the side where that is least; 1 if no stage
    /// scales.
    private static func ratio(_ path: [PlannedStage]) -> Double {
        for step in path {
            switch step.plan.sizeDependence {
            case .anySize: continue
            case .sourcePixels: return 1
            case .scales(let size, _):
                let input = step.input.size
                return min(Double(input.width) / Double(size.width), Double(input.height) / Double(size.height))
            }
        }
        return 1
    }
}

extension SourceFacts {
    /// The file spends so much on each pixel that the finest details are in it, as in a picture that was made smaller
    /// and saved well. In a photo as cameras write it they are not.
    fileprivate var isFinelyDetailed: Bool { bytes * 8 > 3 * size.area }
}
