/// HEIC: any HEIF whose pictures are coded with HEVC.
package enum HEICSource: HEIFSource {
    package static let name = "heic"
    package static let title = "HEIC"
    package static let fileExtensions = ["heic", "heif", "hif"]
    package static let brands = ["heic", "heix", "hevc", "hevx", "heim", "heis", "hevm", "hevs"]
    package static let decoderPackage: String? = "libheif-plugin-libde265"
}

extension SourceFormat {
    package static let heic = SourceFormat(HEICSource.self)
}
