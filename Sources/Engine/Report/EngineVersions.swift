// What makes the renditions: this program, libvips and its codecs, by their versions.
import Vips

struct EngineVersions: Codable {
    var imagemill = imagemillVersion
    var libvips = VipsLibrary.version
    /// The libraries of formats. Given once for a run, and not for each of its sources.
    var codecs: [String]?
}
