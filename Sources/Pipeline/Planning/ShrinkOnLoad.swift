// Decoding at a reduced size: far cheaper than decoding all pixels and throwing most of them away.

enum ShrinkOnLoad {
    /// The factor by which the decoder may shrink for one rendition.
    ///
    /// Every stage before the first scaling one must treat all pixels alike. What is left for that one to do must be enough
    /// to hide how coarsely decoders shrink.
    /// - Parameter path: the stages from the decoded picture to the rendition.
    static func factor(for source: SourceFacts, path: [Step], save: SaveSettings) -> Int {
        let ratio = self.ratio(path)
        return factors(of: source).last { ratio / Double($0) >= leftOver($0, hidesFineErrors: save.hidesFineErrors) } ?? 1
    }

    /// The factors that the format's decoder offers, in rising order.
    private static func factors(of source: SourceFacts) -> [Int] {
        switch source.format {
        case .jpeg: [1, 2, 4, 8]
        case .webp: source.isAnimated ? [1] : [1, 2, 4, 8]
        case .png, .gif, .tiff, .heic, .avif: [1]
        }
    }

    /// How much the first scaling stage must still shrink after a decode at 1/factor.
    ///
    /// Two is what keeps a decode at 1/2 to 1/8 above 50 dB to a full one. A lossy encoder hides the error of a decode at 1/2
    /// already where a third is left; that of 1/4 and 1/8 it does not.
    private static func leftOver(_ factor: Int, hidesFineErrors: Bool) -> Double {
        switch factor {
        case 1: 0
        case 2: hidesFineErrors ? 1.3 : 2
        default: 2
        }
    }

    /// How many source pixels the first scaling stage makes one of, along the side where that is least; 1 where no stage scales.
    private static func ratio(_ path: [Step]) -> Double {
        for step in path {
            switch step.plan.footing {
            case .anySize: continue
            case .sourcePixels: return 1
            case .scales(let size):
                let input = step.input.size
                return min(Double(input.width) / Double(size.width), Double(input.height) / Double(size.height))
            }
        }
        return 1
    }
}
