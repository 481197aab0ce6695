// How good the pictures of a lossy encoder are: a quality, or what one is searched for.

/// A format whose pictures are as good as a number says.
package protocol RatedOutput: OutputFormatDeclaration {
    var rating: Rating { get set }
}

extension RatedOutput {
    package static var isRatedByQuality: Bool { true }
    /// With a target, the highest one that is tried.
    package var quality: Int { rating.quality }

    /// The same format with one quality.
    package func rated(_ quality: Int) -> Self {
        var rated = self
        rated.rating = Rating(quality: quality, target: nil)
        return rated
    }
}

/// The quality of a lossy encoder, and what it is searched for.
package struct Rating: Hashable, Sendable {
    /// From 1 to 100; with a target, the highest one that is tried.
    package let quality: Int
    /// Nil if the quality is what was asked for.
    package let target: QualityTarget?
}

/// The aim of a search for a quality.
package struct QualityTarget: Hashable, Sendable {
    /// The most bytes that the file may have.
    package let mostBytes: Int?
    /// How like the finished picture what is read of the file must be, by `StructuralSimilarity`.
    package let leastSimilarity: Double?
    /// The least quality that is tried.
    package let leastQuality: Int

    /// Each trial costs as much as saving the rendition once.
    package static let mostTrials = 8
}

/// `quality: { ssim: 0.98 }`: how like the picture the file must be.
private struct Similarity: ParameterMapping {
    let ssim: Double

    init(_ p: inout Parameters) {
        ssim = p.required(
            "ssim", in: 0.5...0.999,
            "The structural similarity of brightness to the finished picture: 0.95 is visibly worse, 0.98 hardly.")
    }

    static var owner: String { "'quality'" }
    static var expectation: String { "a mapping such as { ssim: 0.98 }" }
    static var placeholder: Similarity { Similarity(ssim: 0.98) }
    var written: String { "{ ssim: \(ssim.written) }" }
    private init(ssim: Double) { self.ssim = ssim }
}

extension Parameters {
    /// Asks how good pictures are, and what a quality is searched for.
    /// - Parameters:
    ///   - usual: the quality that is taken if nothing is said.
    ///   - advice: which qualities suit photos.
    ///   - isRead: whether the program reads what it has written, to compare it.
    mutating func rating(_ usual: Int, advice: String, isRead: Bool = true) -> Rating {
        let search = " { ssim: 0.98 } takes the least quality whose picture is as like the finished one as that."
        let text = "How good the picture is; \(advice)."
        let quality =
            isRead
            ? optional("quality", usual, in: 1...100, or: Similarity.self, text + search)
            : .number(optional("quality", usual, in: 1...100, text))
        let mostBytes: ByteCount? = optional(
            "max-bytes", "Takes the best quality, up to `quality`, whose file has no more bytes: 200K is 200 × 1024.")
        let given: Int? = optional(
            "min-quality", in: 1...100,
            "The least quality that `max-bytes` \(isRead ? "and `ssim` may take" : "may take"). Default: 30.")
        let (highest, least): (Int, Double?) =
            switch quality {
            case .number(let number): (number, nil)
            case .mapping(let similarity): (100, similarity.ssim)
            }
        guard mostBytes != nil || least != nil else {
            if given != nil {
                problem(
                    at: "min-quality",
                    "'min-quality' needs 'max-bytes'" + (isRead ? ", or 'quality' with an 'ssim'" : ""))
            }
            return Rating(quality: highest, target: nil)
        }
        if let given, given > highest {
            problem(at: "min-quality", "'min-quality' is higher than 'quality', which is \(highest)")
        }
        let target = QualityTarget(
            mostBytes: mostBytes?.value, leastSimilarity: least, leastQuality: min(given ?? 30, highest))
        return Rating(quality: highest, target: target)
    }

    /// Reports what only lossy pictures have beside `lossless`.
    mutating func refuseRating(ofLossless isLossless: Bool) {
        guard isLossless else { return }
        for key in ["quality", "max-bytes", "min-quality"] where has(key) {
            problem(at: key, "'\(key)' has no meaning with 'lossless: true'; remove one of them")
        }
    }
}
