// Pictures drawn by a seed: what is in them, and the file that they are in.
import Pipeline

/// The properties of a source. The pixels follow from them.
struct DrawnSource: Equatable, Sendable {
    enum Pattern: String, CaseIterable, Sendable {
        case stripes, zones, noise, photo

        /// Shrinking shows at once if it is done coarsely.
        var isHard: Bool {
            switch self {
            case .stripes, .zones: true
            case .noise, .photo: false
            }
        }
    }

    enum Colour: String, CaseIterable, Sendable { case gray, rgb, cmyk, lab }
    enum Depth: String, CaseIterable, Sendable { case eight, sixteen, float }
    enum Profile: String, CaseIterable, Sendable { case none, srgb, p3 }

    var pattern = Pattern.photo
    var width = 64
    var height = 48
    var colour = Colour.rgb
    var depth = Depth.eight
    var hasAlpha = false
    var format = SourceFormat.png
    /// The index in `codings` of the way in which the file is written.
    var coding = 0
    var frames = 1
    /// EXIF orientation.
    var orientation = 1
    /// The N of `@Nx` in its name.
    var density = 1
    var profile = Profile.none
    /// How many pictures a set has; 0 for a single picture.
    var members = 0

    var isSet: Bool { members > 0 }

    /// A drawing, which has pixels only when it is drawn.
    var isVector: Bool { format == .svg || format == .pdf }

    /// Its decoder can make it smaller while it decodes.
    var mayShrink: Bool {
        switch format {
        case .jpeg, .webp: frames == 1
        default: isVector
        }
    }

    /// A decoder that shrinks has fewer pixels for the last one of a row, or fills it with some that are not in the
    /// picture.
    var endsWithinBlock: Bool { [.jpeg, .webp].contains(format) && (width % 8 != 0 || height % 8 != 0) }

    /// A file with few bits for a pixel, whose finest details were lost when it was saved.
    var isCoarse: Bool { codings[coding] == "quality 50" }

    /// A photo of a phone, with a gain map that is the picture in gray at a quarter of its sides. No draw decides it, so
    /// that seeds mean what they meant before there were maps.
    var hasGainMap: Bool {
        format == .jpeg && colour != .cmyk && !isSet && min(width, height) >= 32 && (7 * width + 3 * height) % 5 < 2
    }

    /// Colors that the file tells by numbers, and by no profile.
    enum Stated: String { case p3 = "Display P3", pq = "PQ in BT.2020" }

    /// Nor does a draw decide this.
    var stated: Stated? {
        guard format == .png, colour == .rgb, !isSet, (5 * width + 3 * height) % 4 < 3 else { return nil }
        if profile == .p3 { return .p3 }
        // Its twin is worked out pixel by pixel.
        return profile == .none && width * height < 150_000 ? .pq : nil
    }

    /// The file's name without its extension.
    var stem: String { density > 1 ? "a@\(density)x" : "a" }

    var fileExtension: String {
        switch format {
        case .jpeg: "jpg"
        case .tiff: "tif"
        default: format.rawValue
        }
    }

    /// The files of the source, from its own folder: one, or those of a set.
    var names: [String] {
        isSet ? (1...members).map { "set/\($0).\(fileExtension)" } : ["\(stem).\(fileExtension)"]
    }

    /// The path of the source in a command.
    var place: String { isSet ? "set" : names[0] }
}

extension DrawnSource: CustomStringConvertible {
    var description: String {
        var words = ["\(width)×\(height) \(pattern) in \(colour), \(depth)\(hasAlpha ? ", with alpha" : "")"]
        words.append("as \(format.rawValue)\(codings.count > 1 ? " (\(codings[coding]))" : "")")
        if frames > 1 { words.append("\(frames) frames") }
        if orientation > 1 { words.append("orientation \(orientation)") }
        if density > 1 { words.append("@\(density)x") }
        if let stated {
            words.append("\(stated.rawValue) by cICP")
        } else if profile != .none {
            words.append("profile \(profile)")
        }
        if hasGainMap { words.append("with a gain map") }
        if isSet { words.append("a set of \(members)") }
        return words.joined(separator: ", ")
    }
}

// The properties that files of each format can have.
extension DrawnSource {
    var colours: [Colour] {
        switch format {
        case .jpeg: [.gray, .rgb, .rgb, .cmyk]
        case .png, .jxl, .jp2: [.gray, .rgb]
        case .tiff: Colour.allCases
        default: [.rgb]
        }
    }

    var depths: [Depth] {
        switch (format, colour) {
        case (.png, _): [.eight, .sixteen]
        case (.avif, _): [.eight, .eight, .sixteen]
        case (.tiff, .rgb), (.tiff, .lab): Depth.allCases
        case (.tiff, _): [.eight, .sixteen]
        default: [.eight]
        }
    }

    var mayHaveAlpha: Bool {
        switch format {
        // Packed Lab has no room for it.
        case .tiff: !(colour == .lab && depth == .eight)
        case .png, .webp, .gif, .heic, .avif, .jxl: true
        default: false
        }
    }

    var mayHaveFrames: Bool {
        switch format {
        case .webp, .gif: true
        default: false
        }
    }

    /// The formats whose files say how they are turned, as our savers write them.
    var mayBeTurned: Bool {
        switch format {
        case .jpeg, .webp, .tiff: true
        default: false
        }
    }

