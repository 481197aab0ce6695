// A rendition's gain map, made of the source's.
import Glibc
import Pipeline
import Stages
import System
import Vips

/// Numbers of 8 bits in rows, for each of one or three bands.
struct GainMapPixels: Sendable {
    let size: PixelSize
    let bands: Int
    let bytes: [UInt8]
}

/// The gain map of a source, read once for all renditions.
struct SourceGainMap {
    /// Upright, and smaller than in the file if every rendition can be made of that.
    let pixels: GainMapPixels
    /// The pixels along each side that stand for the whole picture, of which the last one may be a part.
    private let extent: (width: Double, height: Double)
    let metadata: GainMapMetadata
    /// The numbers that change nothing; nil if none do.
    let neutral: [UInt8]?

    /// - Parameters:
    ///   - size: of the map as stored.
    ///   - orientation: the picture's: the map is stored as the picture is.
    ///   - plans: those of the renditions.
    init(_ file: GainMapFile, _ size: PixelSize, orientation: Int, for plans: [GainMapPlan]) throws {
        let most = plans.map(Self.shrink).min() ?? 1
        // The last pixel may stand for a part of one. Turned, it would be the first one, and move the others.
        let shrink =
            [8, 4, 2].first { step in
                step <= most && (orientation == 1 || size.width % step == 0 && size.height % step == 0)
            } ?? 1
        let upright = orientation >= 5 ? size.transposed : size
        // The picture's own messages stay for whoever judges them.
        (pixels, extent) = try VipsLibrary.settingMessagesAside {
            let opened = try Operation(
                file.format.decoder.operation,
                [("source", .source(try Source(bytes: file.bytes))), ("fail_on", "error")]
                    + file.format.decoder.options(shrink: shrink, factor: 1, allFrames: false)
            ).image()
            guard [1, 3].contains(opened.bands) else {
                throw Failure(.corrupt, stage: "decode", "the gain map is neither gray nor in color")
            }
            // Its numbers are no colors: no profile counts.
            let picture = try Picture(decoded: opened).withoutProfile().inEightBits()
                .upright(orientation: orientation)
            let bytes = try picture.image.pixels()
            let said = VipsLibrary.takeErrors()
            guard said.isEmpty || file.format.decoder.leavesMessages else {
                throw Failure(.corrupt, stage: "decode", "the picture's gain map is damaged: \(said)")
            }
            // Not all decoders shrink.
            let step = opened.width < size.width ? Double(shrink) : 1
            return (
                GainMapPixels(size: picture.size, bands: opened.bands, bytes: bytes).grayIfEqual,
                (Double(upright.width) / step, Double(upright.height) / step)
            )
        }
        metadata = file.metadata
        neutral = metadata.neutral(bands: pixels.bands, power: pow)?.map { UInt8(($0 * 255).rounded()) }
    }

    /// By how much the decoder may shrink the map for a rendition.
    private static func shrink(_ plan: GainMapPlan) -> Int {
        // The map is as much finer than the rendition's as the picture is.
        let map = plan.toSource
        let across = (map.a * map.a + map.c * map.c).squareRoot(), down = (map.b * map.b + map.d * map.d).squareRoot()
        let step = min(across, down)
        return [8, 4, 2].first { Double($0) <= step } ?? 1
    }

    /// The map of a rendition: the mean of the source's map over each of its pixels, or what leaves light as it is.
    /// - Parameter drawn: the parts that were drawn over.
    /// - Returns: nil if something else than the source is seen, and no number leaves light as it is.
    func following(_ plan: GainMapPlan, drawn: [DrawnPart]) -> GainMapPixels? {
        let map = plan.toSource
        // From a pixel of the rendition's map to pixels of the rendition.
        let (across, down) = plan.pixelSides
        let sampler = PlaneSampler(pixels, extent, of: plan.source)
        // As many samples along a side as there are pixels of the source's map in one of the rendition's.
        let reach = max(
            (abs(map.a) * across + abs(map.b) * down) * sampler.across,
            (abs(map.c) * across + abs(map.d) * down) * sampler.down)
        let samples = min(max(Int((reach * 0.999).rounded(.up)), 1), 16)
        func places(_ index: Int, _ side: Double) -> [Double] {
            (0..<samples).map { (Double(index) + (Double($0) + 0.5) / Double(samples)) * side }
        }
        let columns = (0..<plan.size.width).map { places($0, across) }
        let rows = (0..<plan.size.height).map { places($0, down) }
        let made =
            map.b == 0 && map.c == 0
            ? sampler.means(
                columns: columns.map { $0.map { $0 * map.a + map.dx } },
                rows: rows.map { $0.map { $0 * map.d + map.dy } })
            : sampler.means(columns: columns, rows: rows, through: map)
        if drawn.isEmpty, plan.isSeenWhole { return made }
        let hidden = plan.hiddenShares(drawn)
        guard let neutral else { return hidden.allSatisfy { $0 < 0.01 } ? made : nil }
        return made.mixed(with: neutral, hidden)
    }
}

