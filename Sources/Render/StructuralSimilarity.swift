// How like two pictures are to a person.
import Glibc
import Pipeline
import Vips

/// The structural similarity of brightness (SSIM), by Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from
/// error visibility to structural similarity" (2004): 1 for equal pictures. Windows of 11×11 pixels, weighed by a
/// Gaussian of σ 1.5; the mean over those that lie within the picture.
struct StructuralSimilarity {
    private static let side = 11
    private static let sigma = 1.5
    /// The constants for brightness and for contrast, for levels up to 255.
    private static let (c1, c2) = (6.5025, 58.5225)

    private let size: PixelSize
    private let luma: Image
    /// When each frame of an animation begins, in milliseconds.
    private let starts: [Int]

    /// - Parameter picture: the one that others are compared with; in memory, since it is read again for each.
    init(to picture: Image) throws {
        size = PixelSize(picture.width, picture.height)
        luma = try picture.luma
        starts = picture.frameStarts
    }

    /// - Returns: nil if the other one has another size.
    func similarity(of written: Image) throws -> Double? {
        let other = try written.height == size.height ? written : written.frames(shownAt: starts)
        guard PixelSize(other.width, other.height) == size else { return nil }
        let theirs = try other.luma
        let (mean1, mean2) = (try mean(luma), try mean(theirs))
        let (squares1, squares2) = (try mean1.multiply(mean1), try mean2.multiply(mean2))
        let product = try mean1.multiply(mean2)
        let (variance1, variance2) = (
            try mean(luma.multiply(luma)).subtract(squares1), try mean(theirs.multiply(theirs)).subtract(squares2)
        )
        let covariance = try mean(luma.multiply(theirs)).subtract(product)
        let above = try product.linear([2], [Self.c1]).multiply(covariance.linear([2], [Self.c2]))
        let below = try squares1.add(squares2).linear([1], [Self.c1])
            .multiply(variance1.add(variance2).linear([1], [Self.c2]))
        return try within(above.divide(below)).means()[0]
    }

    /// The weighed mean of each window.
    private func mean(_ image: Image) throws -> Image { try image.convolved(with: Self.weights) }

    private static let weights: [Double] = {
        let weights = (0..<side).map { place in
            let distance = Double(place - side / 2)
            return exp(-distance * distance / (2 * sigma * sigma))
        }
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }()

    /// The middles of windows that lie within the picture; all if none does.
    private func within(_ map: Image) throws -> Image {
        let edge = Self.side / 2
        let (left, top) = (size.width >= Self.side ? edge : 0, size.height >= Self.side ? edge : 0)
        return try map.extractArea(
            left: left, top: top, width: size.width - 2 * left, height: size.height - 2 * top)
    }
}

extension Image {
    /// When each frame begins, in milliseconds; nothing for a still.
    fileprivate var frameStarts: [Int] {
        let delays = ints("delay") ?? []
        return delays.indices.map { delays[..<$0].reduce(0, +) }
    }

    /// The frames that are shown at these times, below each other. Encoders make one frame of several that are alike.
    fileprivate func frames(shownAt times: [Int]) throws -> Image {
        let (starts, side) = (frameStarts, pageHeight)
        guard !times.isEmpty, starts.count * side == height else { return self }
        let frames = try times.map { time in
            let shown = starts.lastIndex { $0 <= time } ?? 0
            return try extractArea(left: 0, top: shown * side, width: width, height: side)
        }
        return try Image.arrayjoin(frames)
    }

    /// The brightness of each pixel, from 0 to 255 in floating point, on white.
    fileprivate var luma: Image {
        get throws {
            let white = format == .ushort ? 65_535.0 : 255
            var levels = try cast(.float)
            if hasAlpha {
                levels = try levels.flatten(
                    background: Array(repeating: white, count: bands - 1), maximumAlpha: white)
            }
            let weights: [Int: [Double]] = [1: [1], 3: [0.299, 0.587, 0.114]]
            let row = weights[levels.bands] ?? Array(repeating: 1 / Double(levels.bands), count: levels.bands)
            return try levels.recomb([row.map { $0 * 255 / white }]).copy(interpretation: .bw)
        }
    }
}
