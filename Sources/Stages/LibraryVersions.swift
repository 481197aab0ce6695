// The versions of the libraries that decide pixels, for those who report them and touch no pixel.
import Vips

package enum LibraryVersions {
    package static var libvips: String { VipsLibrary.version }

    /// The libraries of formats, as `libwebp 1.2.4`.
    package static var codecs: [String] { VipsLibrary.codecs }

    /// The same, with what some of them can do here.
    package static var codecsWithAbilities: [String] { VipsLibrary.codecsWithAbilities }
}
