/// AVIF: a HEIF whose pictures are coded with AV1.
package enum AVIFSource: HEIFSource {
    package static let name = "avif"
    package static let title = "AVIF"
    package static let fileExtensions = ["avif", "avifs", "heif"]
    package static let brands = ["avif", "avis"]
    package static let decoderPackage: String? = "libheif-plugin-dav1d"
}

extension SourceFormat {
    package static let avif = SourceFormat(AVIFSource.self)
}
