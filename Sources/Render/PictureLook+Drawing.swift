// How a picture looks from far away: its main color, and a hash that a page can draw before the picture is there.
import Glibc
import Messages
import Pipeline
import Vips

extension PictureLook {
    /// No side is longer when the look is taken: more pixels would tell nothing more.
    private static let longestSide = 100

    /// The look of a finished picture; of an animation that of its first frame.
    init(of picture: Image, _ wanted: Set<Placeholder>) throws {
        let still =
            picture.pageHeight < picture.height
            ? try picture.extractArea(left: 0, top: 0, width: picture.width, height: picture.pageHeight) : picture
        let small = try still.thumbnail(side: Self.longestSide)
        let pixels = try Pixels(small)
        self.init(
            color: wanted.contains(.color) ? pixels.mainColor : nil,
            thumbHash: wanted.contains(.thumbhash) ? ThumbHash(pixels).bytes : nil)
    }
}

/// The pixels of a small picture as red, green, blue and alpha, 0…1.
private struct Pixels {
    let width, height: Int
    let values: [(red: Double, green: Double, blue: Double, alpha: Double)]

    /// - Parameter image: of 8 bits, gray or in sRGB.
    init(_ image: Image) throws {
        (width, height) = (image.width, image.height)
        let (bands, bytes) = (image.bands, try image.pixels())
        let isGray = bands < 3
        values = stride(from: 0, to: bytes.count, by: bands).map { start in
            func value(_ band: Int) -> Double { Double(bytes[start + band]) / 255 }
            let alpha = bands == 2 || bands == 4 ? value(bands - 1) : 1
            return isGray
                ? (value(0), value(0), value(0), alpha) : (value(0), value(1), value(2), alpha)
        }
    }

    /// The mean of the pixels in the fullest of 16 × 16 × 16 boxes of colors; nil if all are transparent.
    var mainColor: Int? {
        var boxes: [Int: (weight: Double, red: Double, green: Double, blue: Double)] = [:]
        for (red, green, blue, alpha) in values where alpha > 0 {
            func level(_ value: Double) -> Int { min(15, Int(value * 16)) }
            let box = level(red) << 8 | level(green) << 4 | level(blue)
            let sum = boxes[box] ?? (0, 0, 0, 0)
            boxes[box] = (
                sum.weight + alpha, sum.red + alpha * red, sum.green + alpha * green, sum.blue + alpha * blue
            )
        }
        // The same one each time, if two are as full.
        guard let sum = boxes.max(by: { ($0.value.weight, $1.key) < ($1.value.weight, $0.key) })?.value else {
            return nil
        }
        return [sum.red, sum.green, sum.blue].reduce(0) { $0 << 8 | Int(($1 / sum.weight * 255).rounded()) }
    }
}

/// A picture in some 25 bytes: the lowest frequencies of its brightness, of two differences of color, and of its alpha.
/// The layout is that of https://evanw.github.io/thumbhash, so that its readers draw it.
private struct ThumbHash {
    let bytes: [UInt8]

    init(_ pixels: Pixels) {
        let (width, height) = (pixels.width, pixels.height)
        let opaque = pixels.values.reduce(0) { $0 + $1.alpha }
        let hasAlpha = opaque < Double(pixels.values.count)
        func mean(_ value: (Int) -> Double) -> Double {
            opaque == 0 ? 0 : pixels.values.indices.reduce(0) { $0 + pixels.values[$1].alpha * value($1) } / opaque
        }
        let ground = (
            red: mean { pixels.values[$0].red }, green: mean { pixels.values[$0].green },
            blue: mean { pixels.values[$0].blue }
        )
        // On the mean color, transparent pixels bring no color of their own.
        let colors = pixels.values.map { pixel in
            func on(_ value: Double, _ ground: Double) -> Double { ground * (1 - pixel.alpha) + pixel.alpha * value }
            return (
                red: on(pixel.red, ground.red), green: on(pixel.green, ground.green), blue: on(pixel.blue, ground.blue)
            )
        }
        // Fewer numbers for brightness leave room for those of the alpha.
        let (most, longest) = (hasAlpha ? 5.0 : 7.0, Double(max(width, height)))
        let across = max(1, Int((most * Double(width) / longest).rounded()))
        let down = max(1, Int((most * Double(height) / longest).rounded()))
        func channel(_ values: [Double], _ across: Int, _ down: Int) -> Channel {
            Channel(values, width: width, height: height, across: across, down: down)
        }
        let light = channel(colors.map { ($0.red + $0.green + $0.blue) / 3 }, max(3, across), max(3, down))
        let blueness = channel(colors.map { ($0.red + $0.green) / 2 - $0.blue }, 3, 3)
        let redness = channel(colors.map { $0.red - $0.green }, 3, 3)
        let alpha = hasAlpha ? channel(pixels.values.map(\.alpha), 5, 5) : nil

        let isLandscape = width > height
        func whole(_ value: Double) -> Int { Int(value.rounded()) }
        var head = whole(63 * light.mean) | whole(31.5 + 31.5 * blueness.mean) << 6
        head |= whole(31.5 + 31.5 * redness.mean) << 12 | whole(31 * light.range) << 18 | (hasAlpha ? 1 << 23 : 0)
        var shape = (isLandscape ? down : across) | whole(63 * blueness.range) << 3
        shape |= whole(63 * redness.range) << 9 | (isLandscape ? 1 << 15 : 0)
        var bytes = [head, head >> 8, head >> 16, shape, shape >> 8].map { UInt8(truncatingIfNeeded: $0) }
        if let alpha { bytes.append(UInt8(whole(15 * alpha.mean) | whole(15 * alpha.range) << 4)) }
        let numbers = [light, blueness, redness, alpha].compactMap(\.self).flatMap(\.others).map { whole(15 * $0) }
        for pair in stride(from: 0, to: numbers.count, by: 2) {
            bytes.append(UInt8(numbers[pair] | (pair + 1 < numbers.count ? numbers[pair + 1] << 4 : 0)))
        }
        self.bytes = bytes
    }

    /// The lowest frequencies of one channel, by a cosine transform.
    private struct Channel {
        let mean: Double
        /// The largest of the others, by which they are divided.
        let range: Double
        /// From 0 to 1, 0.5 for nothing; those with a low sum of frequencies only.
        let others: [Double]

        init(_ values: [Double], width: Int, height: Int, across: Int, down: Int) {
            func waves(_ count: Int, _ length: Int) -> [[Double]] {
                (0..<count).map { wave in
                    (0..<length).map { cos(.pi / Double(length) * Double(wave) * (Double($0) + 0.5)) }
                }
            }
            let (columns, rows) = (waves(across, width), waves(down, height))
            var (mean, found): (Double, [Double]) = (0, [])
            for row in 0..<down {
                for column in 0..<across where column * down < across * (down - row) {
                    var sum = 0.0
                    for y in 0..<height {
                        for x in 0..<width { sum += values[y * width + x] * columns[column][x] * rows[row][y] }
                    }
                    sum /= Double(width * height)
                    if row == 0 && column == 0 { mean = sum } else { found.append(sum) }
                }
            }
            let range = found.map { Swift.abs($0) }.max() ?? 0
            self.mean = mean
            // An even picture leaves nothing but the rounding of sums.
            let isEven = range < 1e-9
            self.range = isEven ? 0 : range
            others = found.map { isEven ? 0 : 0.5 + 0.5 / range * $0 }
        }
    }
}
