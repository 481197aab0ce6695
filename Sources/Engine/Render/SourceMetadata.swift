// What a picture says of itself, and what of that a rendition may say.
import Pipeline
import Vips

/// The metadata of a source.
struct SourceMetadata {
    /// The EXIF fields that name the owner, as libvips writes them.
    private static let owners = ["exif-ifd0-Copyright", "exif-ifd0-Artist"]
    private static let blocks = ["exif-data": "EXIF", "xmp-data": "XMP", "iptc-data": "IPTC", "photoshop-data": "Photoshop data"]

    private let fields: [String]
    private let rights: Rights
    private let owned: [String: String]

    init(_ image: Image) {
        fields = image.fields
        let xmp = image.blob("xmp-data").map { Rights(xmp: $0) } ?? Rights()
        let iptc = image.blob("iptc-data").map { Rights(iptc: $0) } ?? Rights()
        rights = xmp.merged(over: iptc)
        owned = Dictionary(uniqueKeysWithValues: Self.owners.compactMap { name in image.string(name).map { (name, $0) } })
    }

    /// The picture with the metadata that the policy lets it keep.
    /// - Returns: also whether nothing is left to keep, so that the saver may write none at all.
    func applied(to image: Image, policy: MetadataPolicy, keepsProfile: Bool) throws(VipsError) -> (image: Image, keepsNothing: Bool) {
        switch policy {
        case .keep: return (image, false)
        case .strip: return (try stripped(image), !keepsProfile)
        case .copyright:
            let bare = try stripped(image)
            guard !owned.isEmpty || !rights.isEmpty else { return (bare, !keepsProfile) }
            let signed = try bare.editingMetadata { editor in
                for (name, value) in owned { editor.set(name, string: value) }
                if !rights.isEmpty { editor.set("xmp-data", blob: rights.xmpPacket()) }
            }
            return (signed, false)
        }
    }

    private func stripped(_ image: Image) throws(VipsError) -> Image {
        let doomed = image.fields.filter {
            $0.hasPrefix("exif-") || $0.hasPrefix("png-comment") || $0 == "image-description" || Self.blocks.keys.contains($0)
        }
        return try image.editingMetadata { editor in doomed.forEach(editor.remove) }
    }

    /// That the default policy removed something, and what.
    func warnings(for policies: [MetadataPolicy]) -> [Warning] {
        guard policies.contains(.copyright) else { return [] }
        var removed = Self.blocks.filter { fields.contains($0.key) }.map(\.value).sorted()
        if fields.contains(where: { $0.hasPrefix("exif-ifd3-GPS") }) { removed.append("the GPS position") }
        guard !removed.isEmpty else { return [] }
        return [Warning(.metadataRemoved, "\(removed.joined(separator: ", ")) removed, all but copyright, artist and licence")]
    }
}
