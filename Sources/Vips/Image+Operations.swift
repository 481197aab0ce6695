// libvips' operations as this project uses them: one wrapper each, named as in libvips' manual, a few lines long.
import CVips
package import Kernels

// Size and place.
extension Image {
    /// Scales to an exact size in pixels.
    package func resize(
        width newWidth: Int, height newHeight: Int, kernel: ScalingKernel = .lanczos3
    ) throws(VipsError) -> Image {
        let horizontal = Double(newWidth) / Double(width)
        let vertical = Double(newHeight) / Double(height)
        return try call(
            "resize",
            [("scale", .double(horizontal)), ("vscale", .double(vertical)), ("kernel", .string(kernel.rawValue))])
    }

    /// Scales down to a square at most, in sRGB.
    package func thumbnail(side: Int) throws(VipsError) -> Image {
        let size: [(String, Argument)] = [("width", .int(side)), ("height", .int(side)), ("size", "down")]
        // Without a profile, a conversion would round every number.
        let profile: [(String, Argument)] = has("icc-profile-data") ? [("export_profile", "srgb")] : []
        return try Operation("thumbnail_image", [("in", .image(self))] + size + profile).image()
    }

    package func extractArea(left: Int, top: Int, width: Int, height: Int) throws(VipsError) -> Image {
        let area: [(String, Argument)] = [
            ("left", .int(left)), ("top", .int(top)), ("width", .int(width)), ("height", .int(height)),
        ]
        return try Operation("extract_area", [("input", .image(self))] + area).image()
    }

    /// Places the picture on a canvas of one colour. `x` and `y` may be negative; what does not fit is cut.
    package func embed(x: Int, y: Int, width: Int, height: Int, background: [Double]) throws(VipsError) -> Image {
        let place: [(String, Argument)] = [
            ("x", .int(x)), ("y", .int(y)), ("width", .int(width)), ("height", .int(height)),
        ]
        return try call("embed", place + [("extend", "background"), ("background", .doubles(background))])
    }

    package func insert(_ sub: Image, x: Int, y: Int) throws(VipsError) -> Image {
        try Operation("insert", ["main": .image(self), "sub": .image(sub), "x": .int(x), "y": .int(y)]).image()
    }

    /// The picture again and again, side by side and below each other.
    package func replicate(across: Int, down: Int) throws(VipsError) -> Image {
        try call("replicate", [("across", .int(across)), ("down", .int(down))])
    }

    /// Mirrors.
    package func flip(_ direction: Direction) throws(VipsError) -> Image {
        try call("flip", [("direction", .string(direction.rawValue))])
    }

    /// Turns clockwise.
    package func rot(_ angle: Angle) throws(VipsError) -> Image {
        try call("rot", [("angle", .string(angle.rawValue))])
    }

    /// Maps by a matrix [a b c d]: output = matrix × input + shift, cut to `width` × `height` from the origin.
    package func affine(
        matrix: [Double], shift: (x: Double, y: Double), width: Int, height: Int, background: [Double]
    ) throws(VipsError) -> Image {
        let interpolation: [(String, Argument)] = [
            ("matrix", .doubles(matrix)), ("oarea", .ints([0, 0, width, height])),
        ]
        let translation: [(String, Argument)] = [("odx", .double(shift.x)), ("ody", .double(shift.y))]
        // premultiplied: the caller has done it, so that the background is in the same values as the picture.
        let edge: [(String, Argument)] = [
            ("extend", "background"), ("background", .doubles(background)), ("premultiplied", true),
        ]
        return try call("affine", interpolation + translation + edge + [("interpolate", "bicubic")])
    }

    /// Puts pictures of one size below each other.
    package static func arrayjoin(
        _ images: [Image], across: Int = 1, background: [Double]? = nil
    ) throws(VipsError) -> Image {
        let fill: [(String, Argument)] = background.map { [("background", .doubles($0))] } ?? []
        return try Operation("arrayjoin", [("in", .images(images)), ("across", .int(across))] + fill).image()
    }

    /// Another picture of the same width below this one, or of the same height beside it.
    package func join(_ other: Image, _ direction: Direction) throws(VipsError) -> Image {
        try Operation("join", ["in1": .image(self), "in2": .image(other), "direction": .string(direction.rawValue)])
            .image()
    }

