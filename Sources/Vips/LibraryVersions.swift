// The libraries that encode and decode, as they are at run time. Each is asked by a function of its own, if it is loaded and has one; the others are
// named by their files.
import Glibc

extension VipsLibrary {
    /// The libraries of formats, such as `libpng 1.6.39` or `libjpeg.so.62.3.0`.
    package static let codecs: [String] = linked + (heifFile.map { [$0] } ?? [])

    /// The same, with what libheif can do, which is loaded to be asked. That takes some milliseconds.
    package static var codecsWithAbilities: [String] { linked + [heif ?? "no libheif"] }

    private static let linked: [String] = {
        let files = LoadedFiles.paths.compactMap { $0.split(separator: "/").last }
        func file(_ library: String) -> String? { files.first { $0.hasPrefix(library + ".so.") }.map(String.init) }
        return [file("libjpeg"), png, spng, file("libdeflate"), webp, tiff, file("libcgif")].compactMap(\.self)
    }()

    /// The file that is loaded when it is needed, which is beside that of libvips.
    private static var heifFile: String? {
        guard let vips = LoadedFiles.paths.first(where: { $0.contains("/libvips.so.") }), let slash = vips.lastIndex(of: "/"),
            let path = realpath(vips[...slash] + "libheif.so.1", nil)
        else { return nil }
        defer { free(path) }
        return String(cString: path).split(separator: "/").last.map(String.init)
    }

    private typealias Text = @convention(c) () -> UnsafePointer<CChar>?
    private typealias Number = @convention(c) () -> CInt
    private typealias Question = @convention(c) (CInt) -> CInt

    private static func function<Signature>(_ name: String, as type: Signature.Type, in library: UnsafeMutableRawPointer? = nil) -> Signature? {
        dlsym(library, name).map { unsafeBitCast($0, to: type) }
    }

    private static var png: String? {
        typealias OfReader = @convention(c) (UnsafeRawPointer?) -> UnsafePointer<CChar>?
        return function("png_get_libpng_ver", as: OfReader.self)?(nil).map { "libpng \(String(cString: $0))" }
    }

    /// What libvips writes PNG by, where it is built with it.
    private static var spng: String? {
        function("spng_version_string", as: Text.self)?().map { "libspng \(String(cString: $0))" }
    }

    private static var webp: String? {
        function("WebPGetDecoderVersion", as: Number.self).map { version in
            let number = version()
            return "libwebp \(number >> 16).\(number >> 8 & 255).\(number & 255)"
        }
    }

    private static var tiff: String? {
        // `LIBTIFF, Version 4.5.0`, and lines of copyright.
        guard let text = function("TIFFGetVersion", as: Text.self)?() else { return nil }
        return String(cString: text).split(separator: "\n").first?.split(separator: " ").last.map { "libtiff \($0)" }
    }

    private static var heif: String? {
        guard let library = dlopen("libheif.so.1", RTLD_LAZY), let version = function("heif_get_version", as: Text.self, in: library)?(),
            let reads = function("heif_have_decoder_for_format", as: Question.self, in: library),
            let writes = function("heif_have_encoder_for_format", as: Question.self, in: library)
        else { return nil }
        // heif_compression_HEVC and heif_compression_AV1.
        let (hevc, av1): (CInt, CInt) = (1, 4)
        let abilities = [
            reads(hevc) != 0 ? "reads heic" : "cannot read heic", reads(av1) != 0 ? "reads avif" : "cannot read avif",
            writes(av1) != 0 ? "writes avif" : "cannot write avif",
        ]
        return "libheif \(String(cString: version)) (\(abilities.joined(separator: ", ")))"
    }
}

/// The files of which parts are in this process' memory.
enum LoadedFiles {
    /// Paths as the system lists them, without links; once for each part.
    static var paths: [String] {
        guard let list = fopen("/proc/self/maps", "r") else { return [] }
        defer { fclose(list) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        var paths: [String] = []
        while getline(&line, &room, list) > 0, let text = line.map({ trimmed(String(cString: $0)) }) {
            if let start = text.firstIndex(of: "/") { paths.append(String(text[start...])) }
        }
        return paths
    }
}
