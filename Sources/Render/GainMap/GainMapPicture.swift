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
    let metadata: GainMapMetadata
    /// The numbers that change nothing; nil if none do.
    let neutral: [UInt8]?

    /// - Parameters:
    ///   - size: of the map as stored.
    ///   - orientation: the picture's: the map is stored as the picture is.
    ///   - plans: those of the renditions.
    init(_ file: GainMapFile, _ size: PixelSize, orientation: Int, for plans: [GainMapPlan]) throws {
        let most = plans.map(Self.shrink).min() ?? 1
        // A last pixel that stands for a part of one would move the others.
        let shrink = [8, 4, 2].first { $0 <= most && size.width % $0 == 0 && size.height % $0 == 0 } ?? 1
        // The picture's own messages stay for whoever judges them.
        (pixels, metadata) = try VipsLibrary.settingMessagesAside {
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
            return (GainMapPixels(size: picture.size, bands: opened.bands, bytes: bytes), file.metadata)
        }
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

    /// The map of a rendition, and how much of the source is seen at each of its pixels.
    /// - Parameter drawn: the parts that were drawn over.
    /// - Returns: nil if something else is seen, and no number leaves light as it is.
    func following(_ plan: GainMapPlan, drawn: [DrawnPart]) -> GainMapPixels? {
        let (width, height, output) = (plan.size.width, plan.size.height, plan.output)
        var result = [UInt8](repeating: 0, count: width * height * pixels.bands)
        // From a pixel of the rendition's map to one of the rendition.
        let (across, down) = (Double(output.width) / Double(width), Double(output.height) / Double(height))
        let source = PlaneSampler(
            pixels, of: plan.source, outside: neutral ?? [UInt8](repeating: 0, count: pixels.bands))
        // As many samples along a side as there are pixels of the source's map in one of the rendition's.
        let reach = max(
            (abs(plan.toSource.a) + abs(plan.toSource.b)) * across * source.across,
            (abs(plan.toSource.c) + abs(plan.toSource.d)) * down * source.down)
        let samples = min(max(Int((reach * 0.999).rounded(.up)), 1), 16)
        let stages = zip(plan.toStage, plan.stageSizes).map { ($0, Double($1.width), Double($1.height)) }
        func seen(_ point: PlanePoint) -> Double {
            for (map, width, height) in stages {
                let there = map(point)
                // A stage has cut it off. Rounding may put an edge a little outside.
                let isInside =
                    there.x > -0.01 && there.y > -0.01 && there.x < width + 0.01 && there.y < height + 0.01
                if !isInside { return 0 }
            }
            return drawn.reduce(1.0) { $0 * (1 - $1.share(at: point)) }
        }
        var sums = [Double](repeating: 0, count: pixels.bands)
        for y in 0..<height {
            for x in 0..<width {
                for band in sums.indices { sums[band] = 0 }
                for row in 0..<samples {
                    for column in 0..<samples {
                        let point = PlanePoint(
                            (Double(x) + (Double(column) + 0.5) / Double(samples)) * across,
                            (Double(y) + (Double(row) + 0.5) / Double(samples)) * down)
                        let weight = source.add(at: plan.toSource(point), weight: seen(point), to: &sums)
                        if neutral == nil, weight < 0.99 { return nil }
                    }
                }
                let count = Double(samples * samples)
                for band in sums.indices {
                    result[(y * width + x) * sums.count + band] = UInt8(min(max(sums[band] / count, 0), 255).rounded())
                }
            }
        }
        return GainMapPixels(size: plan.size, bands: pixels.bands, bytes: result)
    }
}

extension GainMapPixels {
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

/// Reads between the pixels of a small picture that stands for a larger one.
struct PlaneSampler: Sendable {
    private let pixels: GainMapPixels
    private let outside: [Double]
    private let large: PixelSize
    /// How many of its pixels are in one of the large picture's, along a side.
    let across, down: Double

    init(_ pixels: GainMapPixels, of large: PixelSize, outside: [UInt8]) {
        (self.pixels, self.large, self.outside) = (pixels, large, outside.map(Double.init))
        across = Double(pixels.size.width) / Double(large.width)
        down = Double(pixels.size.height) / Double(large.height)
    }

    /// Adds the numbers at a point of the large picture; the rest of the weight is for those outside of it.
    /// - Returns: the weight of the picture's own numbers.
    @discardableResult
    func add(at point: PlanePoint, weight: Double, to sums: inout [Double]) -> Double {
        let isInside =
            point.x >= 0 && point.y >= 0 && point.x <= Double(large.width) && point.y <= Double(large.height)
        let weight = isInside ? weight : 0
        for band in sums.indices { sums[band] += outside[band] * (1 - weight) }
        guard weight > 0 else { return 0 }
        let (width, height) = (pixels.size.width, pixels.size.height)
        let x = min(max(point.x * across - 0.5, 0), Double(width - 1))
        let y = min(max(point.y * down - 0.5, 0), Double(height - 1))
        let (left, top) = (min(Int(x), max(width - 2, 0)), min(Int(y), max(height - 2, 0)))
        let (right, bottom) = (min(left + 1, width - 1), min(top + 1, height - 1))
        let (fx, fy) = (x - Double(left), y - Double(top))
        for band in sums.indices {
            func value(_ x: Int, _ y: Int) -> Double { Double(pixels.bytes[(y * width + x) * sums.count + band]) }
            let upper = value(left, top) * (1 - fx) + value(right, top) * fx
            let lower = value(left, bottom) * (1 - fx) + value(right, bottom) * fx
            sums[band] += (upper * (1 - fy) + lower * fy) * weight
        }
        return weight
    }
}
