// The libraries that encode and decode, as they are at run time. Each is asked by a function of its own, if it is
// loaded and has one; the others are named by their files.
import Glibc

extension VipsLibrary {
    /// The libraries of formats, such as `libpng 1.6.39` or `libjpeg.so.62.3.0`.
    package static var codecs: [String] { linked + jxl + beside(folder, ["libheif.so.1"]) }

    /// The folder of libvips' file, and of what it loads later.
    package static var folder: String? { LibraryFile(with: "vips_version")?.folder }

    /// The same, with what libheif can do, which is loaded to be asked. That takes some milliseconds.
    package static var codecsWithAbilities: [String] { linked + jxl + [heif ?? "no libheif"] }

    private static var linked: [String] {
        let deflate = file(with: "libdeflate_alloc_compressor")
        return [file(with: "jpeg_std_error"), png, spng, deflate, webp, tiff, file(with: "cgif_newgif")].compactMap(
            \.self)
    }

    /// The files of libheif and libjxl, which are beside that of libvips and loaded when they are needed. The names of
    /// libjxl's end with a minor version.
    private static func beside(_ folder: String?, _ names: [String]) -> [String] {
        folder.map { folder in names.compactMap { LibraryFile("\(folder)/\($0)")?.name } } ?? []
    }

    private static var jxl: [String] { beside(folder, (7..<20).map { "libjxl.so.0.\($0)" }) }

    private static func file(with function: String) -> String? { LibraryFile(with: function)?.name }

    private typealias Text = @convention(c) () -> UnsafePointer<CChar>?
    private typealias Number = @convention(c) () -> CInt
    private typealias Question = @convention(c) (CInt) -> CInt

    private static func function<Signature>(
        _ name: String, as type: Signature.Type, in library: UnsafeMutableRawPointer? = nil
    ) -> Signature? {
        dlsym(library, name).map { unsafeBitCast($0, to: type) }
    }

    private static var png: String? {
        typealias OfReader = @convention(c) (UnsafeRawPointer?) -> UnsafePointer<CChar>?
        return function("png_get_libpng_ver", as: OfReader.self)?(nil).map { "libpng \(String(cString: $0))" }
    }

    /// The library by which libvips writes PNG, if it is built with it.
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
        guard let library = dlopen("libheif.so.1", RTLD_LAZY),
            let version = function("heif_get_version", as: Text.self, in: library)?(),
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
