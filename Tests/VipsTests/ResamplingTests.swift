// Scaling with the project's own inner loops, against the plain formula in double precision.
import CResample
import Glibc
import Kernels
import TestSupport
import Testing

@testable import Vips

@Suite(.quietVips) struct ResamplingTests {
    /// The instruction sets that this processor has.
    private let sets = (CINSTRUCTIONS_BASELINE.rawValue...cinstructions_best().rawValue).map {
        CInstructions($0)
    }

    /// A picture of noise, the same each time.
    private func noise(width: Int, height: Int, bands: Int, depth: Int = 8) throws -> Image {
        var state: UInt32 = 12_345
        let count = width * height * bands * depth / 8
        let bytes = (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        if depth == 8 {
            return try Image(bytes: bytes, width: width, height: height, bands: bands).copy(
                interpretation: bands <= 2 ? .bw : .srgb)
        }
        let halves = try Image(bytes: bytes, width: width * 2, height: height, bands: bands)
        let high = try halves.extractArea(left: 0, top: 0, width: width, height: height).cast(.ushort).linear(
            [256], [0])
        let low = try halves.extractArea(left: width, top: 0, width: width, height: height)
        return try high.add(low).cast(.ushort).copy(interpretation: bands <= 2 ? .grey16 : .rgb16).inMemory()
    }

    private func values(_ image: Image) throws -> [Double] {
        let bytes = try image.cast(.double).pixels()
        return bytes.withUnsafeBytes { Array($0.bindMemory(to: Double.self)) }
    }

    /// The same by the definition: premultiplied, columns then rows, every weight worked out anew.
    private func reference(_ image: Image, to width: Int, _ height: Int, _ kernel: ScalingKernel, full: Double)
        throws -> [Double]
    {
        let bands = image.bands
        var pixels = try values(image)
        if image.hasAlpha {
            for index in stride(from: 0, to: pixels.count, by: bands) {
                for band in 0..<(bands - 1) { pixels[index + band] *= pixels[index + bands - 1] / full }
            }
        }
        func weights(_ index: Int, _ old: Int, _ new: Int) -> [(Int, Double)] {
            let scale = Double(old) / Double(new)
            let stretch = max(1, scale)
            let middle = (Double(index) + 0.5) * scale
            let all = (0..<old).map { ($0, kernel.weight(at: (Double($0) + 0.5 - middle) / stretch)) }.filter {
                $0.1 != 0
            }
            let sum = all.reduce(0) { $0 + $1.1 }
            return all.map { ($0.0, $0.1 / sum) }
        }
        var result: [Double] = []
        let columns = (0..<width).map { weights($0, image.width, width) }
        for y in 0..<height {
            let rows = weights(y, image.height, height)
            for x in 0..<width {
                var sums = [Double](repeating: 0, count: bands)
                for (row, rowWeight) in rows {
                    for (column, columnWeight) in columns[x] {
                        for band in 0..<bands {
                            sums[band] += rowWeight * columnWeight * pixels[(row * image.width + column) * bands + band]
                        }
                    }
                }
                if image.hasAlpha {
                    let alpha = sums[bands - 1]
                    for band in 0..<(bands - 1) { sums[band] = alpha > 0 ? sums[band] * full / alpha : 0 }
                }
                result += sums.map { min(max($0, 0), full) }
            }
        }
        return result
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let bands: Int
        let depth: Int
        let kernel: ScalingKernel
        let size: (Int, Int)
        var testDescription: String { "\(bands) bands of \(depth) bits to \(size.0)×\(size.1) by \(kernel.rawValue)" }
    }

    static let kinds: [Kind] = ScalingKernel.allCases.filter { $0 != .nearest }.flatMap { kernel in
        [(1, 8), (2, 8), (3, 8), (4, 8), (5, 8), (1, 16), (3, 16), (4, 16), (5, 16)].flatMap { bands, depth in
            // Less, more, one side only, a single pixel, and larger than a vector's and a strip's multiple.
            [(17, 11), (1, 1), (90, 40), (53, 5), (7, 37), (33, 64), (5, 190)].map {
                Kind(bands: bands, depth: depth, kernel: kernel, size: $0)
            }
        }
    }

    @Test(arguments: kinds)
    func `every kind of picture is scaled as the formula says, by plain and by wide instructions`(kind: Kind) throws {
        let image = try noise(width: 53, height: 37, bands: kind.bands, depth: kind.depth)
        let full = kind.depth == 8 ? 255.0 : 65_535
        let expected = try reference(image, to: kind.size.0, kind.size.1, kind.kernel, full: full)
        let target = ResamplingTarget(width: kind.size.0, height: kind.size.1, kernel: kind.kernel)
        for instructions in sets {
            let scaled = try image.resampled(to: [target], instructions: instructions)[0]
            #expect(
                (scaled.width, scaled.height, scaled.bands, scaled.format) == (
                    target.width, target.height, image.bands, image.format
                ))
            let found = try values(scaled)
            // A pixel next to nothing in alpha has colours of little weight: what is compared is what is seen of them.
            let alphas = image.hasAlpha ? kind.bands - 1 : nil
            for index in found.indices {
                let alpha = alphas.map { expected[index / kind.bands * kind.bands + $0] / full } ?? 1
                let isAlpha = alphas == index % kind.bands
                let difference = abs(found[index] - expected[index]) * (isAlpha ? 1 : alpha)
                #expect(
                    difference <= (kind.depth == 8 ? 0.51 : 0.6),
                    "at \(index): \(found[index]) instead of \(expected[index])")
            }
        }
    }

    @Test(arguments: kinds)
    func `plain and wide instructions make the same bits, so that the machines of a cluster make the same files`(
        kind: Kind
    ) throws {
        // In floating point every bit shows; in whole numbers most roundings are hidden.
        let image = try noise(width: 53, height: 37, bands: kind.bands, depth: kind.depth).cast(.float)
        let target = ResamplingTarget(width: kind.size.0, height: kind.size.1, kernel: kind.kernel)
        let results = try sets.map { try image.resampled(to: [target], instructions: $0)[0].pixels() }
        for result in results { #expect(result == results[0]) }
    }

    @Test(arguments: [
        (9, 1111, 3, 4, 13), (500, 5, 1, 210, 4), (450, 5, 2, 70, 8), (400, 5, 3, 170, 4), (300, 5, 4, 290, 3),
        (300, 4, 3, 700, 5), (300, 5, 5, 210, 4),
    ])
    func `pictures taller and wider than a strip come out as the formula says`(
        width: Int, height: Int, bands: Int, newWidth: Int, newHeight: Int
    ) throws {
        let image = try noise(width: width, height: height, bands: bands)
        let expected = try reference(image, to: newWidth, newHeight, .lanczos3, full: 255)
        for instructions in sets {
            let target = ResamplingTarget(width: newWidth, height: newHeight)
            let found = try values(image.resampled(to: [target], instructions: instructions)[0])
            // Nearly transparent pixels have colours of little weight; their alpha tells whether they are in their
            // place.
            for index in found.indices where !image.hasAlpha || index % bands == bands - 1 {
                #expect(abs(found[index] - expected[index]) <= 0.51)
            }
        }
    }

    @Test
    func `gathered rows come out as scattered ones, to the last bit, whatever the sides and however the rows come in`()
        throws
    {
        for (width, height, newWidth, newHeight) in [
            (7, 1, 9, 50), (40, 3, 11, 200), (5, 64, 5, 65), (33, 17, 70, 34), (12, 40, 6, 9), (1, 2, 1, 7),
            (300, 23, 140, 31),
        ] {
            let source = (0..<height).map { y in (0..<width * 3).map { Float(($0 * 7919 + y * 104_729) % 65_536) } }
            let target = ResamplingTarget(width: newWidth, height: newHeight)
            for instructions in sets {
                let results = [(false, 16), (true, 16), (true, 1), (false, 5), (true, 5)].map { gathers, together in
                    let resampler = Resampler(
                        from: Sides(width: width, height: height), bands: 3, to: target, instructions: instructions,
                        gathers: gathers)
                    let strip = Strip()
                    let rows = UnsafeMutableBufferPointer<Float>.allocate(capacity: 2 * newHeight * newWidth * 3)
                    defer { rows.deallocate() }
                    rows.initialize(repeating: -1)
                    let kind = CResampleRow(format: CRESAMPLE_FLOAT, width: CInt(newWidth), bands: 3, has_alpha: 0)
                    // The second time as another frame.
                    for frame in 0..<2 {
                        resampler.restart()
                        for top in stride(from: 0, to: height, by: together) {
                            let range = top..<min(height, top + together)
                            for first in stride(from: 0, to: width * 3, by: Strip.width) {
                                let columns = first..<min(width * 3, first + Strip.width)
                                for y in range {
                                    for x in columns { strip.row(y - top)[x - columns.lowerBound] = source[y][x] }
                                }
                                resampler.add(strip, rows: range, columns: columns)
                            }
                            resampler.finish(range, as: kind) {
                                UnsafeMutableRawPointer(rows.baseAddress! + (frame * newHeight + $0) * newWidth * 3)
                            }
                        }
                    }
                    return Array(rows)
                }
                // All of them were written.
                #expect(!results[0].contains(-1))
                #expect(
                    results.dropFirst().allSatisfy { $0 == results[0] },
                    "\(width)×\(height) to \(newWidth)×\(newHeight)")
            }
        }
    }

    @Test(arguments: [(4000, 1, 4000, 4000), (10, 10_000, 10, 3), (3000, 2, 1, 9000), (1, 4000, 4000, 1)])
    func `a few rows are held, whatever the factor`(sides: (Int, Int, Int, Int)) {
        let resampler = Resampler(
            from: Sides(width: sides.0, height: sides.1), bands: 4,
            to: ResamplingTarget(width: sides.2, height: sides.3),
            instructions: CINSTRUCTIONS_BASELINE)
        #expect(resampler.heldFloats <= 64 * (paddedLength(sides.0 * 4) + paddedLength(sides.2 * 4)))
    }

    @Test
    func `several sizes at once are what each is alone, and the same size is the same picture to the last bit`() throws
    {
        let image = try noise(width: 64, height: 48, bands: 4)
        let targets = [(64, 48), (32, 24), (100, 75), (5, 48)].map { ResamplingTarget(width: $0.0, height: $0.1) }
        let together = try image.resampled(to: targets)
        for (target, scaled) in zip(targets, together) {
            #expect(try scaled.pixels() == image.resampled(to: target).pixels())
        }
        #expect(try together[0].pixels() == image.pixels())
    }

    @Test(arguments: ["stripes", "zones", "noise"])
    func `sizes of one run are the same sizes alone, to the last bit, on the hardest patterns`(pattern: String) throws {
        let (width, height) = (800, 600)
        let bytes = (0..<width * height).map { index -> UInt8 in
            let (x, y) = (index % width, index / width)
            switch pattern {
            case "stripes": return x / 2 % 2 == 0 ? 0 : 254
            case "zones":
                return UInt8(127.5 + 127.5 * cos(Double((x - 400) * (x - 400) + (y - 300) * (y - 300)) * .pi / 800))
            default: return UInt8(truncatingIfNeeded: UInt64(index) &* 0x9E37_79B9_7F4A_7C15 >> 41)
            }
        }
        let image = try Image(bytes: bytes, width: width, height: height, bands: 1)
        let targets = [(600, 450), (400, 300), (300, 225), (200, 150), (150, 112), (100, 75)].map {
            ResamplingTarget(width: $0.0, height: $0.1)
        }
        for (target, scaled) in try zip(targets, image.resampled(to: targets)) {
            #expect(try scaled.pixels() == image.resampled(to: target).pixels(), "\(target)")
        }
    }

    @Test(arguments: 1...5)
    func `means are those of the pixels that there are, with the same bits by all instructions`(bands: Int) {
        let stride = paddedLength(Int(CRESAMPLE_MEANS))
        let most = min(96, Int(CRESAMPLE_MEANS) / bands)
        var state: UInt32 = 99
        let rows = (0..<8 * stride).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Float(state >> 24)
        }
        for shrink in [2, 4, 8] {
            for (pixels, count) in [
                (1, 1), (1, shrink), (shrink, shrink), (most, shrink), (45, shrink - 1), (67, shrink),
            ] {
                let width = (pixels + shrink - 1) / shrink
                let results = sets.map { set in
                    var out = [Float](repeating: 0, count: width * bands)
                    cresample_mean_rows(set, rows, stride, CInt(count), CInt(shrink), CInt(bands), CInt(pixels), &out)
                    return out
                }
                #expect(results.allSatisfy { $0 == results[0] })
                for x in 0..<width {
                    let columns = x * shrink..<min(pixels, (x + 1) * shrink)
                    for band in 0..<bands {
                        let sum = (0..<count).reduce(0.0) { sum, y in
                            columns.reduce(sum) { $0 + Double(rows[y * stride + $1 * bands + band]) }
                        }
                        let mean = sum / Double(count * columns.count)
                        #expect(
                            abs(Double(results[0][x * bands + band]) - mean) < 1e-4,
                            "\(pixels) pixels, 1/\(shrink), \(x), \(band)")
                    }
                }
            }
        }
    }

    /// Lanczos 3 of numbers, by the definition.
    private func scaled(
        _ numbers: [Double], bands: Int, from old: (width: Int, height: Int), extent: (Double, Double),
        to new: (width: Int, height: Int)
    ) -> [Double] {
        func weights(_ index: Int, _ old: Int, _ extent: Double, _ new: Int) -> [(Int, Double)] {
            let scale = extent / Double(new)
            let middle = (Double(index) + 0.5) * scale
            let all = (0..<old).map {
                ($0, ScalingKernel.lanczos3.weight(at: (Double($0) + 0.5 - middle) / max(1, scale)))
            }
            let used = all.filter { $0.1 != 0 }
            let sum = used.reduce(0) { $0 + $1.1 }
            return used.map { ($0.0, $0.1 / sum) }
        }
        let columns = (0..<new.width).map { weights($0, old.width, extent.0, new.width) }
        var result: [Double] = []
        for y in 0..<new.height {
            let rows = weights(y, old.height, extent.1, new.height)
            for x in 0..<new.width {
                for band in 0..<bands {
                    var sum = 0.0
                    for (row, weight) in rows {
                        for (column, other) in columns[x] {
                            sum += weight * other * numbers[(row * old.width + column) * bands + band]
                        }
                    }
                    result.append(sum)
                }
            }
        }
        return result
    }

    @Test(arguments: [2, 4, 8])
    func `a size that is made of means is what it would be made of a picture of means`(shrink: Int) throws {
        for (bands, width, height) in [(1, 803, 67), (2, 131, 33), (3, 301, 90), (4, 160, 120), (5, 163, 60)]
        where bands < 5 || shrink < 8 {
            let image = try noise(width: width, height: height, bands: bands).cast(.float)
            let (columns, rows) = ((width + shrink - 1) / shrink, (height + shrink - 1) / shrink)
            let pixels = try values(image)
            var means: [Double] = []
            for y in 0..<rows {
                for x in 0..<columns {
                    for band in 0..<bands {
                        let square = (y * shrink..<min(height, (y + 1) * shrink)).flatMap { row in
                            (x * shrink..<min(width, (x + 1) * shrink)).map {
                                pixels[(row * width + $0) * bands + band]
                            }
                        }
                        means.append(square.reduce(0, +) / Double(square.count))
                    }
                }
            }
            let extent = (Double(width) / Double(shrink), Double(height) / Double(shrink))
            for (newWidth, newHeight) in [(columns / 2 + 1, rows / 2 + 1), (columns + 9, rows + 5)] {
                for set in sets {
                    let found = try image.resampled(
                        to: [ResamplingTarget(width: newWidth, height: newHeight, shrink: shrink)], instructions: set)
                    let expected = scaled(
                        means, bands: bands, from: (columns, rows), extent: extent, to: (newWidth, newHeight))
                    for (a, b) in zip(try values(found[0]), expected) {
                        #expect(abs(a - b) < 0.02, "\(bands) bands, \(newWidth)×\(newHeight)")
                    }
                }
            }
        }
    }

    @Test func `a picture of one colour stays that colour, whatever the factor`() throws {
        let image = try Image(bytes: Array(repeating: 201, count: 40 * 30 * 3), width: 40, height: 30, bands: 3)
        for size in [(1, 1), (39, 29), (40, 1), (400, 300), (3, 200)] {
            for kernel in ScalingKernel.allCases {
                let scaled = try image.resampled(to: ResamplingTarget(width: size.0, height: size.1, kernel: kernel))
                #expect(try scaled.pixels().allSatisfy { $0 == 201 }, "\(size) by \(kernel.rawValue)")
            }
        }
    }

    @Test func `transparent pixels lend no colour to their neighbours`() throws {
        // White, opaque, on the left; black, transparent, on the right.
        let row = (0..<40).flatMap { $0 < 20 ? [UInt8](repeating: 255, count: 4) : [0, 0, 0, 0] }
        let image = try Image(bytes: Array((0..<10).flatMap { _ in row }), width: 40, height: 10, bands: 4).copy(
            interpretation: .srgb)
        let pixels = try image.resampled(to: ResamplingTarget(width: 13, height: 5)).pixels()
        for index in stride(from: 0, to: pixels.count, by: 4) where pixels[index + 3] > 0 {
            #expect(pixels[index..<index + 3].allSatisfy { $0 >= 254 }, "a grey fringe at \(index / 4 % 13)")
        }
    }

    @Test func `metadata goes along, and nothing is left behind`() throws {
        let objects = VipsLibrary.liveObjects
        let bytes = VipsLibrary.trackedBytes
        do {
            let image = try noise(width: 20, height: 10, bands: 3).editingMetadata {
                $0.set("xmp-data", blob: [1, 2, 3])
            }
            let scaled = try image.resampled(to: ResamplingTarget(width: 7, height: 5))
            #expect(scaled.blob("xmp-data") == [1, 2, 3])
            #expect((scaled.width, scaled.interpretation) == (7, .srgb))
        }
        #expect(VipsLibrary.liveObjects == objects)
        // Memory that an earlier test left for a thread to release may have been released meanwhile.
        #expect(VipsLibrary.trackedBytes <= bytes)
    }

    @Test func `a last pixel that is not a whole one does not move the picture`() throws {
        // A slope of 2 for each source pixel, at half the size: each pixel holds the mean of two, the last one of one
        // and its repetition.
        let bytes = (0..<51).map { UInt8($0 == 50 ? 200 : 4 * $0 + 1) }
        let image = try Image(bytes: Array((0..<4).flatMap { _ in bytes }), width: 51, height: 4, bands: 1)
        let target = ResamplingTarget(width: 25, height: 4)
        let scaled = try values(image.resampled(to: [target], extent: (50.5, 4))[0])
        // The slope, seen from the middle of each new pixel, away from the edges.
        for x in 4..<21 {
            let middle = (Double(x) + 0.5) * 50.5 / 25
            #expect(abs(scaled[x] - (4 * (middle - 0.5) + 1)) <= 1, "at \(x)")
        }
    }

    @Test func `frames below each other are scaled each for itself`() throws {
        let frames = try (0..<5).map { _ in try noise(width: 30, height: 21, bands: 4) }.enumerated().map {
            index, image in
            try image.linear([1], [Double(index) * 3]).cast(.uchar).copy(interpretation: .srgb)
        }
        let stack = try Image.arrayjoin(frames).inMemory()
        let targets = [(14, 11), (7, 5), (30, 21), (40, 30)].map { ResamplingTarget(width: $0.0, height: $0.1) }
        for (index, scaled) in try stack.resampled(to: targets, frames: 5).enumerated() {
            #expect((scaled.width, scaled.height) == (targets[index].width, targets[index].height * 5))
            for (number, frame) in frames.enumerated() {
                let alone = try frame.resampled(to: targets)[index].pixels()
                let height = targets[index].height
                #expect(
                    try scaled.extractArea(left: 0, top: number * height, width: scaled.width, height: height).pixels()
                        == alone)
            }
        }
    }
}
