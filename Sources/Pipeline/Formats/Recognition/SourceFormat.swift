/// A format that pictures are read from. `heic` is any HEIF whose pictures are coded with HEVC.
package enum SourceFormat: String, Codable, Sendable, CaseIterable {
    case jpeg, png, webp, gif, tiff, heic, avif
}
