/// A block of metadata in a file.
package enum MetadataBlock: String, CaseIterable, Sendable {
    case exif, xmp, iptc, photoshop

    /// As it is called in sentences.
    package var title: String { self == .photoshop ? "Photoshop data" : rawValue.uppercased() }
}
