// The files of drawn sources, written by libvips alone.
import Foundation
import Pipeline
import TestSupport
import Vips

extension DrawnSource {
    /// Writes the source's files into a folder.
    func write(into folder: String) throws {
        for (member, name) in names.enumerated() {
            let path = folder + "/" + name
            switch format {
            case .svg: try Self.write(svg(member), to: path)
            case .pdf: try Self.write(pdf(member), to: path)
            default:
                let (saver, options) = saving
                try TestPicture.save(try stored(member: member), as: saver, options, to: path)
                if hasGainMap { try Self.addGainMap(to: path) }
                if let stated { try Self.state(stated, in: path) }
            }
        }
    }

    private static func state(_ color: Stated, in path: String) throws {
        let file = PNGEdit.removing("iCCP", from: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        let codes: [UInt8] = color == .p3 ? [12, 13, 0, 1] : [9, 16, 0, 1]
        try Data(PNGEdit.adding([("cICP", codes)], to: file)).write(to: URL(fileURLWithPath: path))
    }

    private static func addGainMap(to path: String) throws {
        let picture = try TestPicture.load(path, by: "jpegload_source")
        let gray = try Operation("colourspace", [("in", .image(picture)), ("space", "b-w")]).image()
        let map = try gray.resize(width: max(1, gray.width / 4), height: max(1, gray.height / 4))
        let bytes = try TestPicture.jpeg(map, quality: 95)
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        try Data(UltraHDR.file(file, map: bytes, packet: UltraHDR.packet())).write(to: URL(fileURLWithPath: path))
    }

    private static func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// The same pixels as uncompressed TIFFs, upright, each frame for itself: what libvips decodes from the source's
    /// files, with a profile for what they state, and with the light that BT.2390 leaves of more than white.
    /// - Parameter folders: one for each frame.
    func writeTwins(of folder: String, into folders: [String]) throws {
        for name in names {
            let stack = try inUsualColors(Self.decoded(folder + "/" + name, as: format))
            let height = stack.height / frames
            for (frame, target) in folders.enumerated() {
                let one = try stack.extractArea(left: 0, top: frame * height, width: stack.width, height: height)
                let upright = try Operation("autorot", ["in": .image(one)]).image()
                let single = try upright.removingMetadata(["page-height", "n-pages", "delay", "loop", "orientation"])
                // The same name, since names are drawn too; what is in a file decides.
                try TestPicture.save(
                    single, as: "tiffsave_target", [("compression", "none")], to: target + "/" + name)
            }
        }
    }

    private func inUsualColors(_ image: Image) throws -> Image {
        switch stated {
        case nil: return image
        case .p3:
            let profile = try stored(member: 0).blob("icc-profile-data") ?? []
            return try image.editingMetadata { $0.set("icc-profile-data", blob: profile) }
        case .pq:
            let (isDeep, bytes) = (image.format == .ushort, try image.pixels())
            var numbers =
                isDeep
                ? stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
                : bytes.map(Int.init)
            let white = isDeep ? 65_535.0 : 255
            for place in stride(from: 0, to: numbers.count, by: image.bands) {
                let light = numbers[place..<place + 3].map { ReferenceColor.decodedPQ(Double($0) / white) }
                let color = ReferenceColor.standard(
                    ReferenceColor.toneMapped(light, peak: 1000), from: ReferenceColor.bt2020)
                for (band, value) in color.enumerated() {
                    numbers[place + band] = Int((ReferenceColor.encoded(value) * white).rounded())
                }
            }
            func made(_ numbers: [UInt8]) throws -> Image {
                try Image(bytes: numbers, width: image.width, height: image.height, bands: image.bands)
            }
            let low = try made(numbers.map { UInt8($0 & 0xFF) })
            guard isDeep else { return try low.copy(interpretation: .srgb) }
            return try made(numbers.map { UInt8($0 >> 8) }).linear([256], [0]).add(low).cast(.ushort)
                .copy(interpretation: .rgb16)
        }
    }

    /// A file's picture as libvips decodes it; the frames of an animation are below each other.
    static func decoded(_ path: String, as format: SourceFormat) throws -> Image {
        switch format {
        case .webp, .gif: try TestPicture.load(path, by: "\(format.rawValue)load_source", [("n", -1)])
        case .heic, .avif: try TestPicture.load(path, by: "heifload_source")
        case .jp2: try TestPicture.load(path, by: "jp2kload_source")
        default: try TestPicture.load(path, by: "\(format.rawValue)load_source")
        }
    }

    /// libvips' saver of the format, with the options of the coding.
    private var saving: (String, [(String, Argument)]) {
        switch format {
        case .jpeg:
            (
                "jpegsave_target",
                [
                    ("Q", coding == 3 ? 50 : 92), ("subsample_mode", coding == 1 ? "on" : "off"),
                    ("interlace", .bool(coding == 2)),
                ]
            )
        case .png: ("pngsave_target", [("interlace", .bool(coding == 1))])
        case .webp: ("webpsave_target", coding == 1 ? [("lossless", true)] : [("Q", coding == 0 ? 90 : 50)])
        case .tiff:
            ("tiffsave_target", coding == 0 ? [] : coding == 1 ? [("compression", "deflate")] : [("tile", true)])
        case .heic:
            (
                "heifsave_target",
                [("compression", "hevc"), ("lossless", .bool(coding == 0)), ("subsample_mode", "off")]
            )
        case .avif:
            (
                "heifsave_target",
                // Ten bits end the process: libaom aborts.
                [
                    ("compression", "av1"), ("effort", 0), ("Q", coding == 0 ? 85 : 55), ("subsample_mode", "on"),
                    ("bitdepth", depth == .sixteen ? 12 : 8),
                ]
            )
        case .jxl: ("jxlsave_target", [("lossless", .bool(coding == 0)), ("effort", 3)])
        case .jp2: ("jp2ksave_target", [("lossless", .bool(coding == 0))])
        default: ("\(format.rawValue)save_target", [])
        }
    }

    /// The formats that libvips can write here, and the drawings, which are texts.
    static func writable() throws -> [SourceFormat] {
        try TestVips.start()
        let folder = try TemporaryFolder()
        return SourceFormat.allCases.filter { format in
            var source = DrawnSource()
            (source.format, source.width, source.height) = (format, 8, 8)
            defer { _ = VipsLibrary.takeErrors() }
            return (try? source.write(into: folder.path)) != nil
                && (try? Self.decoded(folder.path(source.names[0]), as: format)) != nil
        }
    }

    // MARK: - Pixels

    /// The picture as its file has it: all frames below each other, turned as the orientation says.
    private func stored(member: Int) throws -> Image {
        let images = try (0..<frames).map { try encoded(frame: $0 + member) }
        let stack = frames > 1 ? try Image.arrayjoin(images) : images[0]
        return try stack.editingMetadata { editor in
            if orientation > 1 { editor.set("orientation", int: orientation) }
            guard frames > 1 else { return }
            editor.set("page-height", int: height)
            editor.set("delay", ints: (0..<frames).map { 100 + 50 * $0 })
            editor.set("loop", int: 3)
        }.inMemory()
    }

    /// The pattern as numbers of the colours and the depth.
    private func encoded(frame: Int) throws -> Image {
        let grey = try pattern(frame: frame)
        let whole = try coloured(grey)
        guard hasAlpha else { return whole }
        let alpha = try softDisc().linear([maximumAlpha / 255], [0]).cast(whole.format)
        return try whole.bandjoin(alpha).copy(interpretation: whole.interpretation)
    }

    private var maximumAlpha: Double {
        switch (depth, colour) {
        // libvips has an alpha of 255 beside Lab, and of 1 beside light.
        case (_, .lab), (.eight, _): 255
        case (.sixteen, _): 65_535
        case (.float, _): 1
        }
    }

    private func coloured(_ grey: Image) throws -> Image {
        switch colour {
        case .gray:
            return depth == .eight
                ? try grey.cast(.uchar).copy(interpretation: .bw)
                : try grey.linear([257], [0]).cast(.ushort).copy(interpretation: .grey16)
        case .rgb:
            let rgb = try bands(grey, tints)
            switch depth {
            case .eight: return try withProfile(rgb.cast(.uchar).copy(interpretation: .srgb))
            case .sixteen: return try withProfile(rgb.linear([257], [0]).cast(.ushort).copy(interpretation: .rgb16))
            case .float: return try rgb.linear([1 / 255.0], [0]).cast(.float).copy(interpretation: .scrgb)
            }
        case .cmyk:
            let cmyk = try bands(grey, [(0.8, 0), (-0.6, 200), (0.5, 60), (0.2, 0)])
            return depth == .eight
                ? try cmyk.cast(.uchar).copy(interpretation: .cmyk)
                : try cmyk.linear([257], [0]).cast(.ushort).copy(interpretation: .cmyk)
        case .lab:
            let lab = try bands(grey, [(100 / 255.0, 0), (0.2, -20), (-0.2, 30)]).cast(.float).copy(
                interpretation: .lab)
            switch depth {
            case .eight: return try Operation("Lab2LabQ", ["in": .image(lab)]).image()
            case .sixteen: return try lab.colourspace(.labs)
            case .float: return lab
            }
        }
    }

    /// How the pattern shows in red, green and blue. What is smoothed between two colours is no coarse shrinking, so
    /// that hard patterns are neutral.
    private var tints: [(Double, Double)] {
        pattern == .photo ? [(1, 0), (0.7, 40), (-0.5, 200)] : [(1, 0), (1, 0), (1, 0)]
    }

    private func bands(_ grey: Image, _ tints: [(Double, Double)]) throws -> Image {
        let all = try tints.map { try grey.linear([$0.0], [$0.1]) }
        return try Operation("bandjoin", ["in": .images(all)]).image()
    }

    private func withProfile(_ image: Image) throws -> Image {
        switch profile {
        case .none: image
        case .srgb: try image.iccTransform(to: .srgb, input: .srgb, depth: depth == .eight ? 8 : 16)
        case .p3: try image.iccTransform(to: .p3, input: .srgb, depth: depth == .eight ? 8 : 16)
        }
    }

    /// One band from 0 to 255, in floating point.
    private func pattern(frame: Int) throws -> Image {
        let base =
            switch pattern {
            case .stripes: try stripes()
            case .zones:
                try Operation("zone", ["width": .int(width), "height": .int(height)]).image().linear([110], [128])
            case .noise:
                try Operation(
                    "gaussnoise",
                    ["width": .int(width), "height": .int(height), "mean": 128, "sigma": 40, "seed": .int(frame + 1)]
                ).image()
            case .photo: try photo(frame)
            }
        // Each frame, and each member of a set, is another picture.
        let factor = 1 - 0.2 * Double(frame % 4)
        return try base.cast(.float).linear([factor], [frame % 2 == 0 ? 0 : 30]).cast(.uchar).cast(.float)
    }

    /// One to three pixels wide, upright or lying.
    private func stripes() throws -> Image {
        let period = 2 * (1 + (width + height) % 3)
        let line = (0..<period).map { UInt8($0 < period / 2 ? 20 : 235) }
        let lies = height % 2 == 1
        let tile = try Image(bytes: line, width: lies ? 1 : period, height: lies ? period : 1, bands: 1)
        let (across, down) = lies ? (width, (height + period - 1) / period) : ((width + period - 1) / period, height)
        return try tile.replicate(across: across, down: down).extractArea(left: 0, top: 0, width: width, height: height)
    }

    /// Soft shapes, an edge, and a little noise.
    private func photo(_ frame: Int) throws -> Image {
        func clouds(_ cell: Int) throws -> Image {
            try Operation(
                "perlin",
                ["width": .int(width), "height": .int(height), "cell_size": .int(cell), "seed": .int(frame + 3)]
            ).image()
        }
        let noise = try Operation(
            "gaussnoise", ["width": .int(width), "height": .int(height), "sigma": 3, "seed": .int(frame + 1)]
        ).image()
        let edge = try clouds(41).more(than: 0.15).linear([0.25], [0])
        return try clouds(53).linear([70], [100]).add(clouds(11).linear([40], [0])).add(edge).add(noise)
    }

    /// An ellipse of full alpha with a soft edge, and nothing around it.
    private func softDisc() throws -> Image {
        let place = try Operation("xyz", ["width": .int(width), "height": .int(height)]).image()
        let centred = try place.linear(
            [2.2 / Double(width), 2.2 / Double(height)],
            [-1.1 + 1.1 / Double(width), -1.1 + 1.1 / Double(height)])
        let squares = try centred.multiply(centred)
        let distance = try squares.extractBands(from: 0, count: 1).add(squares.extractBands(from: 1, count: 1))
        return try distance.linear([-900], [900]).cast(.uchar).cast(.float)
    }

    // MARK: - Drawings

    private func svg(_ member: Int) -> String {
        let shapes = (0..<4).map { index in
            "<circle cx='\(20 + 20 * index)%' cy='50%' r='\(10 + 3 * index)%' fill='rgb(\(60 * index),\(40 * member),180)'/>"
        }
        return """
            <svg xmlns='http://www.w3.org/2000/svg' width='\(width)' height='\(height)'>
            \(shapes.joined())<path d='M0 0L\(width) \(height)' stroke='black' stroke-width='1'/></svg>
            """
    }

    private func pdf(_ member: Int) -> String {
        let drawing =
            "0.\(member + 1) 0.5 0.9 rg 0 0 \(width / 2) \(height) re f 0 0 m \(width) \(height) l S"
        return SmallPDF.file(pages: [drawing], width: width, height: height)
    }
}

extension DrawnAsset {
    func write(into folder: String) throws {
        var source = DrawnSource()
        switch self {
        case .mark: (source.width, source.height, source.hasAlpha) = (40, 30, true)
        case .dense: (source.width, source.height, source.hasAlpha) = (61, 47, true)
        case .photo: (source.width, source.height, source.format) = (64, 48, .jpeg)
        case .deep:
            (source.width, source.height, source.hasAlpha, source.depth, source.colour) = (
                37, 53, true, .sixteen, .gray
            )
        case .drawing: (source.width, source.height, source.format) = (40, 30, .svg)
        case .denseDrawing: (source.width, source.height, source.format) = (23, 57, .svg)
        }
        let scratch = try TemporaryFolder()
        try source.write(into: scratch.path)
        try? FileManager.default.removeItem(atPath: folder + "/" + rawValue)
        try FileManager.default.copyItem(atPath: scratch.path(source.names[0]), toPath: folder + "/" + rawValue)
    }
}