    var mayHaveProfile: Bool {
        switch format {
        case .jpeg, .png, .webp, .tiff, .heic, .avif: colour == .rgb && depth != .float
        default: false
        }
    }

    /// The ways to write the format.
    var codings: [String] {
        switch format {
        // A file with few bits for a pixel may be shrunk further than one with many.
        case .jpeg: ["4:4:4", "4:2:0", "progressive", "quality 50"]
        case .png: ["plain", "interlaced"]
        case .webp: ["lossy", "lossless", "quality 50"]
        case .tiff: ["strips", "deflate", "tiles"]
        case .jp2, .jxl, .heic: ["lossless", "lossy"]
        case .avif: ["quality 85", "quality 55"]
        default: [""]
        }
    }
}

extension DrawnSource {
    /// - Parameter formats: those that can be written here.
    init(formats: [SourceFormat], _ random: inout SeededGenerator) {
        // The formats that can be shrunk while they are decoded have the most ways to go wrong.
        let usual = formats.filter { [.jpeg, .webp, .tiff, .png].contains($0) }
        format = random.pick(random.chance(0.6) ? usual + [.jpeg, .webp] : formats)
        pattern = random.pick(Pattern.allCases)
        colour = random.pick(colours)
        depth = random.pick(depths)
        hasAlpha = mayHaveAlpha && random.chance(0.4)
        coding = random.whole(0...codings.count - 1)
        frames = mayHaveFrames && random.chance(0.35) ? random.whole(2...4) : 1
        orientation = mayBeTurned && random.chance(0.5) ? random.whole(2...8) : 1
        density = random.pick([1, 1, 1, 2, 3])
        profile = mayHaveProfile ? random.pick([.none, .none, .srgb, .p3]) : .none
        // A source that is read on request only is no member of a set.
        members = !SourceFormat.onRequest.contains(format) && random.chance(0.12) ? random.whole(1...4) : 0
        if isSet { (frames, density) = (1, 1) }
        (width, height) = (side(&random), side(&random))
        if random.chance(0.05) { width = 1 }
        if random.chance(0.05) { height = 1 }
        if !isSet, frames == 1, mayShrink, !isVector, random.chance(0.4) {
            // As cameras write them: few bits for a pixel, sides that every shrinking divides.
            coding = codings.count - 1
            (width, height) = (random.whole(20...80) * 8, random.whole(20...60) * 8)
        }
        if isVector { (width, height) = (max(width / 8, 8), max(height / 8, 8)) }
        if frames > 1 || isSet { (width, height) = (max(width / 3, 1), max(height / 3, 1)) }
    }

    private func side(_ random: inout SeededGenerator) -> Int {
        let even = random.whole(8...150) * 4
        let large = mayShrink && random.chance(0.1) ? random.whole(150...300) * 4 : even
        return random.pick([
            even, large, random.pick([7, 13, 61, 127, 241, 353, 499, 601]), random.whole(1...600), random.whole(2...40),
        ])
    }

    /// The same with one thing simpler.
    var simpler: [DrawnSource] {
        var all: [DrawnSource] = []
        func with(_ change: (inout DrawnSource) -> Void) {
            var simpler = self
            change(&simpler)
            // A format is not asked for what it cannot hold.
            if simpler != self && simpler.isPossible { all.append(simpler) }
        }
        if isSet { with { $0.members = 1 } }
        if members > 2 { with { $0.members = 2 } }
        with { $0.frames = 1 }
        if frames > 2 { with { $0.frames = 2 } }
        with { $0.orientation = 1 }
        with { $0.density = 1 }
        with { $0.profile = .none }
        with { $0.hasAlpha = false }
        with { $0.depth = .eight }
        with { $0.colour = .rgb }
        with { $0.coding = 0 }
        with {
            $0.format = .png; $0.coding = 0
        }
        with {
            $0.format = .tiff; $0.coding = 0
        }
        with {
            $0.format = .jpeg; $0.coding = 0
        }
        with { $0.pattern = .photo }
        for side in [24, 64, 100, 200, 400, 600] {
            if width > side { with { $0.width = side } }
            if height > side { with { $0.height = side } }
        }
        return all
    }

    private var isPossible: Bool {
        colours.contains(colour) && depths.contains(depth) && (!hasAlpha || mayHaveAlpha)
            && (frames == 1 || mayHaveFrames)
            && (orientation == 1 || mayBeTurned) && (profile == .none || mayHaveProfile)
            && codings.indices.contains(coding)
    }
}

/// Pictures that stages draw, by their names.
enum DrawnAsset: String, CaseIterable, Sendable {
    case mark = "mark.png"
    case dense = "mark@2x.png"
    case photo = "photo.jpg"
    case deep = "deep.png"
    case drawing = "drawing.svg"
    case denseDrawing = "icon@2x.svg"
}

/// A table of colors that stages may use: a soft look, so that pixels that are nearly alike stay so.
enum DrawnTable {
    static let name = "look.cube"
    static let text =
        "LUT_3D_SIZE 2\n0 0.05 0.1\n1 0.2 0\n0.1 0.9 0\n1 1 0.1\n0 0.1 0.8\n0.9 0.2 0.9\n0.1 0.9 0.9\n1 0.95 0.9\n"
}