    /// A line of text as one band, 255 where there is ink; as large as its ink. Its `yoffset` is how far that is below
    /// the line's top.
    /// - Parameter size: of the type, in pixels.
    /// - Returns: nil if nothing of the text is visible, such as spaces.
    package static func text(_ text: String, size: Int) throws(VipsError) -> Image? {
        // By scalars, as Pango reads them: a mark after a "<" makes one character of both.
        let escaped = text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        // At 72 dots an inch a point of type is a pixel.
        do throws(VipsError) {
            return try Operation("text", ["text": .string(escaped), "font": .string("Sans \(size)"), "dpi": 72]).image()
        } catch  where error.message.contains("no text to render") {
            return nil
        }
    }
}

// Numbers and bands.
extension Image {
    package func cast(_ format: BandFormat) throws(VipsError) -> Image {
        try call("cast", [("format", .string(format.rawValue))])
    }

    /// Rounds to the nearest whole number; casting alone cuts off.
    package func rint() throws(VipsError) -> Image {
        try call("round", [("round", "rint")])
    }

    /// value × factor + offset, a factor and an offset for each band or one for all.
    package func linear(_ factors: [Double], _ offsets: [Double]) throws(VipsError) -> Image {
        try call("linear", [("a", .doubles(factors)), ("b", .doubles(offsets))])
    }

    package func multiply(_ other: Image) throws(VipsError) -> Image {
        try Operation("multiply", ["left": .image(self), "right": .image(other)]).image()
    }

    package func add(_ other: Image) throws(VipsError) -> Image {
        try Operation("add", ["left": .image(self), "right": .image(other)]).image()
    }

    package func subtract(_ other: Image) throws(VipsError) -> Image {
        try Operation("subtract", ["left": .image(self), "right": .image(other)]).image()
    }

    /// 0 where the other is 0.
    package func divide(_ other: Image) throws(VipsError) -> Image {
        try Operation("divide", ["left": .image(self), "right": .image(other)]).image()
    }

    package func extractBands(from first: Int, count: Int) throws(VipsError) -> Image {
        try call("extract_band", [("band", .int(first)), ("n", .int(count))])
    }

    package func bandjoin(_ other: Image) throws(VipsError) -> Image {
        try Operation("bandjoin", ["in": .images([self, other])]).image()
    }

    /// Adds bands of one value each.
    package func bandjoin(constants: [Double]) throws(VipsError) -> Image {
        try call("bandjoin_const", [("c", .doubles(constants))])
    }

    package func abs() throws(VipsError) -> Image { try call("abs", []) }

    /// 255 where a band is more than a number, else 0.
    package func more(than value: Double) throws(VipsError) -> Image {
        try call("relational_const", [("relational", "more"), ("c", .doubles([value]))])
    }

    /// This picture where a mask of one band is not 0, and another one elsewhere.
    package func choosing(where mask: Image, else other: Image) throws(VipsError) -> Image {
        try Operation("ifthenelse", ["cond": .image(mask), "in1": .image(self), "in2": .image(other)]).image()
    }

    /// All bands of a picture of bits, as one: set where any is.
    package func bandor() throws(VipsError) -> Image {
        try call("bandbool", [("boolean", "or")])
    }

    /// The sums of all columns and of all rows of a picture of one band.
    package func project() throws(VipsError) -> (columns: [Double], rows: [Double]) {
        let sums = try Operation("project", ["in": .image(self)])
        let read = { (image: Image) throws(VipsError) -> [Double] in
            let bytes = try image.cast(.double).pixels()
            return doubles(bytes)
        }
        return (try read(sums.image("columns")), try read(sums.image("rows")))
    }

    /// The part of a size that shows most of what is worth seeing: its left and top edge.
    package func smartcrop(width: Int, height: Int, interesting: Interesting) throws(VipsError) -> (left: Int, top: Int)
    {
        let size: [(String, Argument)] = [
            ("width", .int(width)), ("height", .int(height)), ("interesting", .string(interesting.rawValue)),
        ]
        let cut = try Operation("smartcrop", [("input", .image(self))] + size).image()
        // libvips notes in the header where the part was.
        return (-cut.xoffset, -cut.yoffset)
    }

    /// - Parameter maximumAlpha: the alpha of an opaque pixel; default what libvips takes for it.
    package func premultiply(maximumAlpha: Double? = nil) throws(VipsError) -> Image {
        try call("premultiply", maximumAlpha.map { [("max_alpha", .double($0))] } ?? [])
    }

    package func unpremultiply(maximumAlpha: Double) throws(VipsError) -> Image {
        try call("unpremultiply", [("max_alpha", .double(maximumAlpha))])
    }

