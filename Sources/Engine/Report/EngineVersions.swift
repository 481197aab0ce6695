// The versions of what makes the renditions: this program, libvips and its codecs.
import Stages

struct EngineVersions: Codable {
    var imagemill = imagemillVersion
    var libvips = LibraryVersions.libvips
    /// The libraries of formats. Given once for a run, and not for each of its sources.
    var codecs: [String]?
}