extension GainMapPlan {
    /// The sides of a pixel of the map, in pixels of the rendition.
    fileprivate var pixelSides: (across: Double, down: Double) {
        (Double(output.width) / Double(size.width), Double(output.height) / Double(size.height))
    }

    /// How much of each pixel of the map is something else than the source, from 0 to 1: the most in it and in those
    /// around it, since readers mix each number with those beside it, and a thin line in white would glow.
    fileprivate func hiddenShares(_ drawn: [DrawnPart]) -> [Float] {
        let (across, down) = pixelSides
        let samples = min(max(Int(max(across, down).rounded(.up)), 2), 8)
        let places = (0..<samples).map { (Double($0) + 0.5) / Double(samples) }
        var shares = [Float](repeating: 0, count: size.area)
        for y in 0..<size.height {
            for x in 0..<size.width {
                var most: Float = 0
                for row in places where most < 1 {
                    for column in places where most < 1 {
                        let point = PlanePoint((Double(x) + column) * across, (Double(y) + row) * down)
                        let share = isSeen(point) ? 1 - drawn.reduce(1) { $0 * (1 - $1.share(at: point)) } : 1
                        most = max(most, Float(share))
                    }
                }
                shares[y * size.width + x] = most
            }
        }
        return widened(widened(shares, step: 1, line: size.width), step: size.width, line: size.area)
    }

    /// The most of each number and of those beside it.
    /// - Parameters:
    ///   - step: to the next number.
    ///   - line: numbers from the first one of a line to that of the next one.
    private func widened(_ shares: [Float], step: Int, line: Int) -> [Float] {
        shares.indices.map { index in
            let place = index % line
            let before = place >= step ? shares[index - step] : 0
            let after = place + step < line ? shares[index + step] : 0
            return max(shares[index], before, after)
        }
    }
}

extension GainMapPixels {
    /// - Parameters:
    ///   - neutral: a number for each band.
    ///   - shares: of it, for each pixel.
    fileprivate func mixed(with neutral: [UInt8], _ shares: [Float]) -> GainMapPixels {
        var mixed = bytes
        for (pixel, share) in shares.enumerated() where share > 0 {
            for band in 0..<bands {
                let place = pixel * bands + band
                mixed[place] = UInt8((Float(bytes[place]) * (1 - share) + Float(neutral[band]) * share).rounded())
            }
        }
        return GainMapPixels(size: size, bands: bands, bytes: mixed)
    }

    /// In one band if all have the same numbers: some decoders make three of a gray map.
    fileprivate var grayIfEqual: GainMapPixels {
        let places = stride(from: 0, to: bytes.count, by: bands)
        guard bands == 3, places.allSatisfy({ bytes[$0] == bytes[$0 + 1] && bytes[$0] == bytes[$0 + 2] }) else {
            return self
        }
        return GainMapPixels(size: size, bands: 1, bytes: places.map { bytes[$0] })
    }

    /// The map as a JPEG. Its numbers are logarithms of light: losses show as brightness.
    func encoded() throws -> [UInt8] {
        let image = try Image(bytes: bytes, width: size.width, height: size.height, bands: bands)
            .copy(interpretation: bands == 1 ? .bw : .srgb)
        let target = try Target()
        _ = try Operation(
            "jpegsave_target",
            [
                ("in", .image(image)), ("target", .target(target)), ("Q", 90), ("optimize_coding", true),
                ("strip", true),
            ])
        return target.bytes
    }
}