    /// Composites onto a colour and drops the alpha.
    package func flatten(background: [Double], maximumAlpha: Double) throws(VipsError) -> Image {
        try call("flatten", [("background", .doubles(background)), ("max_alpha", .double(maximumAlpha))])
    }

    /// Composites another picture onto this one by one of libvips' blend modes.
    package func composite2(_ overlay: Image, mode: CompositeMode, x: Int, y: Int) throws(VipsError) -> Image {
        let place: KeyValuePairs<String, Argument> = [
            "base": .image(self), "overlay": .image(overlay), "mode": .string(mode.rawValue), "x": .int(x),
            "y": .int(y),
        ]
        return try Operation("composite2", place).image()
    }

    /// Copies, sharing the pixels; optionally says anew what the bands mean.
    package func copy(interpretation: Interpretation? = nil) throws(VipsError) -> Image {
        try call("copy", interpretation.map { [("interpretation", .string($0.rawValue))] } ?? [])
    }

    /// A picture of zeros.
    package static func black(width: Int, height: Int, bands: Int) throws(VipsError) -> Image {
        try Operation("black", ["width": .int(width), "height": .int(height), "bands": .int(bands)]).image()
    }

    /// The average of each band.
    package func means() throws(VipsError) -> [Double] {
        // A row for all bands together, then one for each, whose fifth number is the mean.
        let table = try call("stats", [])
        let numbers = doubles(try table.pixels())
        return (1...bands).map { numbers[$0 * table.width + 4] }
    }

    /// A picture of two bands: each pixel's column and its row, whole numbers.
    package static func xyz(width: Int, height: Int) throws(VipsError) -> Image {
        try Operation("xyz", ["width": .int(width), "height": .int(height)]).image()
    }

    /// Each number raised to a power.
    package func pow(_ exponent: Double) throws(VipsError) -> Image {
        try call("math2_const", [("math2", "pow"), ("c", .doubles([exponent]))])
    }

    /// How many pixels have each value, for each band: the values of the first band, then those of the next.
    package func histogram() throws(VipsError) -> [[Int]] {
        let found = try call("hist_find", []).cast(.double)
        let counts = doubles(try found.pixels())
        return (0..<bands).map { band in (0..<found.width).map { Int(counts[$0 * bands + band]) } }
    }

    /// The values of one pixel, a number for each band.
    package func getpoint(x: Int, y: Int) throws(VipsError) -> [Double] {
        let pixel = try extractArea(left: x, top: y, width: 1, height: 1).cast(.double).pixels()
        return doubles(pixel)
    }
}

// Colour.
extension Image {
    package func colourspace(_ space: Interpretation) throws(VipsError) -> Image {
        try call("colourspace", [("space", .string(space.rawValue))])
    }

    /// Converts to a built-in profile: from the embedded profile, or else from the built-in `input`.
    package func iccTransform(
        to output: BuiltInProfile, input: BuiltInProfile? = nil, depth: Int = 8
    ) throws(VipsError) -> Image {
        let from: [(String, Argument)] = input.map { [("input_profile", .string($0.rawValue))] } ?? [("embedded", true)]
        let intent = input == nil ? RenderingIntent(of: blob("icc-profile-data")) : .relative
        let how: [(String, Argument)] = [
            ("intent", .string(intent.rawValue)), ("black_point_compensation", true), ("depth", .int(depth)),
        ]
        return try call("icc_transform", [("output_profile", .string(output.rawValue))] + from + how)
    }

    /// Converts from a built-in profile to the Lab of ICC, whose white is D50. The Lab of `colourspace` has D65 and
    /// must not be mixed with it.
    package func iccImport(from input: BuiltInProfile) throws(VipsError) -> Image {
        let how: [(String, Argument)] = [
            ("intent", .string(RenderingIntent.relative.rawValue)), ("black_point_compensation", true), ("pcs", "lab"),
        ]
        return try call("icc_import", [("input_profile", .string(input.rawValue))] + how)
    }

    /// Converts to a profile: from the embedded one, or else from the built-in `input`. The result has the profile.
    package func iccTransform(
        toProfile profile: [UInt8], input: BuiltInProfile? = nil, depth: Int
    ) throws(VipsError) -> Image {
        if let input { return try iccImport(from: input).iccExport(toProfile: profile, depth: depth) }
        let how: [(String, Argument)] = [
            ("embedded", true), ("intent", .string(RenderingIntent(of: blob("icc-profile-data")).rawValue)),
            ("black_point_compensation", true), ("pcs", "lab"),
        ]
        return try call("icc_import", how).iccExport(toProfile: profile, depth: depth)
    }

    /// Converts from the Lab of ICC to a profile. The result has it.
    package func iccExport(toProfile profile: [UInt8], depth: Int) throws(VipsError) -> Image {
        try editingMetadata { $0.set("icc-profile-data", blob: profile) }.iccExport(depth: depth)
    }

    /// Converts from the Lab of ICC to the embedded profile.
    private func iccExport(depth: Int) throws(VipsError) -> Image {
        let intent = RenderingIntent(of: blob("icc-profile-data"), isTarget: true)
        let how: [(String, Argument)] = [
            ("intent", .string(intent.rawValue)), ("black_point_compensation", true), ("depth", .int(depth)),
        ]
        return try call("icc_export", [("pcs", "lab")] + how)
    }

    /// Converts from Lab to XYZ.
    /// - Parameter white: the XYZ of Lab's white, up to 100.
    package func lab2XYZ(white: [Double]) throws(VipsError) -> Image {
        try call("Lab2XYZ", [("temp", .doubles(white))])
    }

    /// Each number replaced by what a table has in its place.
    /// - Parameter format: of the table's numbers, which the result has too.
    package func maplut(_ table: [Double], _ format: BandFormat) throws(VipsError) -> Image {
        try call("maplut", [("lut", .image(try Image(matrix: [table]).cast(format)))])
    }

    /// The number of a picture of one band replaced by as many as there are tables, each of which has one in its place.
    /// - Parameter format: of the tables' numbers, which the result has too.
    package func maplut(_ tables: [[Double]], _ format: BandFormat) throws(VipsError) -> Image {
        let rows = try tables.map { table throws(VipsError) in try Image(matrix: [table]) }
        let lut = try Operation("bandjoin", ["in": .images(rows)]).image().cast(format)
        return try call("maplut", [("lut", .image(lut))])
    }

    /// Each pixel's bands multiplied by a matrix.
    /// - Parameter rows: one for each band of the result.
    package func recomb(_ rows: [[Double]]) throws(VipsError) -> Image {
        try call("recomb", [("m", .image(try Image(matrix: rows)))])
    }
}

// Filters.
extension Image {
    /// In this picture's format.
    /// - Parameters:
    ///   - sigma: in pixels.
    ///   - leastAmplitude: where the curve is cut. libvips' default of a fifth shows at edges.
    ///   - isExact: in floating point. In whole numbers a curve has twenty steps, and even colors of 8 bits change by
    ///     several of them.
    package func gaussblur(
        sigma: Double, leastAmplitude: Double = 0.02, isExact: Bool = true
    ) throws(VipsError) -> Image {
        let blurred = try call(
            "gaussblur",
            [
                ("sigma", .double(sigma)), ("min_ampl", .double(leastAmplitude)),
                ("precision", isExact ? "float" : "integer"),
            ])
        return blurred.format == format ? blurred : try blurred.rint().cast(format)
    }

    /// Each row, and then each column, weighed by the same numbers, in floating point. Edges are repeated.
    package func convolved(with weights: [Double]) throws(VipsError) -> Image {
        try call("convsep", [("mask", .image(try Image(matrix: [weights]))), ("precision", "float")])
    }

    /// Sharpens the lightness; the parameters are libvips' own.
    package func sharpen(sigma: Double, flat: Double, jagged: Double) throws(VipsError) -> Image {
        try call("sharpen", [("sigma", .double(sigma)), ("m1", .double(flat)), ("m2", .double(jagged))])
    }
}

extension Image {
    /// An operation that takes this picture as `in` and gives one as `out`.
    private func call(_ name: String, _ arguments: [(String, Argument)]) throws(VipsError) -> Image {
        try Operation(name, [("in", .image(self))] + arguments).image()
    }
}

/// Pixels of the format `double` as numbers. The bytes may be at any address.
private func doubles(_ bytes: [UInt8]) -> [Double] {
    let size = MemoryLayout<Double>.size
    return bytes.withUnsafeBytes { bytes in
        (0..<bytes.count / size).map { bytes.loadUnaligned(fromByteOffset: $0 * size, as: Double.self) }
    }
}

// Caches.
extension Image {
    /// The same picture, of which some rows are kept for all that reads them; itself if it is in memory.
    ///
    /// Without it, libvips computes a picture anew for each operation that it goes into, and each has buffers of its
    /// own: a formula that names its input many times, and whose input is such a formula, takes time and memory that
    /// multiply with every level.
    package func keepingRows() throws(VipsError) -> Image {
        isInMemory ? self : try call("linecache", [("tile_height", 16)])
    }
}
